"""Plots of counts: columns of an SVG that the template's macro `plot_svg` draws."""

from collections.abc import Sequence
from dataclasses import dataclass

# A narrow phone's width, so that there the text has its own size.
WIDTH, HEIGHT = 360, 210
LEFT, RIGHT, TOP, BOTTOM = 38, 8, 26, 38
_TICKS, _WIDEST = 4, 48.0


@dataclass(frozen=True)
class Bar:
    """What a column shows.

    Attributes:
        many: how high it is.
        title: what is said of it when it is pointed at.
        before: what stands on the axis between this column and the one before; the first one's is not shown.
        below: what stands under the column.
        way: its colour: up, down or plain.
    """

    many: int
    title: str
    before: str = ""
    below: str = ""
    way: str = "plain"


@dataclass(frozen=True)
class Column:
    """A bar as a rectangle in the plot's units, with the number over it."""

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
    """Columns with their axes.

    Attributes:
        label: what a reader who sees no picture is told.
        x_axis, y_axis: what the axes show.
        view: the choice of the page's filter with which it is shown; None: with every one.
        none: what is said instead where there is nothing to show.
    """

    label: str
    x_axis: str
    y_axis: str
    view: str | None
    none: str
    columns: list[Column]
    x_ticks: list[Tick]
    y_ticks: list[Tick]


def plot(
    label: str, bars: Sequence[Bar], *, x_axis: str = "", y_axis: str = "", view: str | None = None, none: str
) -> Plot:
    """The plot of some bars; one without columns where all of them are 0."""
    most = max((bar.many for bar in bars), default=0)
    if not most:
        return Plot(label, x_axis, y_axis, view, none, [], [], [])
    step = _step(most)
    top = step * -(-most // step)
    width = (WIDTH - LEFT - RIGHT) / len(bars)
    edges = [LEFT + width * place for place in range(len(bars))]
    columns = [_column(bar, edge, width, top) for bar, edge in zip(bars, edges, strict=True)]
    x_ticks = [Tick(round(edge, 2), bar.before) for bar, edge in zip(bars[1:], edges[1:], strict=True) if bar.before]
    x_ticks += [Tick(round(edge + width / 2, 2), bar.below) for bar, edge in zip(bars, edges, strict=True) if bar.below]
    y_ticks = [Tick(_y(at, top), short(at) or "0") for at in range(0, top + 1, step)]
    return Plot(label, x_axis, y_axis, view, none, columns, x_ticks, y_ticks)


def _column(bar: Bar, x: float, width: float, top: int) -> Column:
    y = _y(bar.many, top)
    gap = max(min(2.0, width / 5), width - _WIDEST)
    rounded = (round(value, 2) for value in (x + gap / 2, y, width - gap, HEIGHT - BOTTOM - y))
    return Column(*rounded, bar.way, short(bar.many) if width > 18 else "", bar.title)


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


def short(many: int) -> str:
    """A count in a narrow place; nothing for 0."""
    if many < 1000:
        return str(many) if many else ""
    value, unit = (many / 1000, "k") if many < 999_500 else (many / 1_000_000, "M")
    return f"{value:.1f}{unit}" if value < 9.95 and value % 1 else f"{value:.0f}{unit}"
