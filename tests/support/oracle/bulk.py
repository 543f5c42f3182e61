"""Bulk files: the rows of each table, computed from the lake by brute force."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isqrt

from tests.support.oracle import games, market, market_price, watchlist
from tests.support.oracle.cards import Cards, market_url
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.rounding import change_pct, number

GUIDE = tuple(f"{name}{holo}" for holo in ("", "_holo") for name in ("low", "avg", "trend", "avg1", "avg7", "avg30"))
LISTING = ("available", "from_price", "available_foil", "from_price_foil")
COLUMNS = {
    "products": "id_product name kind category game id_expansion set_name rarity number image image_large "
    "cardmarket_url date_added",
    "sets": "id name game products singles cardmarket_url",
    "price_guide": f"id_product day {' '.join(GUIDE)}",
    "listings": f"id_product day {' '.join(LISTING)}",
    "filtered": "id_product day lowest offers",
    "watchlist": "slug day lowest_price checks",
    "identifiers": "id_product scheme value",
    "market": "id_expansion game day value priced value_low priced_low index",
}

PRICES = [
    *("id_product", "name", "game", "kind", "set_id", "set", "number", "rarity", "day", "price", "finish"),
    *("low", "avg7", "avg30", "change_7d_pct", "change_30d_pct"),
    *("low_30d", "high_30d", "low_365d", "high_365d", "deviation_30d", "url"),
]


def prices(lake: OracleLake) -> list[Row]:
    """Every row of the table for spreadsheets, before texts are made safe for them."""
    return [row for id_ in sorted(lake.products) if (row := _prices_of(lake, id_))]


def _prices_of(lake: OracleLake, id_: int) -> Row | None:
    guide = lake.guide.get(id_, {})
    day = max(guide, default=None)
    priced = market_price.of_row(guide[day]) if day else None
    if day is None or priced is None:
        return None
    price, finish = priced
    found = {then: market_price.of_row(row) for then, row in guide.items()}
    same = {then: price for then, (price, other) in ((d, p) for d, p in found.items() if p) if other == finish}
    month, year = ([p for d, p in same.items() if d > day - timedelta(days=days)] for days in (30, 365))
    suffix = "_holo" if finish == "foil" else ""
    card, product = Cards(lake).card(id_), _product(lake, id_)
    values = (
        *(product[name] for name in ("id_product", "name", "game", "kind", "id_expansion", "set_name")),
        *(product["number"], product["rarity"], day, number(price), finish),
        *(number(guide[day][f"{name}{suffix}"]) for name in ("low", "avg7", "avg30")),
        *(_change(same, day, days) for days in (7, 30)),
        *(number(pick(prices)) for prices in (month, year) for pick in (min, max)),
        *(_deviation(month), card["cardmarket_url"]),
    )
    return dict(zip(PRICES, values, strict=True))


def _change(prices: dict[date, Decimal], day: date, days: int) -> float | None:
    for age in range(days, days + 4):
        if (then := prices.get(day - timedelta(days=age))) is not None:
            return number(change_pct(prices[day], then))
    return None


def _deviation(prices: list[Decimal]) -> float | None:
    """The standard deviation of the population, to 2 decimals, half away from zero: by whole numbers."""
    if len(prices) < 5:
        return None
    mean = sum(map(Fraction, prices)) / len(prices)
    variance = sum((Fraction(price) - mean) ** 2 for price in prices) / len(prices)
    halves = isqrt(int(variance * 40_000))  # of a cent, cut
    return number(Decimal((halves + 1) // 2).scaleb(-2))


def rows(lake: OracleLake, table: str) -> list[Row]:
    """Every row of a table in its order, over all its files."""
    if table in ("products", "sets"):
        return [_product(lake, id_) for id_ in sorted(lake.products)] if table == "products" else _sets(lake)
    if table == "identifiers":
        return [dict(zip(COLUMNS[table].split(), row, strict=True)) for row in sorted(lake.identifiers)]
    if table == "market":
        return market.bulk_rows(lake)
    if table == "watchlist":
        return sorted(_watched(lake), key=lambda row: (row["slug"], row["day"]))
    source = {"price_guide": lake.guide, "listings": lake.listings, "filtered": lake.checks}[table]
    found = [(id_, day, row) for id_, days in source.items() for day, row in days.items()]
    make = _check if table == "filtered" else _guide if table == "price_guide" else _listing
    return [{"id_product": id_, "day": day} | make(lake, id_, day, row) for id_, day, row in sorted(found, key=_key)]


def _key(found: tuple[int, date, Row]) -> tuple[int, date]:
    return found[:2]


def _guide(_: OracleLake, __: int, ___: date, row: Row) -> Row:
    return {name: number(row[name]) for name in GUIDE}


def _listing(_: OracleLake, __: int, ___: date, row: Row) -> Row:
    return {name: row[name] if name.startswith("available") else number(row[name]) for name in LISTING}


def _check(lake: OracleLake, id_: int, day: date, _: Row) -> Row:
    [found] = [point for point in Cards(lake).detail(id_, None)["history"]["filtered"] if point["day"] == str(day)]
    return {"lowest": found["lowest"], "offers": found["offers"]}


def _product(lake: OracleLake, id_: int) -> Row:
    row = lake.products[id_]
    card = Cards(lake).card(id_)
    added = row.get("date_added")
    return {
        **{name: card[name] for name in ("id_product", "name", "kind", "category")},
        "game": _game(lake, games.of_product(lake, id_)),
        "id_expansion": row.get("id_expansion"),
        "set_name": card["set"]["name"],
        **{name: card[name] for name in ("rarity", "number", "image", "image_large", "cardmarket_url")},
        "date_added": None if added is None else datetime.fromtimestamp(added, UTC).replace(tzinfo=None),
    }


def _sets(lake: OracleLake) -> list[Row]:
    products = lake.products.values()
    return [
        {
            "id": id_,
            "name": row["name"],
            "game": _game(lake, games.key(row.get("game"))),
            "products": sum(product.get("id_expansion") == id_ for product in products),
            "singles": sum(product.get("id_expansion") == id_ and product["kind"] == "single" for product in products),
            "cardmarket_url": market_url(row.get("url")),
        }
        for id_, row in sorted(lake.expansions.items())
    ]


def _game(lake: OracleLake, key: str | None) -> str | None:
    return next((game["name"] for game in games.listed(lake) if games.key(game["name"]) == key), None) if key else None


def _watched(lake: OracleLake) -> list[Row]:
    return [
        {"slug": slug, "day": date.fromisoformat(point["date"]), "lowest_price": point["price"], "checks": checks}
        for slug in lake.watchlist
        for point in watchlist.history(lake, slug, "daily", "all")["points"]
        for checks in [sum(str(check["day"]) == point["date"] for check in lake.watch_checks[slug])]
    ]
