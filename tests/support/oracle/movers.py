"""Movers: the largest moves of the trend between two days, product by product."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tests.support.oracle import games
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.rounding import change_pct, number
from tests.support.oracle.text import fold

LONGEST = 500


def listed(lake: OracleLake, query: dict[str, Any]) -> list[Row]:
    window = int(query["window"].removesuffix("d"))
    days = {}
    moves = []
    for id_, product in lake.products.items():
        game = games.of_product(lake, id_)
        if (query["game"] and game != fold(query["game"])) or query["kind"] not in ("all", product["kind"]):
            continue
        if game not in days:
            days[game] = games.guide_day(lake, game)
        moves.append(_move(lake, id_, days[game], window))
    if query["confirmed"] == "true":
        moves = [move for move in moves if move and is_confirmed(lake, move)]
    wanted = [move for move in moves if move and _is_wanted(move, query)]
    size = "change_pct" if query["by"] == "percent" else "change"
    wanted.sort(key=lambda move: (-abs(move[size]), move["id_product"]))
    return [_shown(lake, move) for move in wanted[:LONGEST]]


def week_changes(lake: OracleLake) -> dict[int, tuple[float, str]]:
    """How much each product's price changed over 7 days, in percent, and since when, by id, where two prices tell."""
    days = {game: games.guide_day(lake, game) for game in {games.of_product(lake, id_) for id_ in lake.products}}
    moves = {id_: _move(lake, id_, days[games.of_product(lake, id_)], 7) for id_ in sorted(lake.products)}
    return {id_: (number(move["change_pct"]), move["day_then"].isoformat()) for id_, move in moves.items() if move}


def _move(lake: OracleLake, id_product: int, day_now: date | None, window: int) -> Row | None:
    """Both prices of a product with their days; None where one is missing or the old one is 0."""
    trends = {day: row["trend"] for day, row in lake.guide.get(id_product, {}).items() if row["trend"] is not None}
    if day_now is None or (lake.as_of - day_now).days > 3 or day_now not in trends:
        return None
    for age in range(window, window + 4):
        then = trends.get(day_now - timedelta(days=age))
        if then is not None:
            return _with_change(id_product, day_now - timedelta(days=age), then, day_now, trends[day_now])
    return None


def _with_change(id_product: int, day_then: date, then: Decimal, day_now: date, now: Decimal) -> Row | None:
    if then == 0:
        return None
    move = {"id_product": id_product, "day_then": day_then, "then": then, "day_now": day_now, "now": now}
    return move | {"change": now - then, "change_pct": change_pct(now, then)}


def is_confirmed(lake: OracleLake, move: Row) -> bool:
    """Whether the other prices of the guide say the same as the trend."""
    rows = lake.guide[move["id_product"]]
    then, now = rows[move["day_then"]], rows[move["day_now"]]
    sign = 1 if move["change"] > 0 else -1
    if not now["avg7"] or not now["avg30"] or then["avg7"] is None:
        return False
    if not all(average / 2 <= move["now"] <= average * 2 for average in (now["avg7"], now["avg30"])):
        return False
    low_moved = None not in (then["low"], now["low"]) and (now["low"] - then["low"]) * sign < 0
    return (now["avg7"] - then["avg7"]) * sign >= 0 and not low_moved


def _is_wanted(move: Row, query: dict[str, Any]) -> bool:
    if move["then"] < Decimal(query["min_price"]):
        return False
    return move["change"] > 0 if query["direction"] == "up" else move["change"] < 0


def _shown(lake: OracleLake, move: Row) -> Row:
    product = lake.products[move["id_product"]]
    expansion = product.get("id_expansion")
    return {
        "id_product": move["id_product"],
        "name": product["name"],
        "kind": product["kind"],
        "set": {"id": expansion, "name": lake.expansions.get(expansion, {}).get("name")},
        "day_then": move["day_then"].isoformat(),
        "then": number(move["then"]),
        "day_now": move["day_now"].isoformat(),
        "now": number(move["now"]),
        "change": number(move["change"]),
        "change_pct": number(move["change_pct"]),
        "confirmed": is_confirmed(lake, move),
    }
