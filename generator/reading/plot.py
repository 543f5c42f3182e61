"""Lays out bar charts, which the macro `plot_svg` of the templates draws as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

# Sizes in the units of the SVG. The width is that of a narrow phone, so that the text there has its natural size.
WIDTH, HEIGHT = 360, 210
LEFT, RIGHT, TOP, BOTTOM = 38, 8, 26, 38
_MAX_TICKS, _MAX_BAR_WIDTH, _MIN_LABEL_WIDTH = 4, 48.0, 18


@dataclass(frozen=True)
class Bar:
    """A bar of a plot.

    Attributes:
        count: The height of the bar.
        title: The tooltip.
        edge_label: The label on the axis between this bar and the one before. The first bar's is not shown.
        label: The label below the bar.
        color: `up`, `down` or `plain`.
    """

    count: int
    title: str
    edge_label: str = ""
    label: str = ""
    color: str = "plain"


@dataclass(frozen=True)
class Rectangle:
    """A bar as a rectangle in the units of the SVG. `label` is the number above it."""

    x: float
    y: float
    width: float
    height: float
    color: str
    label: str
    title: str


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: its position and its label."""

    at: float
    label: str


@dataclass(frozen=True)
class Plot:
    """A bar chart with its axes.

    Attributes:
        label: The text for screen readers.
        x_axis, y_axis: The titles of the axes.
        view: The value of the page's filter that shows this plot; None if the plot is always shown.
        placeholder: The text of a plot without bars.
    """

    label: str
    x_axis: str
    y_axis: str
    view: str | None
    placeholder: str
    rectangles: list[Rectangle]
    x_ticks: list[Tick]
    y_ticks: list[Tick]


def plot(
    label: str,
    bars: Sequence[Bar],
    *,
    x_axis: str = "",
    y_axis: str = "",
    view: str | None = None,
    placeholder: str,
) -> Plot:
    """Lay out a plot. It has no rectangles if all bars are 0."""
    highest = max((bar.count for bar in bars), default=0)
    if not highest:
        return Plot(label, x_axis, y_axis, view, placeholder, [], [], [])
    step = _tick_step(highest)
    top = step * -(-highest // step)
    width = (WIDTH - LEFT - RIGHT) / len(bars)
    edges = [LEFT + width * place for place in range(len(bars))]
    rectangles = [_rectangle(bar, edge, width, top) for bar, edge in zip(bars, edges, strict=True)]
    y_ticks = [Tick(_y(at, top), short_count(at) or "0") for at in range(0, top + 1, step)]
    return Plot(label, x_axis, y_axis, view, placeholder, rectangles, _x_ticks(bars, edges, width), y_ticks)


def _x_ticks(bars: Sequence[Bar], edges: Sequence[float], width: float) -> list[Tick]:
    inner = zip(bars[1:], edges[1:], strict=True)
    ticks = [Tick(round(edge, 2), bar.edge_label) for bar, edge in inner if bar.edge_label]
    return ticks + [
        Tick(round(edge + width / 2, 2), bar.label) for bar, edge in zip(bars, edges, strict=True) if bar.label
    ]


def _rectangle(bar: Bar, x: float, width: float, top: int) -> Rectangle:
    y = _y(bar.count, top)
    gap = max(min(2.0, width / 5), width - _MAX_BAR_WIDTH)
    label = short_count(bar.count) if width > _MIN_LABEL_WIDTH else ""
    return Rectangle(
        x=round(x + gap / 2, 2),
        y=round(y, 2),
        width=round(width - gap, 2),
        height=round(HEIGHT - BOTTOM - y, 2),
        color=bar.color,
        label=label,
        title=bar.title,
    )


def _y(count: int, top: int) -> float:
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - count / top), 2)


def _tick_step(highest: int) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50 … that reaches `highest` in at most `_MAX_TICKS` steps."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power * _MAX_TICKS >= highest:
                return factor * power
        power *= 10


def short_count(count: int) -> str:
    """Format a count for a narrow place, such as 1.2k; '' for 0."""
    if count < 1000:
        return str(count) if count else ""
    value, unit = (count / 1000, "k") if count < 999_500 else (count / 1_000_000, "M")
    return f"{value:.1f}{unit}" if value < 9.95 and value % 1 else f"{value:.0f}{unit}"
