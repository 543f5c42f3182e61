"""What the parameters of /cards and /facets mean. Equivalent parameters give equal searches."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple, TypeAlias

import numpy as np

from edge_auth.errors import InvalidParameter, NotFound
from edge_auth.parameters import KIND, MAX_TEXT_CHARACTERS, Price, Text, optional, parameter, several
from generator.storage.catalogue import (
    BLANK,
    DEFAULT_SORT,
    MATCH_SORT,
    PRICE_SORTS,
    SORTS,
    TEXT_FILTERS,
    Catalogue,
    number_key,
)
from generator.storage.text import MAX_DIGITS, composed, fold, words

_LARGEST_INTEGER = 2**63 - 1


@dataclass(frozen=True)
class ProductsQuery:
    """Which products: what /cards and /facets take alike. `texts` has the text filters, the prices are in cents."""

    q: str | None = optional(Text(100))
    find: str | None = optional(Text(100))
    set: str | None = optional(Text(MAX_TEXT_CHARACTERS))
    texts: Mapping[str, str | None] = several(TEXT_FILTERS, Text(MAX_TEXT_CHARACTERS))
    min_price: int | None = optional(Price())
    max_price: int | None = optional(Price())
    kind: str = parameter(KIND, "all")


class Part(NamedTuple):
    """A part of `find`: a product has the number with this key, if any, or all words in its name and its set's name."""

    number: str
    words: tuple[str, ...]


# A parameter and what a product must have: a text of the name (`q`), a part (`find`), the key of a text filter, the
# kind, or one of the rows of some sets (`set`).
Filter: TypeAlias = tuple[str, str | Part | frozenset[int]]


class Search(NamedTuple):
    """A search without offset and limit.

    Attributes:
        reverse: Whether the order is the opposite of the sort's default order.
        ranks: The first rank and the end of the products in the price range, in the sort of `price_sort`.
        best: The words of `q`, or of each part of `find`, if the best matches come first: a name is compared with the
            words of those parts of which it holds any. The sort then orders equally good matches.
    """

    filters: tuple[Filter, ...] = ()
    sort: str = DEFAULT_SORT
    reverse: bool = False
    ranks: tuple[int, int] | None = None
    best: tuple[tuple[str, ...], ...] | None = None


def price_sort(sort: str) -> str:
    """Return the sort whose price a price range bounds."""
    return sort if sort in PRICE_SORTS else PRICE_SORTS[0]


def read_search(
    catalogue: Catalogue, query: ProductsQuery, sort: str = DEFAULT_SORT, order: str | None = None
) -> Search:
    """Return the search that the parameters of /cards mean. Raise InvalidParameter, or NotFound for the set."""
    best = _best(query, order) if sort == MATCH_SORT else None
    sort = DEFAULT_SORT if best else sort
    default_order = "asc" if SORTS[sort].ascending else "desc"
    ranks = _ranks(catalogue, price_sort(sort), query.min_price, query.max_price)
    return Search(_filters(catalogue, query), sort, order not in (None, default_order), ranks, best)


def _best(query: ProductsQuery, order: str | None) -> tuple[tuple[str, ...], ...]:
    best = parts_with_words([query.q or ""]) or parts_with_words((query.find or "").split())
    if not best or order:
        what = "allows no order" if best else "needs a q or a find with at least one word"
        raise InvalidParameter(f"sort={MATCH_SORT} {what}")
    return best


def _ranks(catalogue: Catalogue, sort: str, lowest: int | None, highest: int | None) -> tuple[int, int] | None:
    """Return the ranks of the products in a price range: they lie side by side, since the ranking is by price."""
    if lowest is None and highest is None:
        return None
    if lowest is not None and highest is not None and lowest > highest:
        raise InvalidParameter("min_price may not be above max_price")
    ascending = catalogue.cents[sort][::-1]
    most = _LARGEST_INTEGER if highest is None else min(highest, _LARGEST_INTEGER)  # no price is as large as that
    below = int(np.searchsorted(ascending, min(lowest or 0, _LARGEST_INTEGER)))
    up_to = int(np.searchsorted(ascending, most, "right"))
    return len(ascending) - up_to, len(ascending) - below


def _filters(catalogue: Catalogue, query: ProductsQuery) -> tuple[Filter, ...]:
    sets = [set_rows(catalogue, query.set)] if query.set else []
    if query.set and not sets[0]:
        near = catalogue.nearest_set(query.set)
        raise NotFound("there is no set with this id or exact name" + (f": did you mean {near}?" if near else ""))
    signs, parts = read_find(catalogue, query.find) if query.find else ([], ())
    of_values = value_filters(catalogue, query.kind, query.texts)
    texts = words(query.q or "") or fold(query.q or "").split()
    of_name = sorted({*texts, *signs})
    return (*zip(repeat("set"), sets), *zip(repeat("q"), of_name), *of_values, *zip(repeat("find"), parts))


def value_filters(catalogue: Catalogue, kind: str, texts: Mapping[str, str | None]) -> Iterator[Filter]:
    """Yield the filters of the kind and of those text filters that a query has, in one order."""
    if kind != "all":
        yield "kind", kind
    for name in TEXT_FILTERS:
        if text := texts.get(name):
            yield name, filter_key(catalogue, name, text)


def filter_key(catalogue: Catalogue, name: str, text: str) -> str:
    """Return the key of a client's text for a text filter."""
    if name == "number":
        return number_key(catalogue.texts[name].code_of, text) or BLANK
    return TEXT_FILTERS[name].key(text) or BLANK


def parts_with_words(texts: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Return the words of each text that has any."""
    return tuple(filter(None, (tuple(words(text)) for text in texts)))


def read_find(catalogue: Catalogue, text: str) -> tuple[list[str], tuple[Part, ...]]:
    """Return what `find` means: texts that the name must contain, and parts. Equivalent texts give equal parts.

    Signs that stand alone count only in a text without words: `&` stands in names of sets, too.
    """
    parts: set[Part] = set()
    numbers = catalogue.texts["number"].code_of
    for part in text.split():
        key, found = number_key(numbers, part), tuple(sorted(set(words(part))))
        if found and key in numbers:
            parts.add(Part(key, found))
        else:
            parts.update(Part("", (word,)) for word in found)
    signs = [] if parts else list(filter(None, map(fold, text.split())))
    return signs, tuple(sorted(parts))


def set_rows(catalogue: Catalogue, text: str) -> frozenset[int]:
    """Return the rows of the sets that an id or an exact name means. A number that is not an id may be a name."""
    text = composed(text)
    if text.isascii() and text.isdigit() and len(text.lstrip("0")) <= MAX_DIGITS:
        id_ = np.int64(text.lstrip("0") or 0)
        row = int(np.searchsorted(catalogue.set_ids, id_))
        if row < len(catalogue.set_ids) and catalogue.set_ids[row] == id_:
            return frozenset([row])
    return frozenset(row for row, name in enumerate(catalogue.set_names) if name == text)
