"""The endpoints: which path is which, what each may be asked, and the body it answers with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property, lru_cache

from edge_auth.contract import keys, names
from edge_auth.contract.text import fold
from edge_auth.core.bodies import Body, list_body
from edge_auth.core.open_build import OpenBuild
from edge_auth.core.parameters import Choice, Integer, Rule, Text, is_integer, read_query, shown
from edge_auth.core.search import page, search
from edge_auth.errors import InvalidParameter, NotFound

API = "/api/v1/"
OPEN_TO_BROWSERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "Retry-After, ETag, X-Build",
}
_KEYED_VARY = "Authorization, X-API-Key, Accept-Encoding, X-Build"
_PUBLIC_VARY = "Accept-Encoding, X-Build"
_MOST_ID_DIGITS = 19
_MOST_KNOWN_BYTES = 256  # who asks for long paths shall not fill the memory with them
_NO_PATH = "there is no such path: /docs lists what there is"
# The site's pages load their own scripts and styles and ask their own host; only images come from where the data says.
_SITE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True, eq=False)
class Endpoint:
    """One row of the specification's table of endpoints.

    Attributes:
        path: as the specification writes it; log and metrics call the endpoint so.
        body: makes the body from a build, what the path names, and the parameters; None: /me, of no build.
        rules: the parameters; None: whatever the query holds is ignored.
        scope: what a key must be allowed to read, if anything.
        public: no key is asked for, and the limit goes by the client's address.
        limited: requests are counted and limited.
        also: what a 200 carries besides what every 200 does.
        names_product: the path names a product's id, which must be an integer.
    """

    path: str
    body: Callable[[OpenBuild, str, dict], Body] | None
    rules: Mapping[str, Rule] | None = field(default_factory=dict)
    scope: str | None = None
    cache_control: str = "private, no-cache"
    rate_headers: bool = True
    public: bool = False
    limited: bool = True
    also: Mapping[str, str] = field(default_factory=dict)
    names_product: bool = False

    @cached_property
    def headers(self) -> dict[str, str]:
        """What every 200 of the endpoint carries."""
        vary = _PUBLIC_VARY if self.public else _KEYED_VARY
        return {**OPEN_TO_BROWSERS, **self.also, "Cache-Control": self.cache_control, "Vary": vary}

    def parameters(self, subject: str, query: str) -> dict:
        """The parameters of a request. Raises InvalidParameter."""
        if self.names_product and not is_integer(subject):
            raise InvalidParameter(f"idProduct must be an integer, not {shown(subject)}")
        return read_query(query, self.rules) if self.rules is not None else {}


def route(path: bytes) -> tuple[Endpoint, str]:
    """The endpoint of a percent-decoded path, and what the path names: a product's id, a slug, a file of the site.

    Raises:
        NotFound: there is no such path.
    """
    return _known(path) if len(path) <= _MOST_KNOWN_BYTES else _route(path)


def _route(path: bytes) -> tuple[Endpoint, str]:
    text = path.decode(errors="replace")
    if text.encode() != path:
        raise NotFound(_NO_PATH)
    if names.is_site_file(text[1:]):
        return _SITE, text[1:]
    if not text.startswith(API):
        raise NotFound(_NO_PATH)
    name = text.removeprefix(API)
    first, _, rest = name.partition("/")
    if name in _FIXED:
        return _FIXED[name], ""
    if first == "cards" and rest and "/" not in rest:
        return _CARD, rest
    if first == "watchlist" and rest:
        slug, _, action = rest.rpartition("/")
        return (_ACTIONS[action], slug) if slug and action in _ACTIONS else (_ITEM, rest)
    raise NotFound(_NO_PATH)


_known = lru_cache(4096)(_route)


def _window(lines: Sequence[bytes], values: dict) -> Body:
    """A window of a short list."""
    offset, limit = values["offset"], values["limit"]
    return list_body(lines[offset : offset + limit], offset, limit, len(lines))


def _status(opened: OpenBuild, _: str, __: dict) -> Body:
    return Body.made(opened.build.status())


def _fingerprints(opened: OpenBuild, _: str, __: dict) -> Body:
    return opened.stored(names.FINGERPRINTS_KEY)


def _openapi(opened: OpenBuild, _: str, __: dict) -> Body:
    return opened.stored(names.OPENAPI_KEY)


def _site_file(opened: OpenBuild, path: str, _: dict) -> Body:
    """A file of the site; a folder stands for its page."""
    folder = path.removesuffix("/")
    key = f"{folder}/index.html" if folder in names.SITE_FOLDERS else path
    if opened.build.find(key) is None:
        raise NotFound(_NO_PATH)
    return opened.stored(key)


def _watchlist(opened: OpenBuild, _: str, values: dict) -> Body:
    return _window(opened.watchlist, values)


def _item(opened: OpenBuild, slug: str, _: dict) -> Body:
    return opened.stored(names.watchlist_item(opened.slugs.resolve(slug)))


def _history(opened: OpenBuild, slug: str, values: dict) -> Body:
    slug = opened.slugs.resolve(slug)
    return opened.stored(names.watchlist_history(slug, values["view"], values["range"]))


def _offers(opened: OpenBuild, slug: str, _: dict) -> Body:
    return opened.stored(names.watchlist_offers(opened.slugs.resolve(slug)))


def _sets(opened: OpenBuild, _: str, values: dict) -> Body:
    wanted = fold((values["q"] or "").strip())
    return _window([line for line, name in opened.sets if wanted in name], values)


def _cards(opened: OpenBuild, _: str, values: dict) -> Body:
    offset, limit = values["offset"], values["limit"]
    found, rows = page(opened, search(values), offset, limit), opened.catalogue.rows
    return list_body(rows.lines(found.ordinals), offset, limit, found.total, rows.digest(found.ordinals))


def _card(opened: OpenBuild, subject: str, values: dict) -> Body:
    """One product with its history; any integer may be asked for, however large."""
    digits = subject.lstrip("-").lstrip("0") or "0"
    if len(digits) > _MOST_ID_DIGITS:
        raise NotFound("there is no product with this id")
    id_ = -int(digits) if subject.startswith("-") else int(digits)
    days = values["days"]
    if days is None:
        card = opened.build.card(id_)
        body = card and Body.spliced(card)
    else:
        detail = opened.build.card_since(id_, (opened.build.as_of - timedelta(days=days - 1)).isoformat())
        body = detail and Body.made(detail)
    if body is None:
        raise NotFound("there is no product with this id")
    return body


_OFFSET = Integer(low=0, default=0)
_CARD = Endpoint(API + "cards/{idProduct}", _card, {"days": Integer(1, 3650)}, keys.CARDS_READ, names_product=True)
_ITEM = Endpoint(API + "watchlist/{slug}", _item, scope=keys.WATCHLIST_READ)
_SITE = Endpoint(
    "/docs, /explore",
    _site_file,
    None,
    cache_control="public, max-age=300",
    public=True,
    limited=False,
    also=_SITE_HEADERS,
)
_ACTIONS = {
    "history": Endpoint(
        API + "watchlist/{slug}/history",
        _history,
        {"view": Choice(names.VIEWS, "daily"), "range": Choice(tuple(names.RANGES), "all")},
        keys.WATCHLIST_READ,
    ),
    "offers": Endpoint(API + "watchlist/{slug}/offers", _offers, scope=keys.WATCHLIST_READ),
}
_FIXED = {
    "me": Endpoint(API + "me", None),
    "status": Endpoint(API + "status", _status),
    "watchlist": Endpoint(
        API + "watchlist", _watchlist, {"limit": Integer(1, 500, 100), "offset": _OFFSET}, keys.WATCHLIST_READ
    ),
    "cards": Endpoint(
        API + "cards",
        _cards,
        {
            "q": Text(100),
            "set": Text(),
            "number": Text(),
            "rarity": Text(),
            "kind": Choice(names.KINDS, "all"),
            "sort": Choice(names.SORTS, "trend"),
            "order": Choice(("asc", "desc")),
            "limit": Integer(1, 100, 50),
            "offset": _OFFSET,
        },
        keys.CARDS_READ,
    ),
    "sets": Endpoint(
        API + "sets", _sets, {"q": Text(), "limit": Integer(1, 1000, 100), "offset": _OFFSET}, keys.CARDS_READ
    ),
    "fingerprints": Endpoint(
        API + "fingerprints",
        _fingerprints,
        {},
        keys.FINGERPRINTS_READ,
        cache_control="private, max-age=3600",
        rate_headers=False,
    ),
    "openapi.json": Endpoint(API + "openapi.json", _openapi, None, cache_control="public, max-age=300", public=True),
}
