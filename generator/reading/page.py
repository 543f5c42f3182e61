"""Tables and bar charts of a report. A page (`templates/`) and a terminal (`as_lines`) show the same words."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from generator.terminal import aligned

_TEMPLATES = Path(__file__).with_name("templates")
# Characters of names that HTML does not allow, or that change the direction of writing. `cat page.html` prints them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MAX_TICKS, _MAX_BAR_WIDTH, _MIN_LABEL_WIDTH = 4, 48.0, 18

# A row of a view of `build/diff/` or `build/report/`, or what a store has as JSON.
Record = Mapping[str, Any]


class Cell(NamedTuple):
    """A cell of a table."""

    text: str
    small: str = ""
    css: str = ""  # the class: `what` for names, `n` for numbers
    value: Decimal | float | None = None  # by which the column is sorted; None for a number that is absent
    bad: bool = False  # whether its small text is, or else its text
    url: str = ""


class TableRow(NamedTuple):
    """A row of a table. A page hides it if its filters name another kind or set."""

    cells: tuple[Cell, ...]
    kind: str = ""
    set: str = ""


@dataclass(frozen=True)
class Table:
    """A table with its title and a sentence about it. `css`: its layout on a page, `wide` for one that scrolls."""

    title: str
    heads: Sequence[str]
    rows: Sequence[TableRow]
    note: str = ""
    css: str = "sortable"


@dataclass(frozen=True)
class Bar:
    """A bar of a plot."""

    count: int
    title: str  # its tooltip
    edge_label: str = ""  # on the axis between this bar and the one before; the first bar's is not shown
    label: str = ""  # below the bar
    color: str = "plain"  # or `up`, `down`


@dataclass(frozen=True)
class Plot:
    """A bar chart with its axes, which the macro `plot_svg` of the templates draws as SVG."""

    # In the units of the SVG. The width is that of a narrow phone, so that the text there has its natural size.
    WIDTH: ClassVar[int] = 360
    HEIGHT: ClassVar[int] = 210
    LEFT: ClassVar[int] = 38
    RIGHT: ClassVar[int] = 8
    TOP: ClassVar[int] = 26
    BOTTOM: ClassVar[int] = 38

    label: str  # for screen readers
    bars: Sequence[Bar]
    placeholder: str  # the sentence in place of the chart if all bars are 0
    x_axis: str = ""
    y_axis: str = ""
    view: str = ""  # the value of the page's filter that shows this plot; '' if it is always shown

    @cached_property
    def step(self) -> int:
        """The count between two marks of the axis of counts."""
        steps: Iterator[int] = (step * 10**power for power in itertools.count() for step in (1, 2, 5))
        highest = max((bar.count for bar in self.bars), default=0)
        return next(step for step in steps if step * _MAX_TICKS >= highest)

    @cached_property
    def top(self) -> int:
        """The count at the upper end of the axis; 0 if all bars are 0."""
        return self.step * max((-(-bar.count // self.step) for bar in self.bars), default=0)

    @property
    def rectangles(self) -> Iterator[tuple[Bar, dict[str, float | str]]]:
        """The bars with their places in the units of the SVG; `label` is the number above a bar."""
        gap = max(min(2.0, self._width / 5), self._width - _MAX_BAR_WIDTH)
        for place, bar in enumerate(self.bars):
            x, y = self.LEFT + self._width * place + gap / 2, self._y(bar.count)
            label = _short_count(bar.count) if self._width > _MIN_LABEL_WIDTH else ""
            width, height = round(self._width - gap, 2), round(self.HEIGHT - self.BOTTOM - y, 2)
            yield bar, {"x": round(x, 2), "y": y, "width": width, "height": height, "label": label}

    @property
    def x_ticks(self) -> list[tuple[float, str]]:
        """The marks of the axis below the bars: position and label."""
        edges = [(place, bar.edge_label) for place, bar in enumerate(self.bars) if place]
        middles = [(place + 0.5, bar.label) for place, bar in enumerate(self.bars)]
        return [(round(self.LEFT + self._width * place, 2), text) for place, text in edges + middles if text]

    @property
    def y_ticks(self) -> list[tuple[float, str]]:
        """The marks of the axis of counts."""
        return [(self._y(count), _short_count(count) or "0") for count in range(0, self.top + 1, self.step)]

    @property
    def _width(self) -> float:
        return (self.WIDTH - self.LEFT - self.RIGHT) / len(self.bars)

    def _y(self, count: int) -> float:
        return round(self.TOP + (self.HEIGHT - self.TOP - self.BOTTOM) * (1 - count / self.top), 2)


def _short_count(count: int) -> str:
    """Format a count for a narrow place, such as 1.2k; '' for 0."""
    if count < 1000:
        return str(count) if count else ""
    value, unit = (count / 1000, "k") if count < 999_500 else (count / 1_000_000, "M")
    return f"{value:.1f}{unit}" if value < 9.95 and value % 1 else f"{value:.0f}{unit}"


def plots_by_kind(shown: Plot, bands: Iterable[Record], bar: Callable[[Record], Bar]) -> list[Plot]:
    """Return a plot for each kind of products; the label gets how `{many}` of that `{kind}` are counted."""
    bars: dict[str, list[Bar]] = {}
    for band in bands:
        bars.setdefault(band["kind"], []).append(bar(band))
    return [
        replace(shown, label=shown.label.format(many=sum(bar.count for bar in some), kind=kind), bars=some, view=kind)
        for kind, some in bars.items()
    ]


@dataclass(frozen=True)
class Chart:
    """Plots with their caption; `sentences` are by the kind of products that a page is filtered by."""

    title: str
    plots: Sequence[Plot]
    sentences: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class PageGroup:
    """What stands below one heading of a page."""

    title: str
    tables: Sequence[Table] = ()
    figures: Sequence[Chart] = ()


# The head of a column, and what makes its cell of a record.
Column = tuple[str, Callable[[Record], Cell]]


def table(title: str, columns: Sequence[Column], records: Iterable[Record], note: str = "", css: str = "") -> Table:
    """Return the table of some records. Records of products keep their kind and set for the filters of a page."""
    rows = [
        TableRow(
            tuple(cell(record) for _, cell in columns),
            "" if record.get("kind") == "all" else record.get("kind") or "",
            set_name(record) if "set_name" in record else "",
        )
        for record in records
    ]
    return Table(title, [head for head, _ in columns], rows, note, css)


def what(text: object, small: str = "", *, bad: bool = False, url: str = "") -> Cell:
    return Cell(str(text), small, "what", bad=bad, url=url)


def number(value: Decimal | float | None, form: str = ",") -> Cell:
    """Return the cell of a number: of a count, or in another form."""
    return Cell("–" if value is None else f"{value:{form}}", "", "n", value)


def part(many: int, whole: int, *, bad: bool = False) -> Cell:
    """Return the cell of a part of a whole in percent. Only exact values give 0 % and 100 %."""
    if not whole:
        return number(None)
    percent = 100 * many / whole
    shown = percent if many in (0, whole) else min(max(percent, 0.1), 99.9)
    return Cell(f"{shown:.1f} %" if shown not in (0, 100) else f"{shown:.0f} %", "", "n", many / whole, bad)


def counts(*names: str) -> list[Column]:
    def count(name: str) -> Column:
        return name.capitalize(), lambda record: number(record[name])

    return list(map(count, names))


def euros(head: str, name: str) -> Column:
    return head, lambda record: number(record[name], ",.2f")


def signed(head: str, name: str) -> Column:
    """Return the column of a change, with its sign."""

    def cell(record: Record) -> Cell:
        value = record[name]
        if value is None:
            return number(None)
        css = "n up" if value > 0 else "n down" if value < 0 else "n"
        return Cell(f"{value:+,.2f}".replace("-", "−"), "", css, value)

    return head, cell


def product(record: Record) -> Cell:
    """Return the cell of a product, with a link to its page."""
    url = record["url"] or ""
    small = f"{record['id']} · {record['kind']} · {set_name(record)}"
    return what(record["name"], small, url=url if url.startswith("https://") else "")


def set_name(record: Record, prefix: str = "") -> str:
    """Return the name of a record's set, or a text with its id if it has no name."""
    name, id_ = record[f"{prefix}set_name"], record[f"{prefix}set_id"]
    return name or ("no set" if id_ is None else f"set {id_}")


def age(hours: float) -> str:
    """Format an age, in hours up to three days and in days beyond."""
    return f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} d"


def as_lines(shown: Table) -> Iterator[str]:
    """Yield the lines of a table for a terminal: its title and sentence, then its rows. Products come last in a row."""
    yield ""
    yield f"{shown.title}. {shown.note}" if shown.note else shown.title
    texts = [list(shown.heads)]
    texts += [[_text(cell) for cell in row.cells] for row in shown.rows]
    order = [*range(len(shown.heads))]
    if any(row.kind for row in shown.rows):  # names of products are long
        order.append(order.pop(0))
    numbers = [all(row.cells[place].css.startswith("n") for row in shown.rows) for place in order]
    rows = [[row[place] for place in order] for row in texts]
    yield from (f"  {line}" for line in aligned(rows, lambda at, _: numbers[at]))


def _text(cell: Cell) -> str:
    return f"{cell.text}  {cell.small}" if cell.small else f"{cell.text}*" if cell.bad else cell.text


def render(name: str, **values: object) -> str:
    """Return the page of `templates/<name>.html.j2`."""
    from generator.templates import environment  # a terminal needs none

    templates = environment(_TEMPLATES, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page = templates.get_template(f"{name}.html.j2").render(**values)
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), page)
