"""The rankings of Cards: their kinds, sorts and orders."""

from typing import NamedTuple


class Sort(NamedTuple):
    """A sort of Cards: whether its default order is ascending. `build/views/rankings.sql` has its key."""

    ascending: bool = False

    @property
    def default_order(self) -> str:
        """The value of the parameter `order` that means the default order."""
        return "asc" if self.ascending else "desc"


KINDS = ("all", "single", "sealed")
ORDERS = ("asc", "desc")
SORTS = {
    "trend": Sort(),
    "low": Sort(),
    "avg": Sort(),
    "filtered": Sort(),
    "name": Sort(ascending=True),
    "number": Sort(ascending=True),
    "newest": Sort(),
}
PRICE_SORTS = ("trend", "low", "avg", "filtered")
