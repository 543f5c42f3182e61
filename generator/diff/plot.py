"""The plot of a report: how far prices moved, as columns of an SVG that the page's template draws."""

from dataclasses import dataclass

# A narrow phone's width, so that there the text has its own size.
WIDTH, HEIGHT = 360, 210
LEFT, RIGHT, TOP, BOTTOM = 38, 8, 26, 38
_TICKS = 4


@dataclass(frozen=True)
class Column:
    """One band of moves: its rectangle in the plot's units, and its words."""

    x: float
    y: float
    width: float
    height: float
    way: str
    label: str
    title: str


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: where, and what it says."""

    at: float
    label: str


@dataclass(frozen=True)
class Plot:
    """The distribution of one price's moves for one kind of product (or `all`)."""

    price: str
    kind: str
    moves: int
    columns: list[Column]
    x_ticks: list[Tick]
    y_ticks: list[Tick]


def plots(bands: list[dict]) -> list[Plot]:
    """The plots of the rows of the view distribution, in its order; those without any move have no columns."""
    grouped: dict[tuple[str, str], list[dict]] = {}
    for band in bands:
        grouped.setdefault((band["price"], band["kind"]), []).append(band)
    return [_plot(price, kind, some) for (price, kind), some in grouped.items()]


def _plot(price: str, kind: str, bands: list[dict]) -> Plot:
    moves = [band["moves"] for band in bands]
    if not any(moves):
        return Plot(price, kind, 0, [], [], [])
    step = _step(max(moves))
    top = step * -(-max(moves) // step)
    width = (WIDTH - LEFT - RIGHT) / len(bands)
    columns = [_column(band, LEFT + width * place, width, top) for place, band in enumerate(bands)]
    x_ticks = [Tick(round(LEFT + width * place, 2), _bound(band["low"])) for place, band in enumerate(bands) if place]
    y_ticks = [Tick(_y(many, top), f"{many:,}") for many in range(0, top + 1, step)]
    return Plot(price, kind, sum(moves), columns, x_ticks, y_ticks)


def _column(band: dict, x: float, width: float, top: int) -> Column:
    y = _y(band["moves"], top)
    way = "down" if band["low"] is None or band["low"] < 0 else "up"
    title = f"{_range(band)}: {band['moves']:,}"
    rounded = (round(value, 2) for value in (x + 1, y, width - 2, HEIGHT - BOTTOM - y))
    return Column(*rounded, way, _short(band["moves"]), title)


def _y(many: int, top: int) -> float:
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - many / top), 2)


def _step(most: int) -> int:
    """The least of 1, 2, 5, 10, 20, 50 … that leads to `most` in a few steps."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power * _TICKS >= most:
                return factor * power
        power *= 10


def _range(band: dict) -> str:
    if band["low"] is None:
        return f"{_signed(band['high'])} % and below"
    if band["high"] is None:
        return f"{_signed(band['low'])} % and above"
    return f"{_signed(band['low'])} to {_signed(band['high'])} %"


def _bound(percent: int) -> str:
    return str(percent).replace("-", "−")


def _signed(percent: int) -> str:
    return f"{percent:+}".replace("-", "−") if percent else "0"


def _short(many: int) -> str:
    if many < 1000:
        return str(many) if many else ""
    value, unit = (many / 1000, "k") if many < 999_500 else (many / 1_000_000, "M")
    return f"{value:.1f}{unit}" if value < 9.95 else f"{value:.0f}{unit}"
