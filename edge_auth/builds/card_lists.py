"""The lists of Cards: their kinds, sorts and orders, and the filters that compare a text.

A product matches such a filter if its text and the client's have the same key. The SQL of the rankings, the search
index, the parameters, their documents, the form of the explorer and the benchmarks follow from the declarations.
"""

from collections.abc import Callable, Container
from typing import NamedTuple

from edge_auth.text import fold, number_filter_key

KINDS = ("all", "single", "sealed")
ORDERS = ("asc", "desc")
MARKET_SORT, OFFERS_SORT = "market", "filtered"
# The sort by how well a name matches `q`: no ranking, since no build knows the texts that clients search for.
MATCH_SORT = "match"
MATCH_BY = (
    "how well the name matches the words of `q`, or of `find` without them: names and base names equal to them, names "
    "that begin with them, names that hold them side by side, names that begin with them but go on within the last, "
    "names in which each of them begins a word, then all others; each by trend, without `order`"
)
BLANK = "\u0301"  # the key of a text that is empty after folding: no folded text has a combining mark
_GUIDE_PRICE = "that price of the price guide"


class Sort(NamedTuple):
    """A sort of /cards, by the column `key_<name>` of `build/views/cards.sql`. Products without a key come last."""

    label: str  # its name in a form
    by: str  # what it sorts by, for the documents; neighbours with the same text share an entry
    price: bool = False  # whether its key is a price, which `min_price` and `max_price` bound
    ascending: bool = False  # its default order


# The first one is the default.
SORTS = {
    "trend": Sort("Trend price", _GUIDE_PRICE, price=True),
    "low": Sort("Lowest price", _GUIDE_PRICE, price=True),
    "avg": Sort("Average price", _GUIDE_PRICE, price=True),
    "filtered": Sort("Cheapest offer", "the lowest price under the seller filter", price=True),
    "market": Sort("Market price", "the market price: the trend, else that of foils", price=True),
    "name": Sort("Name", "the folded name", ascending=True),
    "number": Sort("Collector number", "the collector number, digits as numbers", ascending=True),
    "newest": Sort("Newest", "when the marketplace added the product"),
}
PRICE_SORTS = tuple(name for name, sort in SORTS.items() if sort.price)
DEFAULT_SORT = next(iter(SORTS))


class TextFilter(NamedTuple):
    """A filter of /cards, over the column `filter_<name>` of `build/views/cards.sql` with the products' keys."""

    label: str  # its name in a form
    key: Callable[[str], str]  # returns the key of a client's text; the SQL knows the function by the same name
    finds: str  # for the documents, as the example
    example: str


TEXT_FILTERS = {
    "number": TextFilter(
        "Number",
        number_filter_key,
        "Collector number; leading zeros of each run of digits do not count, so `4` also matches `004`. "
        "If no product has a number with a slash, the part before the slash counts: `63/100` finds `63`.",
        "4",
    ),
    "rarity": TextFilter(
        "Rarity",
        fold,
        "Rarity, whatever its case and accents. One that no product has gives an empty list.",
        "Ultra Rare",
    ),
    "game": TextFilter(
        "Game",
        fold,
        "Only products of this game, whatever its case and accents: a `name` of `/games`. "
        "An unknown game gives an empty list.",
        "Mythgrove",
    ),
}


def number_key(known: Container[str], text: str) -> str:
    """Return the key of a number that a client gives: `63/100` is 63 if the keys of products lack the whole."""
    key = number_filter_key(text)
    return key if key in known else number_filter_key(text.partition("/")[0] or text)
