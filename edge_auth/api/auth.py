"""Who may ask: the key of a request, its limit and its scope, and the address of a client without a key."""

from collections.abc import Callable, Sequence
from functools import wraps
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, ParamSpec, TypeVar

from flask import current_app, g

from edge_auth.api.endpoint import Access
from edge_auth.api.flask_app import ApiRequest, this_request
from edge_auth.errors import ExpiredKey, InsufficientScope, InvalidKey, NoKey, RateLimited, RevokedKey
from edge_auth.live.counter import Counter, address_name, guest_name
from edge_auth.live.keyring import Keyring
from edge_auth.live.keys import DEFAULT_RATE_LIMIT, GUEST_SCOPES, KEY_PREFIX, KeyRecord, digest, well_formed

Network = IPv4Network | IPv6Network
P = ParamSpec("P")
T = TypeVar("T")
_MAX_HOPS = 20  # a client may claim thousands of addresses, each of which takes time to parse
_MAX_ADDRESS_CHARACTERS = 100
_MAX_KEY_CHARACTERS = 4096  # with any blanks before the key
_NO_KEY = "an API key is needed: Authorization: Bearer <key>, or X-API-Key: <key>"
_NO_BEARER = "Authorization holds a key without the word Bearer: send Authorization: Bearer <key>"


def needs_key(scope: str | None = None) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let only requests with a key of a scope reach a view: 401, 429 and 403 as everywhere. `g.key` is its record.

    The decorator stands below the route.
    """

    def decorate(view: Callable[P, T]) -> Callable[P, T]:
        @wraps(view)
        def checked(*arguments: P.args, **keywords: P.kwargs) -> T:
            request = this_request()
            request.access = Access(path=request.url_rule.rule if request.url_rule else "", scope=scope, guests=False)
            auth: Auth = current_app.extensions["cardpress"].auth
            auth.admit(request, request.access)
            g.key = request.key
            return view(*arguments, **keywords)

        return checked

    return decorate


class Auth:
    """Lets requests in, or refuses them.

    Args:
        trusted_proxies: The networks of the proxies whose X-Forwarded-For counts.
        behind_nginx: Whether every request comes from the nginx of `edge_auth/nginx`.
        guest_limit: Requests a minute of an address without a key. 0: requests need a key.
    """

    def __init__(
        self,
        keyring: Keyring,
        counter: Counter,
        trusted_proxies: tuple[Network, ...],
        behind_nginx: bool,
        guest_limit: int = 0,
    ):
        self._keyring = keyring
        self._counter = counter
        self._trusted = trusted_proxies
        self._behind_nginx = behind_nginx
        self._guest_limit = guest_limit

    def admit(self, request: ApiRequest, access: Access) -> None:
        """Check the key, count the request, and check the scope. Note the key's record and the use of the limit.

        Raises:
            KeyRefused: The request has no key, or one that is not valid now.
            RateLimited: The key, or the address, is over its limit.
            InsufficientScope: The key may not read this.
            StoreError: The key records cannot be read.
        """
        record, scope, name, limit = None, access.scope, "", 0
        if access.public:
            if not access.rate_limited:
                return
            name, limit = address_name(self.address(request)), DEFAULT_RATE_LIMIT
        elif self._guest_limit and access.guests and request.method == "GET" and sent_key(request.environ) is None:
            name, limit = guest_name(self.address(request)), self._guest_limit
        else:
            request.key = record = authenticate(self._keyring, request.environ, request.now)
            request.key_id = record.id
            name, limit = f"{access.window.word} {request.key_id}", record.rate_limit * access.window.factor
        usage = self._counter.hit(name, limit, request.now)
        request.answer_headers.update(usage.headers())
        if not usage.allowed:
            wait = max(1, usage.reset - int(request.now))
            raise RateLimited(
                f"over the limit of {limit} requests per minute: wait {wait} seconds", Retry_After=str(wait)
            )
        if scope is not None and scope not in (record.scopes if record else GUEST_SCOPES):
            raise InsufficientScope(
                f"this key may not read this: it lacks the scope {scope}"
                if record
                else f"without a key this may not be read: it needs a key with {scope}"
            )

    def address(self, request: ApiRequest) -> str:
        """Return the address of the client of a request."""
        peer, forwarded = request.environ.get("REMOTE_ADDR", ""), request.environ.get("HTTP_X_FORWARDED_FOR", "")
        if self._behind_nginx:  # a unix socket has no address; nginx appends that of its client
            forwarded, _, peer = forwarded.rpartition(",")
            peer = peer.strip()
        return client_address(peer, forwarded, self._trusted) if self._trusted else peer


def authenticate(keyring: Keyring, environ: dict[str, Any], now: float) -> KeyRecord:
    """Return the record of the key of a request.

    Args:
        environ: The request, as WSGI has it.
        now: Unix time.

    Raises:
        KeyRefused: The request has no key, or one that is not valid now.
        StoreError: The key records cannot be read.
    """
    key = sent_key(environ)
    if key is None:
        raise NoKey(_NO_BEARER if _lacks_bearer(environ) else _NO_KEY)
    record = keyring.find(digest(key)) if well_formed(key) else None
    if record is None:
        raise InvalidKey("the API key is wrong or malformed")
    if record.revoked:
        raise RevokedKey("the API key has been switched off")
    if record.expired(now):
        raise ExpiredKey(f"the API key expired at {record.expires_at}")
    return record


def sent_key(environ: dict[str, Any]) -> str | None:
    """Return the key in the headers, "" for an unreadable one, or None if there is none.

    `Authorization` is read first. A scheme other than Bearer counts as absent.
    """
    authorization = _key_header(environ, "HTTP_AUTHORIZATION")
    if authorization is not None:
        scheme, _, rest = authorization.strip(" ").partition(" ")
        if scheme.lower() in ("bearer", ""):
            return rest.strip(" ")
    key = _key_header(environ, "HTTP_X_API_KEY")
    return key.strip(" ") if key is not None else None


def _key_header(environ: dict[str, Any], name: str) -> str | None:
    """Return what is read of a header that may hold a key: more of it is no key, and costs nothing."""
    value: str | None = environ.get(name)
    return value[:_MAX_KEY_CHARACTERS] if value is not None else None


def _lacks_bearer(environ: dict[str, Any]) -> bool:
    """Return whether Authorization ends in what looks like a key, after another word than Bearer or none."""
    authorization = _key_header(environ, "HTTP_AUTHORIZATION") or ""
    last = authorization.strip(" ").rpartition(" ")[2]
    return last.startswith(KEY_PREFIX)


def client_address(peer: str, forwarded: str, trusted: Sequence[Network]) -> str:
    """Return the nearest address that is not a trusted proxy.

    Args:
        peer: The address that opened the connection.
        forwarded: X-Forwarded-For. It is read from the right, as long as each address is a trusted proxy.
        trusted: The networks of the trusted proxies.
    """
    hops = [hop.strip() for hop in forwarded.rsplit(",", _MAX_HOPS)[-_MAX_HOPS:]] if forwarded else []
    current = _address(peer)
    while current is not None and hops and any(current in network for network in trusted):
        before = _address(hops.pop())
        if before is None:
            break
        current = before
    return str(current) if current is not None else peer


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an address, also with a port. IPv4 addresses inside IPv6 become IPv4. Return None for other text."""
    if len(text) > _MAX_ADDRESS_CHARACTERS:
        return None
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
