"""Market and movers format: the sums and indexes of sets and games, and the largest price moves, as layers hold them.

The file `groups` of the layer `market` has a row per group, sets by id, then games by folded name:

    by              `set` or `game`
    id_expansion    null for a game
    game_folded     the game, null for a set without one
    place           of a game: its place in /games
    head            the beginning of its history as JSON: {"set": …, "game": …}
    line            its row of /market as JSON
    rank_…          its rank in each sort, null without the key of the sort

The file `indexes`, for gates and reports, has the index of each game on each day (`build/views/market_indexes.sql`).

The points of a history are objects: `market/{period}/sets/{id}.json` or `market/{period}/games/{game}.json`, with the
rows of a period joined by `bodies.BETWEEN`. The period is a closed year, or `open`, the month of the as-of day.

The layer `movers` has the largest price moves of a build. Its Arrow files:

    lines   a row per product and window that any list shows: line (a Mover as JSON)
    lists   a row per list that has Movers, sorted by the first two columns: confirmed (whether it has confirmed moves
            only), key, lines (rows in `lines`, in the order of the list)

Beside them is `week`, a JSON file for the page `/explore`: {"steps": [integer], "changes": [number]}. It has the change
of each product over 7 days in percent, in the order of the ids. A step is by how much an id is above the one before.

The key of a list of Movers is `{window}/{by}/{direction}/{kind}/{floor}`, followed by `/` and the folded name of a game
in a list of one game. The floor is the lowest price that `then` may have.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from edge_auth.builds import layout
from edge_auth.builds.index import only_chunk
from edge_auth.builds.layers import Layer

GROUPS, INDEXES = "groups", "indexes"  # files of the layer `market`
# The parameters of /market: its groupings, and its sorts with their default orders.
GROUPINGS = ("set", "game")
SORTS = {"value": "desc", "change_7d": "desc", "change_30d": "desc", "name": "asc"}
LINES, LISTS, WEEK = "lines", "lists", "week"  # files of the layer `movers`
MAX_MOVERS = 500  # in a list
# The parameters of /movers: the number of days of a window, and floors in euros.
WINDOWS = {"1d": 1, "7d": 7, "30d": 30}
MEASURES = ("percent", "euros")
DIRECTIONS = ("up", "down")
FLOORS = ("0", "1", "5", "20", "100")


class Group(NamedTuple):
    game: str | None  # folded
    line: bytes  # its row of /market as JSON
    head: bytes  # the beginning of its history as JSON
    path: str  # the end of the keys of its points


class Market:
    """The groups of a build's market.

    Attributes:
        sets, games, documents: By the id of the expansion, by the folded name, by the logical keys of their histories.
        lists: By grouping and sort: the groups with the key of the sort in its default order, and those without it.
    """

    def __init__(self, layer: Layer):
        self.sets: dict[int, Group] = {}
        self.games: dict[str, Group] = {}
        self.documents: dict[str, Group] = {}
        found: list[tuple[dict[str, Any], Group]] = []
        for row in layer.table(GROUPS).to_pylist():
            id_, game = row["id_expansion"], row["game_folded"]
            group = Group(game, row["line"].encode(), row["head"].encode(), layout.market_group(id_, game))
            found.append((row, group))
            if row["by"] == "set":
                self.sets[id_] = self.documents[f"market/sets/{id_}.json"] = group
            else:
                self.games[game] = self.documents[f"market/games/{row['place']}.json"] = group
        self.lists = {(by, sort): _ranked(found, by, sort) for by, sort in product(GROUPINGS, SORTS)}

    def rows(self, by: str, sort: str, order: str | None = None, game: str | None = None) -> list[bytes]:
        """Return the rows of a list as JSON, those without the key last. The game is a folded name."""
        with_key, without_key = self.lists[by, sort]
        if order not in (None, SORTS[sort]):
            with_key = with_key[::-1]
        return [group.line for group in (*with_key, *without_key) if game is None or group.game == game]


def _ranked(rows: Sequence[tuple[dict[str, Any], Group]], by: str, sort: str) -> tuple[list[Group], list[Group]]:
    """Return the groups with the key of a sort in its default order, and those without it in the order of ties."""
    found = [(row[f"rank_{sort}"], group) for row, group in rows if row["by"] == by]
    with_key = sorted(((rank, group) for rank, group in found if rank is not None), key=itemgetter(0))
    return [group for _, group in with_key], [group for rank, group in found if rank is None]


class Movers:
    """The lists of price moves of a build, mapped into memory."""

    def __init__(self, layer: Layer):
        lines, lists = layer.table(LINES), layer.table(LISTS)
        self._lines = only_chunk(lines, "line")
        self._rows = only_chunk(lists, "lines")
        keys = zip(lists["confirmed"].to_pylist(), lists["key"].to_pylist(), strict=True)
        self._places = {key: place for place, key in enumerate(keys)}

    def list(self, key: str, confirmed: bool = False) -> list[bytes]:
        """Return the Movers of a list as JSON, largest move first. A list that is not stored has none."""
        place = self._places.get((confirmed, key))
        return [] if place is None else [self._lines[row].as_py().encode() for row in self._rows[place].as_py()]

    def count(self, key: str, confirmed: bool = False) -> int:
        place = self._places.get((confirmed, key))
        return 0 if place is None else len(self._rows[place])


def list_key(options: Iterable[str], game: str | None = None) -> str:
    """Return the key of a list of Movers: window, measure, direction, kind and floor; the game is a folded name."""
    return "/".join((*options, *([] if game is None else [game])))
