"""Who may ask: the key of a request, its limit and its scope, and the address of a client without a key.

Who may not ask gets RateLimited, InsufficientScope or one of the errors with status 401.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from hmac import compare_digest
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, ParamSpec, TypeVar

from flask import g

from edge_auth.api.endpoint import Endpoint
from edge_auth.api.flask_app import ApiRequest, Cardpress, Network, this_app, this_request, this_service
from edge_auth.errors import ExpiredKey, InsufficientScope, InvalidKey, NoKey, RateLimited, RevokedKey
from edge_auth.live.counter import Usage, address_name, guest_name
from edge_auth.live.keyring import Keyring
from generator.storage.errors import KeyFormatError
from generator.storage.keys import DEFAULT_RATE_LIMIT, GUEST_SCOPES, KEY, KEY_PREFIX, KeyRecord, digest

P = ParamSpec("P")
T = TypeVar("T")
_MAX_HOPS = 20  # a client may claim thousands of addresses, each of which takes time to parse
_MAX_ADDRESS_CHARACTERS = 100
_MAX_KEY_CHARACTERS = 4096  # with any blanks before the key
NO_KEY = "an API key is needed, not in the address but as Authorization: Bearer <key> or X-API-Key: <key>"
NO_BEARER = "Authorization holds a key without the word Bearer: send Authorization: Bearer <key>"

LACKS = "this key may not read this: it lacks the scope"
NEEDS = "without a key this may not be read: it needs a key with"


def needs_key(scope: str | None = None) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let only requests with a key of a scope reach a view. `g.key` is its record. It stands below the route."""

    def decorate(view: Callable[P, T]) -> Callable[P, T]:
        @wraps(view)
        def checked(*arguments: P.args, **keywords: P.kwargs) -> T:
            request = this_request()
            path = request.url_rule.rule if request.url_rule else ""
            request.access = Endpoint(view=view, path=path, scope=scope, own=True, guests=False, of_build=False)
            admit(request, this_service(), request.access)
            g.key = request.key
            answer: T = this_app().ensure_sync(view)(*arguments, **keywords)
            return answer

        return checked

    return decorate


def admit(request: ApiRequest, service: Cardpress, endpoint: Endpoint) -> None:
    """Check who asks, in this order. Pages ask for no key, and neither does a build alone."""
    keyring, counter = service.keyring, service.counter
    if keyring is None or counter is None or not endpoint.rate_limited:
        return
    try:
        name, limit = identify(request, service, keyring, endpoint)  # 401
    except KeyFormatError:  # a damaged record has no limit of its own
        address = address_name(address_of(request, service))
        require_room(request, counter.hit(address, DEFAULT_RATE_LIMIT, request.now))
        raise
    usage = counted_before(request, service.settings.worker_secret) or counter.hit(name, limit, request.now)
    require_room(request, usage)  # 429
    authorise(request.key, endpoint)  # 403


def identify(request: ApiRequest, service: Cardpress, keyring: Keyring, endpoint: Endpoint) -> tuple[str, int]:
    """Note the key. Return the name under which requests count, and how many a minute may, or raise a 401."""
    if endpoint.public:
        return address_name(address_of(request, service)), DEFAULT_RATE_LIMIT
    guest_limit = service.settings.guest_limit
    if guest_limit and endpoint.guests and request.method == "GET" and sent_key(request.environ) is None:
        return guest_name(address_of(request, service)), guest_limit
    request.key = record = authenticate(keyring, request.environ, request.now)
    request.key_id = record.id
    if endpoint.own_window:
        return f"bulk {record.id}", 10 * record.rate_limit
    return f"key {record.id}", record.rate_limit


def require_room(request: ApiRequest, usage: Usage) -> None:
    """Note the use of the limit for the answer. Raise RateLimited if it is used up."""
    request.answer_headers.update(usage.headers())
    if not usage.allowed:
        wait = max(1, usage.reset - int(request.now))
        message = f"over the limit of {usage.limit} requests per minute: wait {wait} seconds"
        raise RateLimited(message, Retry_After=str(wait))


def counted_before(request: ApiRequest, secret: str | None) -> Usage | None:
    """Return the use of the limit that the worker in front has counted, or None. A secret proves that it was it."""
    if not secret:
        return None
    *counts, sent = request.environ.get("HTTP_X_EDGE_USAGE", "").split(" ", 3)
    if not compare_digest(sent.encode(), secret.encode()):
        return None
    limit, used, window = map(int, counts)
    return Usage(limit, used, window, allowed=True)


def authorise(key: KeyRecord | None, endpoint: Endpoint) -> None:
    if endpoint.scope is not None and endpoint.scope not in (key.scopes if key else GUEST_SCOPES):
        raise InsufficientScope(f"{LACKS if key else NEEDS} {endpoint.scope}")


def address_of(request: ApiRequest, service: Cardpress) -> str:
    peer, forwarded = request.environ.get("REMOTE_ADDR", ""), request.environ.get("HTTP_X_FORWARDED_FOR", "")
    trusted = service.settings.trusted_proxies
    if service.settings.socket is not None:  # a unix socket has no address; nginx appends that of its client
        forwarded, _, peer = forwarded.rpartition(",")
        peer = peer.strip()
    return client_address(peer, forwarded, trusted) if trusted else peer


def authenticate(keyring: Keyring, environ: dict[str, Any], now: float) -> KeyRecord:
    """Return the record of the key of a request, at a moment in Unix time, or raise an error with status 401."""
    key = sent_key(environ)
    if key is None:
        last = environ.get("HTTP_AUTHORIZATION", "")[:_MAX_KEY_CHARACTERS].strip(" ").rpartition(" ")[2]
        raise NoKey(NO_BEARER if last.startswith(KEY_PREFIX) else NO_KEY)
    record = keyring.find(digest(key)) if KEY.fullmatch(key) else None
    if record is None:
        raise InvalidKey("the API key is wrong or malformed")
    if record.revoked:
        raise RevokedKey("the API key has been switched off")
    if record.expired(now):
        raise ExpiredKey(f"the API key expired at {record.expires_at}")
    return record


def sent_key(environ: dict[str, Any]) -> str | None:
    """Return the key in the headers, "" for an unreadable one, or None. A scheme other than Bearer counts as absent."""
    authorization: str | None = environ.get("HTTP_AUTHORIZATION")
    if authorization is not None:
        scheme, _, rest = authorization[:_MAX_KEY_CHARACTERS].strip(" ").partition(" ")
        if scheme.lower() in ("bearer", ""):
            return rest.strip(" ")
    key: str | None = environ.get("HTTP_X_API_KEY")
    return key[:_MAX_KEY_CHARACTERS].strip(" ") if key is not None else None


def client_address(peer: str, forwarded: str, trusted: Sequence[Network]) -> str:
    """Return the nearest address that is no trusted proxy: `peer`, else from the right of `forwarded`."""
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
