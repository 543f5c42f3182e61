"""The confirmed moves of the week, for the page at /: cards that rose and fell much, with their pictures."""

from collections.abc import Callable
from typing import Any, NamedTuple

from edge_auth.api.endpoints import API

_EACH_WAY = 4
_CANDIDATES = 12  # of each direction: those with a picture come first
_HUES = 8  # of the style sheet


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


def week_moves(answer: Callable[[str], Any]) -> list[Move]:
    """Return confirmed moves of 7 days, those up before those down.

    Args:
        answer: Returns the answer to a path of the API, or None.
    """
    return [move for direction in ("up", "down") for move in _moves(direction, answer)]


def _moves(direction: str, answer: Callable[[str], Any]) -> list[Move]:
    movers = answer(f"{API}movers?confirmed=true&direction={direction}&limit={_CANDIDATES}")["data"]
    if not movers:
        return []
    cards = answer(f"{API}cards?ids=" + ",".join(str(mover["id_product"]) for mover in movers))["data"]
    moves = [_move(mover, card) for mover, card in zip(movers, cards, strict=True)]
    return sorted(moves, key=lambda move: move.image is None)[:_EACH_WAY]


def _move(mover: dict[str, Any], card: dict[str, Any]) -> Move:
    image = card["image"] or ""
    shown = image.startswith(("https://", "/")) and not image.startswith("//")
    game = (card["category"] or "").rpartition(" ")[0]  # a card does not name its game, but its category begins with it
    guide = card["price_guide"]
    low = (guide["holo"] if mover["finish"] == "foil" else guide)["low"]
    return Move(mover, card["number"], image if shown else None, low, sum(map(ord, game)) % _HUES)
