"""Movers format: the largest price moves of a build, as files of the layer `movers`.

The Arrow files:

    lines   a row per product and window that any list shows: line (a Mover as JSON)
    lists   a row per list that has Movers, sorted by the first two columns: confirmed (whether it has confirmed moves
            only; older versions wrote no such lists, and no such column), key, lines (rows in `lines`, in the order of
            the list)

Beside them is `week`, a JSON file for the page `/explore`: {"steps": [integer], "changes": [number]}. It has the change
of each product over 7 days in percent, in the order of the ids. A step is by how much an id is above the one before.

The key of a list is `{window}/{by}/{direction}/{kind}/{floor}`, followed by `/` and the folded name of a game in a list
of one game. The floor is the lowest price that `then` may have.
"""

from collections.abc import Iterable, Iterator
from itertools import product

from edge_auth.builds import object_keys
from edge_auth.builds.index import only_chunk
from edge_auth.builds.layers import Layer
from edge_auth.builds.sorts import KINDS

LINES, LISTS, WEEK = "lines", "lists", "week"
MAX_MOVERS = 500  # in a list
# The parameters of /movers: the number of days of a window, and floors in euros.
WINDOWS = {"1d": 1, "7d": 7, "30d": 30}
MEASURES = ("percent", "euros")
DIRECTIONS = ("up", "down")
FLOORS = ("0", "1", "5", "20", "100")


class Movers:
    """The lists of price moves of a build, mapped into memory.

    Attributes:
        knows_confirmed: Whether there are lists of confirmed moves. Builds of older versions have none.

    Raises:
        StoreError: The files cannot be read.
    """

    def __init__(self, layer: Layer):
        lines, lists = layer.table(LINES), layer.table(LISTS)
        self._lines = only_chunk(lines, "line")
        self._rows = only_chunk(lists, "lines")
        self.knows_confirmed = "confirmed" in lists.column_names
        confirmed = lists["confirmed"].to_pylist() if self.knows_confirmed else [False] * len(lists)
        keys = zip(confirmed, lists["key"].to_pylist(), strict=True)
        self._places = {key: place for place, key in enumerate(keys)}

    def list(self, key: str, confirmed: bool = False) -> list[bytes]:
        """Return the Movers of a list as JSON, largest move first. A list that is not stored has none.

        Args:
            confirmed: Whether the list has confirmed moves only.
        """
        place = self._places.get((confirmed, key))
        return [] if place is None else [self._lines[row].as_py().encode() for row in self._rows[place].as_py()]

    def document_keys(self) -> Iterator[str]:
        """Yield the keys of the documents: the lists that cover all games, of all and of confirmed moves."""
        choices = (WINDOWS, MEASURES, DIRECTIONS, KINDS, FLOORS)
        for confirmed, *options in product((False, True) if self.knows_confirmed else (False,), *choices):
            yield object_keys.movers_list(list_key(options), confirmed)


def list_key(options: Iterable[str], game: str | None = None) -> str:
    """Return the key of a list.

    Args:
        options: Window, measure, direction, kind and floor.
        game: The folded name of a game, None for all products.
    """
    return "/".join((*options, *([] if game is None else [game])))
