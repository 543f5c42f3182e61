"""Lays out bar charts, which the macro `plot_svg` of the templates draws as SVG."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

# Sizes in the units of the SVG. The width is that of a narrow phone, so that the text there has its natural size.
WIDTH, HEIGHT = 360, 210
LEFT, RIGHT, TOP, BOTTOM = 38, 8, 26, 38
_MAX_TICKS, _MAX_BAR_WIDTH, _MIN_LABEL_WIDTH = 4, 48.0, 18


@dataclass(frozen=True)
class Bar:
    """A bar of a plot with its tooltip.

    Attributes:
        edge_label: The label on the axis between this bar and the one before. The first bar's is not shown.
        label: The label below the bar.
        color: `up`, `down` or `plain`.
    """

    count: int
    title: str
    edge_label: str = ""
    label: str = ""
    color: str = "plain"


class Rectangle(NamedTuple):
    """A bar in the units of the SVG. `label` is the number above it."""

    x: float
    y: float
    width: float
    height: float
    color: str
    label: str
    title: str


@dataclass(frozen=True)
class Plot:
    """A bar chart with its axes. It has no rectangles if all bars are 0.

    Attributes:
        label: The text for screen readers.
        view: The value of the page's filter that shows this plot; None if the plot is always shown.
        x_ticks, y_ticks: The marks of an axis: position and label.
    """

    label: str
    x_axis: str
    y_axis: str
    view: str | None
    placeholder: str
    rectangles: Sequence[Rectangle] = ()
    x_ticks: Sequence[tuple[float, str]] = ()
    y_ticks: Sequence[tuple[float, str]] = ()


def plot(
    label: str, bars: Sequence[Bar], *, x_axis: str = "", y_axis: str = "", view: str | None = None, placeholder: str
) -> Plot:
    """Lay out a plot."""
    highest = max((bar.count for bar in bars), default=0)
    if not highest:
        return Plot(label, x_axis, y_axis, view, placeholder)
    steps = (step * 10**power for power in itertools.count() for step in (1, 2, 5))
    step = next(step for step in steps if step * _MAX_TICKS >= highest)
    top, width = step * -(-highest // step), (WIDTH - LEFT - RIGHT) / len(bars)
    rectangles = [_rectangle(bar, LEFT + width * place, width, top) for place, bar in enumerate(bars)]
    x_ticks = [(LEFT + width * place, bar.edge_label) for place, bar in enumerate(bars) if place]
    x_ticks += [(LEFT + width * (place + 0.5), bar.label) for place, bar in enumerate(bars)]
    y_ticks = [(_y(at, top), _short_count(at) or "0") for at in range(0, top + 1, step)]
    shown = [(round(at, 2), text) for at, text in x_ticks if text]
    return Plot(label, x_axis, y_axis, view, placeholder, rectangles, shown, y_ticks)


def _rectangle(bar: Bar, x: float, width: float, top: int) -> Rectangle:
    y, gap = _y(bar.count, top), max(min(2.0, width / 5), width - _MAX_BAR_WIDTH)
    label = _short_count(bar.count) if width > _MIN_LABEL_WIDTH else ""
    left, across, down = (round(at, 2) for at in (x + gap / 2, width - gap, HEIGHT - BOTTOM - y))
    return Rectangle(left, y, across, down, bar.color, label, bar.title)


def _y(count: int, top: int) -> float:
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - count / top), 2)


def _short_count(count: int) -> str:
    """Format a count for a narrow place, such as 1.2k; '' for 0."""
    if count < 1000:
        return str(count) if count else ""
    value, unit = (count / 1000, "k") if count < 999_500 else (count / 1_000_000, "M")
    return f"{value:.1f}{unit}" if value < 9.95 and value % 1 else f"{value:.0f}{unit}"
