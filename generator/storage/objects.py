"""The map from a request to its object: which plain object of a tree is the body of an answer.

A tree holds the live build as one object per answer: `tree/` in a store, and what `cardpress export` writes. `RULES`
is the whole map, one row for each form of request that has objects. `object_of` reads it here. `to_json` gives it to
programs in other languages, which read it in the same way:

1. The first rule counts whose path and query fit. A path fits if the pattern matches all of it, percent-decoded.
2. A query fits if it has no parameter that the rule lacks, none twice, and if the text of each one, decoded, is matched
   whole by its pattern; an absent one has its default, and must be there if it has none. A rule whose query is null
   takes any.
3. The key is the template with the parts of the path and the values of the query. An offset must be a multiple of the
   rows of a page, and stands for the number of the page. A slug is written as `file_segment` writes it.

A key does not say that the object is there: there is none for an unknown product, or behind the last page. If it is
there, it is the body of the answer of the live build. Only at `/` the client's `Accept` counts, too: who prefers JSON
gets `index.json`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from generator.storage import layout, market
from generator.storage.catalogue import DEFAULT_SORT, KINDS, SORTS, TEXT_FILTERS

API_FOLDER = "api/v1"
# The default limits of the lists.
CARDS_PER_PAGE, MOVERS_PER_PAGE, ROWS_PER_PAGE = 50, 50, 100
_API = f"/{API_FOLDER}"
_UNSAFE = re.compile(rb"^\.|[^A-Za-z0-9_.-]")
# Numbers as they are usually written. `007` is allowed in a request, too, but rare: it has no object.
_ID = "-?[1-9][0-9]{0,17}|0"
_SET = "[1-9][0-9]{0,17}|0"  # as `set` of /cards, which takes any other text for a name
_OFFSET = "[1-9][0-9]{0,14}|0"  # exact in JavaScript, too
_PARTS = {
    "id": _ID,
    "slug": ".+",
    "file": "[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*",  # no `..`
    "root_file": "|".join(map(re.escape, layout.ROOT_FILES)),
    "page": "|".join(layout.SITE_PAGES),
}
_PART = re.compile(r"\\\{([a-z_]+)\\\}")


@dataclass(frozen=True)
class ObjectParameter:
    """What a parameter of the query may be, if there is an object."""

    pattern: str
    default: str | None = None  # without one, the parameter must be there
    per_page: int | None = None  # of an offset


@dataclass(frozen=True)
class ObjectRule:
    """A form of request that has objects. `path` and `key` hold names in braces: a part of the path, or a parameter."""

    path: str
    key: str
    query: Mapping[str, ObjectParameter] | None = None  # None: any query

    @property
    def path_pattern(self) -> str:
        """The path as a regular expression, with named groups as JavaScript and PCRE write them."""
        return _PART.sub(lambda part: f"(?<{part[1]}>{_PARTS[part[1]]})", re.escape(self.path))

    @cached_property
    def _path(self) -> re.Pattern[str]:
        return re.compile(self.path_pattern.replace("(?<", "(?P<"), re.DOTALL)

    def key_of(self, path: str, query: Mapping[str, str]) -> str | None:
        """Return the key for a path and a query, or None if they do not fit."""
        found = self._path.fullmatch(path)
        if found is None:
            return None
        values = {name: file_segment(text) if name == "slug" else text for name, text in found.groupdict().items()}
        if self.query is None:
            return self.key.format_map(values)
        if not query.keys() <= self.query.keys():
            return None
        for name, parameter in self.query.items():
            value = _value(parameter, query.get(name, parameter.default))
            if value is None:
                return None
            values[name] = value
        return self.key.format_map(values)


def _value(parameter: ObjectParameter, text: str | None) -> str | None:
    """Return what stands in a key for the text of a parameter, or None."""
    if text is None or not re.fullmatch(parameter.pattern, text):
        return None
    if parameter.per_page is None:
        return text
    page, rest = divmod(int(text), parameter.per_page)
    return None if rest else str(page)


def _one_of(texts: Iterable[str], default: str | None) -> ObjectParameter:
    return ObjectParameter("|".join(map(re.escape, texts)), default)


def _only(text: str) -> ObjectParameter:
    return _one_of([text], text)


def _page(rows: int) -> dict[str, ObjectParameter]:
    return {"limit": _only(str(rows)), "offset": ObjectParameter(_OFFSET, "0", rows)}


def _sorts(names: Iterable[str], order: str, default: str | None) -> dict[str, ObjectParameter]:
    """Return the parameters of the sorts whose default order this is."""
    return {"sort": _one_of(names, default), "order": _only(order)}


_NONE: Mapping[str, ObjectParameter] = {}
_GAME = {"game": _only("")}
_KIND = {"kind": _one_of(KINDS, "all")}
_DESCENDING = [name for name, sort in SORTS.items() if not sort.ascending]
_ASCENDING = [name for name, sort in SORTS.items() if sort.ascending]
_CARDS = {name: _only("") for name in ("q", "find", "set", *TEXT_FILTERS)} | _KIND | _page(CARDS_PER_PAGE)
_OF_A_SET = _CARDS | {
    "set": ObjectParameter(_SET),
    "kind": _only("all"),
    **_sorts([DEFAULT_SORT], "desc", DEFAULT_SORT),
}
_MARKET = {"by": _one_of(market.GROUPINGS, "set")} | _GAME | _page(ROWS_PER_PAGE)
_VALUED = [name for name, order in market.SORTS.items() if order == "desc"]
_NAMED = [name for name, order in market.SORTS.items() if order == "asc"]
_MOVERS = {
    "window": _one_of(market.WINDOWS, "7d"),
    "by": _one_of(market.MEASURES, "percent"),
    "direction": _one_of(market.DIRECTIONS, "up"),
    **_KIND,
    "min_price": _one_of(market.FLOORS, "1"),
    "confirmed": _only("false"),
    **_GAME,
    **_page(MOVERS_PER_PAGE),
}
_HISTORY = {"view": _one_of(layout.HISTORY_VIEWS, "daily"), "range": _one_of(layout.HISTORY_RANGES, "all")}


def _of_api(path: str, key: str, query: Mapping[str, ObjectParameter] | None = _NONE) -> ObjectRule:
    return ObjectRule(f"{_API}/{path}", f"{API_FOLDER}/{key}", query)


_CARDS_KEY, _MARKET_KEY = "cards/{kind}/{sort}/{offset}.json", "market/{by}/{sort}/{offset}.json"
_MOVERS_KEY = "{window}/{by}/{direction}/{kind}/{min_price}/{offset}.json"
_PLAIN_LISTS = [name for name in layout.ROWS_PER_PAGE if name not in (layout.SETS, layout.WATCHLIST)]
RULES = (
    _of_api("cards/{id}", "cards/{id}.json"),
    _of_api("cards", _CARDS_KEY, _CARDS | _sorts(_DESCENDING, "desc", DEFAULT_SORT)),
    _of_api("cards", _CARDS_KEY, _CARDS | _sorts(_ASCENDING, "asc", None)),
    _of_api("cards", "cards/sets/{set}/{offset}.json", _OF_A_SET),
    _of_api("names", "names.json", _GAME),
    _of_api("sets", "sets/{offset}.json", {"q": _only("")} | _GAME | _page(ROWS_PER_PAGE)),
    *(_of_api(name, f"{name}/{{offset}}.json", _page(ROWS_PER_PAGE)) for name in _PLAIN_LISTS),
    _of_api("movers", f"movers/{_MOVERS_KEY}", _MOVERS),
    _of_api("movers", f"movers/confirmed/{_MOVERS_KEY}", _MOVERS | {"confirmed": _one_of(["true"], None)}),
    _of_api("market", _MARKET_KEY, _MARKET | _sorts(_VALUED, "desc", "value")),
    _of_api("market", _MARKET_KEY, _MARKET | _sorts(_NAMED, "asc", None)),
    _of_api("market/history", "market/sets/{set}.json", {"set": ObjectParameter(_ID)}),
    _of_api("watchlist", "watchlist/pages/{offset}.json", _page(ROWS_PER_PAGE)),
    _of_api("watchlist/{slug}/offers", "watchlist/{slug}/offers.json"),
    _of_api("watchlist/{slug}/history", "watchlist/{slug}/history/{view}-{range}.json", _HISTORY),
    _of_api("watchlist/{slug}", "watchlist/{slug}.json"),
    _of_api("fingerprints", layout.FINGERPRINTS_KEY),
    _of_api("status", layout.STATUS_KEY),
    _of_api("bulk", layout.BULK_KEY),
    _of_api("openapi.json", layout.OPENAPI_KEY, None),
    ObjectRule("/", layout.HOME_PAGE),
    ObjectRule("/{root_file}", "{root_file}"),
    ObjectRule("/{page}", "{page}/index.html"),
    ObjectRule("/{page}/", "{page}/index.html"),
    *(ObjectRule(f"/{folder}/{{file}}", f"{folder}/{{file}}") for folder in layout.SITE_FOLDERS),
)


def object_of(path: str, query: Mapping[str, str]) -> str | None:
    """Return the key below `tree/` of the object that is the answer to a GET, or None if the shim has to find it.

    Args:
        path: With the slash at its beginning, percent-decoded.
        query: The parameters, decoded. A request that gives one twice has no object.
    """
    keys = (rule.key_of(path, query) for rule in RULES)
    return next((key for key in keys if key is not None), None)


def file_segment(slug: str) -> str:
    """Return the name of a slug in file names: any host finds it under its own name."""
    return _UNSAFE.sub(lambda found: b"~%02X" % found[0][0], slug.encode()).decode()


def to_json() -> list[dict[str, Any]]:
    """Return the rules as JSON: the pattern of the path, the template of the key, the parameters of the query."""

    def parameter(one: ObjectParameter) -> dict[str, Any]:
        return {name: value for name, value in vars(one).items() if value is not None}

    return [
        {
            "path": rule.path_pattern,
            "key": rule.key,
            "query": None if rule.query is None else {name: parameter(one) for name, one in rule.query.items()},
        }
        for rule in RULES
    ]
