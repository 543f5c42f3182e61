"""The search of /cards: what its parameters mean, and one page of its result."""

from typing import Any

from edge_auth.builds.sorts import DEFAULT_SORT, MATCH_SORT, SORTS
from edge_auth.builds.text_filters import BLANK, TEXT_FILTERS
from edge_auth.errors import InvalidParameter
from edge_auth.live.open_build import OpenBuild
from edge_auth.search.ranking import Filters, PriceRange, ResultPage, Search, cheap_page, first_matches
from edge_auth.text import composed, fold, signs, word_text, words

_LEAST_KEPT_MATCHES = 1024
_OVERHEAD_BYTES = 500


def read_search(build: OpenBuild, values: dict[str, Any]) -> Search:
    """Return the search that the parameters of /cards mean. Equivalent parameters give equal searches.

    Raises:
        InvalidParameter: The price range is empty, the sort needs other parameters, or the build is too old for the
            sort or a filter.
    """
    best = _best(build, values) if values["sort"] == MATCH_SORT else None
    sort = DEFAULT_SORT if best else values["sort"]
    if sort not in build.catalogue.order:
        raise too_old(build, f"sorted by {sort}")
    filters = Filters(
        words=tuple(sorted(set(_words(build, values["q"] or "")))),
        set=values["set"] and composed(values["set"]),
        texts=tuple((name, filter_key(build, name, values[name])) for name in TEXT_FILTERS if values[name]),
        kind=values["kind"],
    )
    default_order = "asc" if SORTS[sort].ascending else "desc"
    reverse = values["order"] not in (None, default_order)
    search = Search(filters, sort, reverse, _price_range(values), best)
    if search.prices is not None and search.price_sort not in build.catalogue.cents:
        raise too_old(build, "filtered by min_price and max_price")
    return search


def filter_key(build: OpenBuild, name: str, text: str) -> str:
    """Return the key of a client's text for a text filter.

    Raises:
        InvalidParameter: The build is older than the filter.
    """
    if name not in build.catalogue.texts:
        raise too_old(build, f"filtered by {name}")
    key = TEXT_FILTERS[name].key
    if name == "number" and key(text) not in build.catalogue.texts[name].code_of:
        text = text.partition("/")[0] or text  # `63/100` is the 63rd of 100
    return key(text) or BLANK


def _words(build: OpenBuild, q: str) -> list[str]:
    """Return the texts that words of a name must contain: the words of `q`, or its signs if it has no word."""
    return (words(q) or signs(q)) if build.catalogue.of_words else fold(q).split()


def _best(build: OpenBuild, values: dict[str, Any]) -> str:
    best = word_text(values["q"] or "")
    if not best or values["order"]:
        what = "allows no order" if best else "needs a q with at least one word"
        raise InvalidParameter(f"sort={MATCH_SORT} {what}")
    if build.catalogue.full_name is None:
        raise too_old(build, f"sorted by {MATCH_SORT}")
    return best


def _price_range(values: dict[str, Any]) -> PriceRange | None:
    prices = PriceRange(values["min_price"], values["max_price"])
    if prices.lowest is not None and prices.highest is not None and prices.lowest > prices.highest:
        raise InvalidParameter("min_price may not be above max_price")
    return None if prices == (None, None) else prices


def too_old(build: OpenBuild, what: str) -> InvalidParameter:
    """Return the error for a parameter that a build of an older version lacks the data for."""
    return InvalidParameter(f"build {build.id} cannot be {what}: an older version made it, the next build can")


def find_page(build: OpenBuild, search: Search, offset: int, limit: int) -> ResultPage:
    """Return one page of the result of a search.

    Raises:
        NotFound: The search names an unknown set.
    """
    if not offset and (stored := _stored_page(build, search, limit)) is not None:
        return stored
    catalogue = build.catalogue
    if (page := cheap_page(catalogue, search, offset, limit)) is not None:
        return page
    # A client that is at a later page will probably want the next one too, so find up to twice as many.
    count = min(max(_LEAST_KEPT_MATCHES, 1 << (offset + limit).bit_length()), len(catalogue.ids))
    ordinals, total = build.cached(
        ("search", search, count),
        lambda: first_matches(catalogue, search, count),
        lambda found: found.ordinals.nbytes + _OVERHEAD_BYTES,
    )
    return ResultPage(ordinals[offset : offset + limit], total)


def _stored_page(build: OpenBuild, search: Search, limit: int) -> ResultPage | None:
    """Return the first page of a search for a letter that very many names contain, if the build has it."""
    if search.best is None or search.only_filter != ("q", search.best):
        return None
    stored = build.best_of_letters.get(search.best)
    if stored is None or limit > len(stored.ordinals):
        return None
    return ResultPage(stored.ordinals[:limit], stored.total)
