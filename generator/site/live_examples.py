"""What the pages of the site take from a build: examples, the moves of the week, and the indexes of games.

The examples of the reference are requests for products, sets and slugs that the build has, and their real answers. The
page at / shows confirmed moves: cards that rose and fell much, with their pictures.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote

from flask.testing import FlaskClient

from edge_auth.api.blueprints import client_of
from edge_auth.api.endpoint import API
from edge_auth.builds import layer_names
from edge_auth.builds.market import DIRECTIONS, WINDOWS
from edge_auth.live.open_build import OpenBuild
from edge_auth.store.codec import decompressed_chunks
from edge_auth.text import base_name

DAYS = 90  # of the line of a game's index
# The parameters whose values one build has and another lacks. One without a value in a build has no example there.
NAMES_OF_BUILDS = frozenset(
    (
        "idProduct",
        "ids",
        "names",
        "q",
        "set",
        "number",
        "rarity",
        "game",
        "scheme",
        "values",
        "slug",
        "name",
        "from",
        "to",
    )
)

_Json = Any
_Ask = Callable[[str], _Json]

# Of the moves of the week.
_MOVES_EACH_WAY = 4
_MOVE_CANDIDATES = 50  # of each direction: not all have two averages
_LEAST_PRICE = 5  # before a move that is shown: one sale moves a cheap card by much
_HUES = 8  # of the style sheet
# Of the indexes of games.
_MOST_GAMES = 8
_LEFT, _TOP, _WIDTH, _HEIGHT = 3, 3, 114, 22  # of the line, in the units of its drawing
# Of the examples.
_EXAMPLE_CANDIDATES = 5
_WORD = re.compile(r"[^\W\d_]{3,}")
_MAX_NAME_CHARACTERS = 60  # a set or game with a longer name makes no good example
_MAX_LINES = 80
_SECTIONS = {
    "Moves": [f"{API}movers?window={window}&direction={way}&limit=1" for window in WINDOWS for way in DIRECTIONS],
    "Market": [f"{API}market?limit=1"],
    "Scan": [f"{API}fingerprints"],
    "Watchlist": [f"{API}watchlist?limit=1"],
}
_LARGE = (f"{API}fingerprints", f"{API}names")
_MADE_LATER = f"{API}openapi.json"


class Move(NamedTuple):
    """A row of /movers with what its card shows.

    Attributes:
        mover: As the API writes it.
        number: Of the card, or None.
        image: An address over https, a path of this host, or None.
        low: The lowest offer of the finish that moved, in euros, or None.
        hue: The place of the game's colour in the style sheet, for a card without a picture.
    """

    mover: dict[str, Any]
    number: str | None
    image: str | None
    low: float | None
    hue: int


class GameIndex(NamedTuple):
    """The index of a game.

    Attributes:
        newest: The index on its newest day.
        change_7d_pct: In percent, or None.
        then: The day that this change is against, or None.
        first: The index on the first day of the line.
        points: The line, as `points` of a polyline in a drawing of 120 × 28.
    """

    name: str
    newest: float
    change_7d_pct: float | None
    then: str | None
    first: float
    points: str


@dataclass(frozen=True)
class LiveExamples:
    """What the pages of the site take from a build.

    Attributes:
        values: Example values of parameters by name. `q of listSets` is the value of `q` for that operation alone.
        answer: Returns the answer to a path with its query, or None if the build cannot answer it.
        status: The status object, or None.
        games: The indexes of games.
        moves: The confirmed moves of the week.
        sections: The entries of the navigation that not every build has something to show for, and this one has.
        pictures: How many pictures the index of fingerprints has.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    answer: _Ask = lambda target: None
    status: _Json = None
    games: Sequence[GameIndex] = ()
    moves: Sequence[Move] = ()
    sections: frozenset[str] = frozenset()
    pictures: int = 0


NO_EXAMPLES = LiveExamples()


def live_examples(build: OpenBuild) -> LiveExamples:
    """Return the examples of a build.

    Raises:
        StoreError: The build cannot be read.
    """
    answer = partial(_answer, client_of(build))
    return LiveExamples(
        values=dict(_values(build, answer)),
        answer=answer,
        status=json.loads(build.objects.status()),
        games=game_indexes(answer),
        moves=week_moves(answer),
        sections=frozenset(name for name, paths in _SECTIONS.items() if any(map(_has_rows, map(answer, paths)))),
        pictures=answer(f"{API}fingerprints")["count"],
    )


def week_moves(answer: _Ask) -> list[Move]:
    """Return the largest confirmed moves of 7 days in percent, those up before those down.

    Args:
        answer: Returns the answer to a path of the API, or None.
    """
    return [move for direction in ("up", "down") for move in _moves(direction, answer)]


def game_indexes(answer: _Ask) -> list[GameIndex]:
    """Return the indexes of the games of most value, without those whose prices have stopped.

    Args:
        answer: Returns the answer to a path of the API, or None.
    """
    rows = (answer(f"{API}market?by=game&limit={_MOST_GAMES}") or {"data": []})["data"]
    return [index for row in rows if (index := _game_index(row, answer))]


def shown(value: _Json, indent: int = 0, width: int = 84) -> str:
    """Return JSON for people: indented, with short arrays and objects on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or (len(line) + indent <= width and not _nested(value)):
        return line
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    members = value.items() if isinstance(value, dict) else ((None, member) for member in value)
    lines = [
        " " * (indent + 2) + (f'"{name}": ' if name is not None else "") + shown(member, indent + 2, width)
        for name, member in members
    ]
    return opening + "\n" + ",\n".join(lines) + "\n" + " " * indent + closing


def cut(text: str) -> str:
    """Return a text without the lines beyond those that a page shows."""
    lines = text.splitlines()
    return text if len(lines) <= _MAX_LINES + 1 else "\n".join([*lines[:_MAX_LINES], "…"])


def _moves(direction: str, answer: _Ask) -> list[Move]:
    floor = f"min_price={_LEAST_PRICE}&limit={_MOVE_CANDIDATES}"
    movers = answer(f"{API}movers?confirmed=true&direction={direction}&{floor}")["data"]
    if not movers:
        return []
    cards = answer(f"{API}cards?ids=" + ",".join(str(mover["id_product"]) for mover in movers))["data"]
    backed = (pair for pair in zip(movers, cards, strict=True) if _has_two_averages(*pair))
    return [_move(*pair) for pair in islice(backed, _MOVES_EACH_WAY)]


def _has_two_averages(mover: dict[str, Any], card: dict[str, Any]) -> bool:
    """Return whether the averages of a week and a month differ. Equal ones are of the same few sales."""
    guide = _guide(mover, card)
    return bool(guide["avg7"] != guide["avg30"])


def _guide(mover: dict[str, Any], card: dict[str, Any]) -> dict[str, Any]:
    """Return the prices of the finish that moved."""
    guide: dict[str, Any] = card["price_guide"]
    return guide["holo"] if mover["finish"] == "foil" else guide


def _move(mover: dict[str, Any], card: dict[str, Any]) -> Move:
    image = card["image"] or ""
    shown = image.startswith(("https://", "/")) and not image.startswith("//")
    game = (card["category"] or "").rpartition(" ")[0]  # a card does not name its game, but its category begins with it
    return Move(
        mover, card["number"], image if shown else None, _guide(mover, card)["low"], sum(map(ord, game)) % _HUES
    )


def _game_index(row: dict[str, Any], answer: _Ask) -> GameIndex | None:
    history = answer(f"{API}market/history?game={quote(row['game'], safe='')}&days={DAYS}")
    if not history or not history["points"]:  # a name too long for a request, or only older prices
        return None
    indexes = [point["index"] for point in history["points"]]
    then = None if row["change_7d_pct"] is None else _week_before(row["day"], history["points"])
    return GameIndex(row["game"], row["index"], row["change_7d_pct"], then, indexes[0], _points(indexes))


def _week_before(newest: str, points: Sequence[dict[str, Any]]) -> str | None:
    """Return the day that `change_7d_pct` is against, the newest one at least a week before, or None."""
    latest = (date.fromisoformat(newest) - timedelta(days=7)).isoformat()
    return max((str(point["day"]) for point in points if point["day"] <= latest), default=None)


def _points(values: Sequence[float]) -> str:
    low, span = min(values), max(values) - min(values) or 1
    step = _WIDTH / max(len(values) - 1, 1)
    places = ((_LEFT + at * step, _TOP + _HEIGHT * (1 - (value - low) / span)) for at, value in enumerate(values))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _values(build: OpenBuild, answer: _Ask) -> Iterator[tuple[str, str]]:
    """Yield parameters with values that the build has."""
    if (card := _example_card(answer)) is not None:
        yield "idProduct", str(card["id_product"])
        yield "ids", str(card["id_product"])
        yield "names", base_name(card["name"]).strip()[:_MAX_NAME_CHARACTERS]
        yield "q of listCards", next(iter(_WORD.findall(card["name"])), card["name"])[:100]
        if card["set"]["name"] and len(card["set"]["name"]) <= _MAX_NAME_CHARACTERS:
            yield "set", card["set"]["name"]
            yield "q of listSets", card["set"]["name"]
        yield from ((name, card[name]) for name in ("number", "rarity") if card[name])
        identified = answer(f"{API}cards/{card['id_product']}/identifiers") or {"identifiers": {}}
        for scheme, values in list(identified["identifiers"].items())[:1]:
            yield from (("scheme", scheme), ("values", values[0]))
    games = [json.loads(line)["name"] for line in build.rows(layer_names.GAMES)]
    yield from (("game", name) for name in games[:1] if len(name) <= _MAX_NAME_CHARACTERS)
    market = (answer(f"{API}market?limit=1") or {"data": []})["data"]
    yield "set of getMarketHistory", str(market[0]["set"]["id"]) if market else ""  # an id, where others have a name
    files = (answer(f"{API}bulk") or {"files": []})["files"]
    yield from (("name of getBulkFile", file["name"]) for file in files[:1])
    watched = [json.loads(line) for line in build.watchlist]
    best = sorted(watched, key=lambda item: (item["change_7d_pct"] is None, "/" in item["slug"]))
    yield from (("slug", item["slug"]) for item in best[:1])


def _example_card(answer: _Ask) -> _Json:
    """Return the single that rose most, with a picture if possible; else the most expensive product, or None."""
    nothing: _Json = {"data": []}
    movers = (answer(f"{API}movers?kind=single&min_price=5&limit={_EXAMPLE_CANDIDATES}") or nothing)["data"]
    risen = ",".join(str(mover["id_product"]) for mover in movers)
    cards = (answer(f"{API}cards?ids={risen}" if risen else f"{API}cards?limit=1") or nothing)["data"]
    return next((card for card in cards if card["image"]), cards[0] if cards else None)


def _answer(client: FlaskClient, target: str) -> _Json:
    """Return the answer to a path with its query, or None. Of an object that may have tens of megabytes, its start."""
    if target == _MADE_LATER:
        return None
    if target in _LARGE:
        answer = client.get(target, headers={"Accept-Encoding": "gzip"})
        return _start(answer.data) if answer.status_code == 200 else None
    answer = client.get(target)
    return json.loads(answer.data) if answer.status_code == 200 else None


def _has_rows(answer: _Json) -> bool:
    return bool(answer and (answer.get("data") or answer.get("entries")))


def _start(member: bytes) -> _Json:
    """Return a list in a gzip member with its first entries."""
    start = next(decompressed_chunks(member))
    opening, *lines = start[: start.rindex(b"\n")].split(b"\n")
    entries = [line.rstrip(b",") for line in lines[:_MAX_LINES] if line.startswith(b"{")]
    return json.loads(opening + b",".join(entries) + b"]}")


def _nested(value: _Json) -> bool:
    members = value.values() if isinstance(value, dict) else value
    return any(isinstance(member, dict | list) and member for member in members)
