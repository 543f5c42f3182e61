"""The filters of /cards that compare a text: a product matches if its text and the client's have the same key."""

from collections.abc import Callable
from typing import NamedTuple

from edge_auth.text import fold, number_filter_key

BLANK = "\u0301"  # the key of a text that is empty after folding: no folded text has a combining mark


class TextFilter(NamedTuple):
    """A filter of /cards, over the column `filter_<name>` of `build/views/cards.sql`, which holds the products' keys.

    The SQL of the rankings, the columns of the search index, the parameter, its description, the form of the explorer
    and the tables of the documents follow from the declaration. A build whose index has no such column is older than
    the filter, and refuses it with a reason.

    Attributes:
        label: Its name in a form.
        key: Returns the key of a client's text. The SQL knows the function by the same name.
        finds: What it finds, for the documents.
        example: A value, for the documents.
    """

    label: str
    key: Callable[[str], str]
    finds: str
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
