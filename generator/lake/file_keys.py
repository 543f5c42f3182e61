"""What makes a day file of a lake the same file, for builds that read it and for the quarantine."""

from typing import NamedTuple, Self

# The daily tables whose rows are of products, and so of games.
PRICE_TABLES = ("price_guide", "listings", "filtered_checks")
NO_GAME = ""


class FileKey(NamedTuple):
    """What makes a day file of a lake the same file: its table, its day (YYYY-MM-DD) and its content.

    Attributes:
        game: The game whose rows are meant, `NO_GAME` for products without one; None for all rows of the file.
    """

    table: str
    day: str
    sha256: str
    game: str | None = None

    @property
    def whole(self) -> Self:
        """The file with all its rows."""
        return self._replace(game=None)
