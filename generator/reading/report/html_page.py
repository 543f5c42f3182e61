"""The facts of a build as one HTML page."""

from collections.abc import Iterator

from generator.reading.html.render import render
from generator.reading.html.plot import Bar, Plot, plot
from generator.reading.report.summary import Facts

PRICES = {"trend": "Trend", "low": "Low", "filtered": "Lowest under the seller filter"}
SOURCES = {
    "price_guide": "Price guide",
    "listings": "List pages",
    "filtered_checks": "Filtered checks",
    "watch_checks": "Watch checks",
}


def as_html(facts: Facts, beside: str | None = None) -> Iterator[str]:
    """The page in pieces.

    Args:
        beside: where the page of what the build changed lies, to link to.
    """
    yield from render(
        "report",
        {"source": lambda table: SOURCES.get(table, table), "days": _days},
        facts=facts,
        tiles=_tiles(facts),
        prices=PRICES,
        distributions={price: _distributions(facts, price) for price in PRICES},
        ages={source: _ages(facts, source) for source in dict.fromkeys(row["source"] for row in facts.counts.ages)},
        products=_products(facts),
        seconds=_seconds(facts),
        verdict=_verdict(facts),
        beside=beside,
    )


def _tiles(facts: Facts) -> dict[str, str]:
    """The numbers that head the page."""
    fresh, record = facts.record["freshness"], facts.record
    counts = {
        "products": fresh["catalogue"]["products"],
        "singles": fresh["catalogue"]["singles"],
        "sealed": fresh["catalogue"]["sealed"],
        "sets": fresh["catalogue"]["sets"],
        "tracked": fresh["watchlist"]["products"],
        "objects": sum(record["objects"].values()),
    }
    told = {name: f"{count:,}" for name, count in counts.items()}
    return told | {"megabytes": f"{sum(record['bytes'].values()) / 1e6:,.1f}", "gates": _verdict(facts)}


def _verdict(facts: Facts) -> str:
    """What the gates said, in a word."""
    if facts.judgement is None:
        return "not asked"
    stopped = sum(1 for verdict in facts.judgement["verdicts"] if verdict["breached"] and not verdict["forced"])
    return f"{stopped} breached" if stopped else "passed"


def _distributions(facts: Facts, price: str) -> list[Plot]:
    rows = [row for row in facts.counts.distribution if row["price"] == price]
    kinds = dict.fromkeys(row["kind"] for row in rows)
    return [_distribution(price, kind, [row for row in rows if row["kind"] == kind]) for kind in kinds]


def _distribution(price: str, kind: str, rows: list[dict]) -> Plot:
    priced = sum(row["products"] for row in rows)
    bars = [Bar(row["products"], f"{_band(row)}: {row['products']:,}", before=f"{row['low']:g}") for row in rows]
    label = f"{priced:,} prices {price} ({kind}), by euros"
    return plot(label, bars, x_axis="euros", y_axis="products", view=kind, none="No product has this price.")


def _band(row: dict) -> str:
    return f"{row['low']:g} euros and above" if row["high"] is None else f"{row['low']:g} to {row['high']:g} euros"


def _ages(facts: Facts, source: str) -> Plot:
    rows = [row for row in facts.counts.ages if row["source"] == source]
    bars = [Bar(row["products"], f"{_age(row)}: {row['products']:,}", below=_below(row), way=_way(row)) for row in rows]
    label = f"How many days before the as-of day the newest row of {source} is, by products"
    return plot(label, bars, x_axis="days before the as-of day", y_axis="products", none="There are no products.")


def _way(row: dict) -> str:
    return "down" if row["low"] is None or row["low"] > 2 else "up"


def _below(row: dict) -> str:
    if row["low"] is None:
        return "none"
    if row["high"] is None:
        return f"{row['low']}+"
    return f"{row['low']}" if row["high"] == row["low"] + 1 else f"{row['low']}–{row['high'] - 1}"


def _age(row: dict) -> str:
    return "no row at all" if row["low"] is None else f"{_below(row)} days"


def _products(facts: Facts) -> Plot:
    bars = [
        Bar(
            past.products,
            f"{past.build}: {past.products:,} products",
            below=_day(place, len(facts.history), past.as_of),
        )
        for place, past in enumerate(facts.history)
    ]
    return plot("Products of each build of the history", bars, y_axis="products", none="No build has products.")


def _seconds(facts: Facts) -> Plot:
    nights = [past for past in facts.history if past.seconds is not None]
    bars = [
        Bar(round(past.seconds), f"{past.run}: {past.seconds:,.1f} s", below=_day(place, len(nights), past.as_of))
        for place, past in enumerate(nights)
    ]
    return plot("Seconds that each night took", bars, y_axis="seconds", none="No night of a second or more is told of.")


def _day(place: int, many: int, day: str) -> str:
    """Month and day, at so many columns that the words do not touch."""
    return day[5:] if (many - 1 - place) % max(1, -(-many // 7)) == 0 else ""


def _days(hours: float) -> str:
    return f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} d"
