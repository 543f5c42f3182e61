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
from edge_auth.builds.market import DIRECTIONS, WINDOWS
from edge_auth.live.open_build import OpenBuild
from edge_auth.store.codec import decompressed_chunks
from edge_auth.text import base_name

DAYS = 90  # of the line of a game's index
# The parameters whose values one build has and another lacks. One without a value in a build has no example there.
NAMES_OF_BUILDS = {"idProduct", "ids", "names", "q", "set", "number", "rarity", "game", "scheme", "values", "slug",
                   "name", "from", "to"}  # fmt: skip

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
    """A row of /movers with what its card shows."""

    mover: dict[str, Any]  # as the API writes it
    number: str | None
    image: str | None  # an address over https, or a path of this host
    low: float | None  # the lowest offer of the finish that moved, in euros
    hue: int  # the place of the game's colour in the style sheet, for a card without a picture


class GameIndex(NamedTuple):
    """The index of a game."""

    name: str
    newest: float
    change_7d_pct: float | None
    then: str | None  # the day that this change is against
    first: float  # on the first day of the line
    points: str  # the line, as `points` of a polyline in a drawing of 120 × 28


@dataclass(frozen=True)
class LiveExamples:
    """What the pages of the site take from a build."""

    # Example values of parameters by name. `q of listSets` is the value of `q` for that operation alone.
    values: Mapping[str, str] = field(default_factory=dict)
    answer: _Ask = lambda target: None  # to a path with its query; None if the build cannot answer it
    status: _Json = None
    games: Sequence[GameIndex] = ()
    moves: Sequence[Move] = ()  # the confirmed moves of the week
    sections: frozenset[str] = frozenset()  # entries of the navigation that this build has something to show for
    pictures: int = 0  # of the index of fingerprints


NO_EXAMPLES = LiveExamples()


def live_examples(build: OpenBuild) -> LiveExamples:
    """Return the examples of a build."""
    answer = partial(_answer, client_of(build))
    return LiveExamples(
        values=dict(_values(build, answer)),
        answer=answer,
        status=json.loads(build.status()),
        games=game_indexes(answer),
        moves=[move for direction in ("up", "down") for move in _moves(direction, answer)],
        sections=frozenset(name for name, paths in _SECTIONS.items() if any(map(_has_rows, map(answer, paths)))),
        pictures=answer(f"{API}fingerprints")["count"],
    )


def game_indexes(answer: _Ask) -> list[GameIndex]:
    """Return the indexes of the games of most value, without those whose prices have stopped."""
    rows = _rows(answer, f"market?by=game&limit={_MOST_GAMES}")
    return [index for row in rows if (index := _game_index(row, answer))]


def _rows(answer: _Ask, target: str) -> list[dict[str, Any]]:
    """Return the rows of a list, which may lack the answer."""
    rows: list[dict[str, Any]] = (answer(f"{API}{target}") or {"data": []})["data"]
    return rows


def shown(value: _Json, indent: int = 0, width: int = 84) -> str:
    """Return JSON for people: indented, with short arrays and objects on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or (len(line) + indent <= width and not _nested(value)):
        return line
    members = [(f'"{name}": ', member) for name, member in value.items()] if isinstance(value, dict) else [
        ("", member) for member in value]  # fmt: skip
    lines = [" " * (indent + 2) + name + shown(member, indent + 2, width) for name, member in members]
    return line[0] + "\n" + ",\n".join(lines) + "\n" + " " * indent + line[-1]


def cut(text: str) -> str:
    """Return a text without the lines beyond those that a page shows."""
    lines = text.splitlines()
    return text if len(lines) <= _MAX_LINES + 1 else "\n".join([*lines[:_MAX_LINES], "…"])


def _moves(direction: str, answer: _Ask) -> list[Move]:
    """Return the largest confirmed moves of 7 days in percent.

    The averages of a week and a month differ. Equal ones are of the same few sales.
    """
    floor = f"min_price={_LEAST_PRICE}&limit={_MOVE_CANDIDATES}"
    movers = _rows(answer, f"movers?confirmed=true&direction={direction}&{floor}")
    cards = _rows(answer, "cards?ids=" + ",".join(str(mover["id_product"]) for mover in movers)) if movers else []
    finishes = (card["price_guide"]["holo"] if mover["finish"] == "foil" else card["price_guide"]
                for mover, card in zip(movers, cards, strict=True))  # fmt: skip
    rows = (row for row in zip(movers, cards, finishes, strict=True) if row[2]["avg7"] != row[2]["avg30"])
    return [_move(*row) for row in islice(rows, _MOVES_EACH_WAY)]


def _move(mover: dict[str, Any], card: dict[str, Any], guide: dict[str, Any]) -> Move:
    image = card["image"] or ""
    shown = image.startswith(("https://", "/")) and not image.startswith("//")
    game = (card["category"] or "").rpartition(" ")[0]  # a card does not name its game, but its category begins with it
    return Move(mover, card["number"], image if shown else None, guide["low"], sum(map(ord, game)) % _HUES)


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
    games = [json.loads(line)["name"] for line in build.games]
    yield from (("game", name) for name in games[:1] if len(name) <= _MAX_NAME_CHARACTERS)
    market = _rows(answer, "market?limit=1")
    yield "set of getMarketHistory", str(market[0]["set"]["id"]) if market else ""  # an id, where others have a name
    files = (answer(f"{API}bulk") or {"files": []})["files"]
    yield from (("name of getBulkFile", file["name"]) for file in files[:1])
    watched = [json.loads(line) for line in build.watchlist]
    best = sorted(watched, key=lambda item: (item["change_7d_pct"] is None, "/" in item["slug"]))
    yield from (("slug", item["slug"]) for item in best[:1])


def _example_card(answer: _Ask) -> _Json:
    """Return the single that rose most, with a picture if possible; else the most expensive product, or None."""
    movers = _rows(answer, f"movers?kind=single&min_price=5&limit={_EXAMPLE_CANDIDATES}")
    risen = ",".join(str(mover["id_product"]) for mover in movers)
    cards = _rows(answer, f"cards?ids={risen}" if risen else "cards?limit=1")
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
