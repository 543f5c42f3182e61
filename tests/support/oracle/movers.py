"""Movers: the largest moves of the market price between two days, product by product."""

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.support.oracle import games, market_price
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
    """Both prices of a product with their days and their finish; None where one is missing."""
    prices = {day: found for day, row in lake.guide.get(id_product, {}).items() if (found := market_price.of_row(row))}
    if day_now is None or (lake.as_of - day_now).days > 3 or day_now not in prices:
        return None
    now, finish = prices[day_now]
    for age in range(window, window + 4):
        day_then = day_now - timedelta(days=age)
        then, finish_then = prices.get(day_then, (None, None))
        if then is not None and finish_then == finish:
            move = {"id_product": id_product, "day_then": day_then, "then": then, "day_now": day_now, "now": now}
            return move | {"change": now - then, "change_pct": change_pct(now, then), "finish": finish}
    return None


def is_confirmed(lake: OracleLake, move: Row) -> bool:
    """Whether the other prices of the guide are evidence of the move."""
    rows, suffix = lake.guide[move["id_product"]], "_holo" if move["finish"] == "foil" else ""
    (low, low_then), (avg7, avg7_then), (avg30, avg30_then) = (
        (rows[move["day_now"]][f"{name}{suffix}"], rows[move["day_then"]][f"{name}{suffix}"])
        for name in ("low", "avg7", "avg30")
    )
    size = abs(Fraction(move["now"]) - Fraction(move["then"])) / Fraction(move["then"])

    def moved(old: Decimal | None, new: Decimal | None) -> Fraction | None:
        """By which part of the old value, and above 0 if the way of the move; None where that is unknown."""
        if old is None or new is None or old == 0:
            return None
        part = (Fraction(new) - Fraction(old)) / Fraction(old)
        return part if move["change"] > 0 else -part

    if not (_is_near(move["now"], avg7) and _is_near(move["now"], avg30) and _is_near(move["then"], avg30_then)):
        return False
    if (avg1 := rows[move["day_now"]][f"avg1{suffix}"]) and not _is_near(move["now"], avg1):
        return False
    if low and not low / 2 <= move["now"] <= 4 * low:
        return False
    by_low, by_avg7, by_avg30 = moved(low_then, low), moved(avg7_then, avg7), moved(avg30_then, avg30)
    if by_low is not None and by_low >= size / 4:
        return True
    if avg7 == avg30:  # the same few sales, counted twice
        return False
    return by_avg7 is not None and by_avg7 >= size / 4 and by_avg30 is not None and by_avg30 > 0


def _is_near(price: Decimal, average: Decimal | None) -> bool:
    return average is not None and average > 0 and average / 2 <= price <= average * 2


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
        "finish": move["finish"],
        "confirmed": is_confirmed(lake, move),
    }
