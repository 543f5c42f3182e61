"""The plots of a diff: how far prices moved, in bands of percent."""

from generator.reading.html.plot import Bar, Plot, plot


def plots(bands: list[dict]) -> dict[str, list[Plot]]:
    """The plots of the rows of the view distribution by price, in its order."""
    grouped: dict[tuple[str, str], list[dict]] = {}
    for band in bands:
        grouped.setdefault((band["price"], band["kind"]), []).append(band)
    found: dict[str, list[Plot]] = {}
    for (price, kind), some in grouped.items():
        found.setdefault(price, []).append(_plot(price, kind, some))
    return found


def _plot(price: str, kind: str, bands: list[dict]) -> Plot:
    moves = sum(band["moves"] for band in bands)
    label = f"{moves:,} moves of the price {price} ({kind}), by how many percent"
    axes = {"x_axis": "change in percent", "y_axis": "prices"}
    return plot(label, list(map(_bar, bands)), **axes, view=kind, none="No price moved.")


def _bar(band: dict) -> Bar:
    way = "down" if band["low"] is None or band["low"] < 0 else "up"
    before = "" if band["low"] is None else str(band["low"]).replace("-", "−")
    return Bar(band["moves"], f"{_range(band)}: {band['moves']:,}", before=before, way=way)


def _range(band: dict) -> str:
    if band["low"] is None:
        return f"{_signed(band['high'])} % and below"
    if band["high"] is None:
        return f"{_signed(band['low'])} % and above"
    return f"{_signed(band['low'])} to {_signed(band['high'])} %"


def _signed(percent: int) -> str:
    return f"{percent:+}".replace("-", "−") if percent else "0"
