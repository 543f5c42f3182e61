"""The kinds of intermediate files, by which a task finds what the tasks that it needs have written."""

from enum import StrEnum


class Intermediate(StrEnum):
    """A kind of intermediate files. A task writes one file of a kind for each of its parts."""

    KNOWN_ROWS = "known-rows"  # of an array of histories in a month, of products that the catalogue knows
    UNKNOWN_ROWS = "unknown-rows"  # the same, of products that it does not know
    ROWS_OF_DAY = "rows-of-day"  # of an array, of known products on one day
    ROWS_OF_RANGE = "rows-of-range"  # of an array, of the products in one range
    NEWEST_ROWS = "newest-rows"  # of a price table: the newest row of each product in a month
    CARDS = "cards"  # of a range of products, by id: their sort keys and the sizes of their texts
    CARD_TEXTS = "card-texts"  # of the same products: their Cards as lines of JSON

    def of(self, *parts: object) -> str:
        """Return the name of a part's file among a task's outputs, such as `rows-of-day price_guide 2026-02-01`."""
        return " ".join(map(str, (self, *parts)))
