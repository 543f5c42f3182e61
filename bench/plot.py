"""Bar plots on a logarithmic scale as SVG: a group per case, a bar per server."""

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

from bench.stats import Spread

_WIDTH, _LEFT, _RIGHT = 760, 250, 80
_BAR, _GAP, _TITLE = 16, 4, 26
_COLOURS = ("#1668b8", "#c8571b", "#3f8f45", "#8a4fae", "#8c6d1f", "#5b6770", "#b0326b")

Group = tuple[str, Sequence[tuple[str, Spread]]]


def bars(title: str, unit: str, groups: Sequence[Group]) -> str:
    """Return the plot of groups of named values, each above 0; whiskers show the spread.

    A name has the same colour in every group.
    """
    names = list(dict.fromkeys(name for _, some in groups for name, _ in some))
    colours = {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(names)}
    values = [value for _, some in groups for _, spread in some for value in (spread.low, spread.high) if value > 0]
    low, high = floor(log10(min(values))), ceil(log10(max(values)) + 1e-9)
    y, parts = 2.0 * _TITLE, []
    for group, some in groups:
        parts.append(f'<text x="8" y="{y + _BAR:.0f}" font-weight="bold">{escape(group)}</text>')
        y += _TITLE
        for name, spread in some:
            parts.append(_bar(name, spread, y, colours[name], low, high))
            y += _BAR + _GAP
        y += _GAP
    return _page(title, unit, parts, y, low, high)


def _bar(name: str, value: Spread, y: float, colour: str, low: int, high: int) -> str:
    start, end = _x(10**low, low, high), _x(value.median, low, high)
    least, most, middle = _x(value.low, low, high), _x(value.high, low, high), y + _BAR / 2
    return (
        f'<text x="{_LEFT - 8}" y="{y + 12:.0f}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{start:.1f}" y="{y:.0f}" width="{max(1.0, end - start):.1f}" height="{_BAR}" fill="{colour}"/>'
        f'<path d="M{least:.1f} {middle:.0f}H{most:.1f}" stroke="#222" stroke-width="1.5"/>'
        f'<text x="{max(end, most) + 6:.1f}" y="{y + 12:.0f}">{number(value.median)}</text>'
    )


def _page(title: str, unit: str, parts: Sequence[str], bottom: float, low: int, high: int) -> str:
    lines = [
        f'<path d="M{_x(10**power, low, high):.1f} {_TITLE + 12}V{bottom:.0f}" stroke="#ddd"/>'
        f'<text x="{_x(10**power, low, high):.1f}" y="{bottom + 16:.0f}" text-anchor="middle" fill="#555">'
        f"{number(10**power)}</text>"
        for power in range(low, high + 1)
    ]
    height = bottom + 28
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" width="{_WIDTH}" '
        f'font-family="sans-serif" font-size="12" role="img"><title>{escape(title)}</title>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="8" y="20" font-size="15">{escape(title)} ({escape(unit)}, logarithmic)</text>'
        + "".join(lines)
        + "".join(parts)
        + "</svg>\n"
    )


def _x(value: float, low: int, high: int) -> float:
    share = (log10(max(value, 10**low)) - low) / (high - low)
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def number(value: float) -> str:
    """Format a figure with about three significant digits."""
    if value == 0:
        return "0"
    digits = max(0, 2 - floor(log10(abs(value))))
    return f"{value:,.{digits}f}"
