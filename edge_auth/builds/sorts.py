"""The rankings of Cards: their kinds, sorts and orders."""

from typing import NamedTuple


class Sort(NamedTuple):
    """A sort of /cards, by the column `key_<name>` of `build/views/cards.sql`. Products without a key come last.

    The SQL of the rankings, the columns of the search index, the parameter `sort`, its description, the form of the
    explorer and the benchmarks follow from the declaration.

    Attributes:
        label: Its name in a form.
        by: What it sorts by, for the documents. Neighbours with the same text share an entry.
        price: Whether its key is a price, which `min_price` and `max_price` bound.
        ascending: Whether its default order is ascending.
    """

    label: str
    by: str
    price: bool = False
    ascending: bool = False


_GUIDE_PRICE = "that price of the price guide"
_MARKET_PRICE = "the market price: the trend, else that of foils"
# The first one is the default.
SORTS = {
    "trend": Sort("Trend price", _GUIDE_PRICE, price=True),
    "low": Sort("Lowest price", _GUIDE_PRICE, price=True),
    "avg": Sort("Average price", _GUIDE_PRICE, price=True),
    "filtered": Sort("Cheapest offer", "the lowest price under the seller filter", price=True),
    "market": Sort("Market price", _MARKET_PRICE, price=True),
    "name": Sort("Name", "the folded name", ascending=True),
    "number": Sort("Collector number", "the collector number, digits as numbers", ascending=True),
    "newest": Sort("Newest", "when the marketplace added the product"),
}
# The sort by how well a name matches `q`: no ranking, since no build knows the texts that clients search for.
MATCH_SORT = "match"
MATCH_BY = (
    "how well the name matches `q`: names and base names equal to it, names that begin with it, names in which each "
    "word of it begins a word, then all others; each by trend, without `order`"
)
PRICE_SORTS = tuple(name for name, sort in SORTS.items() if sort.price)
DEFAULT_SORT = next(iter(SORTS))
MARKET_SORT = "market"
KINDS = ("all", "single", "sealed")
ORDERS = ("asc", "desc")
