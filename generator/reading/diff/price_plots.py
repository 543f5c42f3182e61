"""The plots of a diff: how many prices moved by how many percent."""

from typing import Any

from generator.reading.html.plot import Bar, Plot, plot

# A row of the view `distribution`.
_Band = dict[str, Any]


def price_plots(bands: list[_Band]) -> dict[str, list[Plot]]:
    """Return the plots of each price, one per kind of product, in the order of the view `distribution`."""
    groups: dict[tuple[str, str], list[_Band]] = {}
    for band in bands:
        groups.setdefault((band["price"], band["kind"]), []).append(band)
    plots: dict[str, list[Plot]] = {}
    for (price, kind), group in groups.items():
        plots.setdefault(price, []).append(_plot(price, kind, group))
    return plots


def _plot(price: str, kind: str, bands: list[_Band]) -> Plot:
    moves = sum(band["moves"] for band in bands)
    return plot(
        f"{moves:,} moves of the price {price} ({kind}), by percent",
        [_bar(band) for band in bands],
        x_axis="change in percent",
        y_axis="prices",
        view=kind,
        placeholder="No price moved.",
    )


def _bar(band: _Band) -> Bar:
    color = "down" if band["low"] is None or band["low"] < 0 else "up"
    edge_label = "" if band["low"] is None else str(band["low"]).replace("-", "−")
    return Bar(band["moves"], f"{_range(band)}: {band['moves']:,}", edge_label=edge_label, color=color)


def _range(band: _Band) -> str:
    if band["low"] is None:
        return f"{_signed(band['high'])} % and below"
    if band["high"] is None:
        return f"{_signed(band['low'])} % and above"
    return f"{_signed(band['low'])} to {_signed(band['high'])} %"


def _signed(percent: int) -> str:
    return f"{percent:+}".replace("-", "−") if percent else "0"
