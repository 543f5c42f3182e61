"""The market: sums and indexes of sets and games, day by day over all singles."""

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from tests.support.oracle import games, market_price
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.rounding import change_pct, number, price
from tests.support.oracle.text import fold

Group = tuple[str, Any]  # ("set", the id) or ("game", the folded name)


class NoSuchGroup(Exception):
    """Neither a set nor a game with a day has this id or name."""


def listed(lake: OracleLake, query: dict[str, Any]) -> list[Row]:
    """Every row of /market in the order asked for."""
    groups = [group for group in every_group(lake) if group[0] == query["by"] and points(lake, group)]
    if query["game"]:
        groups = [group for group in groups if _game_of(lake, group) == fold(query["game"])]
    rows = {group: _row(lake, group) for group in groups}
    keys: dict[str, Callable[[Group], Any]] = {
        "name": lambda group: fold(lake.expansions[group[1]]["name"]) if group[0] == "set" else group[1],
        "value": lambda group: rows[group]["value"],
        "change_7d": lambda group: rows[group]["change_7d_pct"],
        "change_30d": lambda group: rows[group]["change_30d_pct"],
    }
    key = keys[query["sort"]]
    usual = "asc" if query["sort"] == "name" else "desc"
    without = sorted(group for group in groups if key(group) is None)
    with_key = sorted(sorted({*groups} - {*without}), key=key, reverse=usual == "desc")  # equal keys keep their order
    if query["order"] not in (None, usual):
        with_key.reverse()
    return [rows[group] for group in (*with_key, *without)]


def history(lake: OracleLake, query: dict[str, Any]) -> Row:
    text = query["set"]
    group: Group = ("game", fold(query["game"])) if text is None else ("set", int(text))
    if (text and len(text.lstrip("-")) > 18) or group not in every_group(lake) or not points(lake, group):
        raise NoSuchGroup
    since = lake.as_of - timedelta(days=query["days"] - 1) if query["days"] else date.min
    shown = [point for point in points(lake, group) if point["day"] >= since.isoformat()]
    return _names(lake, group) | {"points": shown}


@lru_cache(8)
def every_group(lake: OracleLake) -> dict[Group, list[int]]:
    """The singles of every group that has any, days or not."""
    groups: dict[Group, list[int]] = {}
    for id_, product in lake.products.items():
        expansion = product.get("id_expansion")
        if product["kind"] == "single" and expansion in lake.expansions:
            groups.setdefault(("set", expansion), []).append(id_)
            if game := games.of_product(lake, id_):
                groups.setdefault(("game", game), []).append(id_)
    return groups


@lru_cache(4096)
def points(lake: OracleLake, group: Group) -> list[Row]:
    singles = every_group(lake)[group]
    days = sorted({day for id_ in singles for day in lake.guide.get(id_, {})})
    found: list[Row] = []
    before: dict[int, tuple[Decimal, str]] = {}
    index = 100.0
    for day in days:
        rows = {id_: row for id_ in singles if (row := lake.guide.get(id_, {}).get(day))}
        prices = {id_: priced for id_, row in rows.items() if (priced := market_price.of_row(row))}
        if not prices:
            continue
        lows = _lows(rows, prices)
        both = [id_ for id_, (_, finish) in prices.items() if before.get(id_, (0, ""))[1] == finish]
        a, b = (int(100 * sum(of_day[id_][0] for id_ in both)) for of_day in (prices, before))
        if both:
            index = index * (a / b)
        before = prices
        found.append(
            {
                "day": day.isoformat(),
                "value": float(sum(price for price, _ in prices.values())),
                "priced": len(prices),
                "value_low": float(sum(lows)) if lows else None,
                "priced_low": len(lows),
                "index": number(price(index)),
            }
        )
    return found


def bulk_rows(lake: OracleLake) -> list[Row]:
    rows = [
        {"id_expansion": group[1] if group[0] == "set" else None, "game": _names(lake, group)["game"]}
        | point
        | {"day": date.fromisoformat(point["day"])}
        for group in every_group(lake)
        for point in points(lake, group)
    ]
    nulls_first = lambda value: (value is not None, value or 0)  # noqa: E731
    rows.sort(
        key=lambda row: (row["game"] is not None, row["game"] or "", nulls_first(row["id_expansion"]), row["day"])
    )
    return rows


def _lows(rows: dict[int, Row], prices: dict[int, tuple[Decimal, str]]) -> list[Decimal]:
    """The lowest prices on a day, of the foils where the market price is theirs."""
    lows = (row["low_holo" if prices.get(id_, (0, ""))[1] == "foil" else "low"] for id_, row in rows.items())
    return [low for low in lows if low is not None]


def _row(lake: OracleLake, group: Group) -> Row:
    last = points(lake, group)[-1]
    row = _names(lake, group) | last | {"singles": len(every_group(lake)[group])}
    for days in (1, 7, 30):
        row[f"change_{days}d_pct"], row[f"day_{days}d"] = _change(lake, group, days)
    return row


def _change(lake: OracleLake, group: Group, days: int) -> tuple[float, str] | tuple[None, None]:
    """The change of the index in percent, and the day that it compares with."""
    *_, last = by_day = {date.fromisoformat(point["day"]): point for point in points(lake, group)}
    for age in range(days, days + 4):
        if then := by_day.get(last - timedelta(days=age)):
            new, old = (Decimal(repr(point["index"])) for point in (by_day[last], then))
            change = number(change_pct(new, old))
            return (None, None) if change is None else (change, then["day"])
    return None, None


def _names(lake: OracleLake, group: Group) -> Row:
    kind, id_ = group
    key = _game_of(lake, group)
    name = next((game["name"] for game in games.listed(lake) if games.key(game["name"]) == key), None) if key else None
    return {"set": {"id": id_, "name": lake.expansions[id_]["name"]} if kind == "set" else None, "game": name}


def _game_of(lake: OracleLake, group: Group) -> str | None:
    return group[1] if group[0] == "game" else games.key(lake.expansions[group[1]].get("game"))
