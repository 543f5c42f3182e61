"""Tables of a report. A page (`templates/`) and a terminal (`as_lines`) show the same words."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from generator.terminal import aligned

_TEMPLATES = Path(__file__).with_name("templates")
# Characters of names that HTML does not allow, or that change the direction of writing. `cat page.html` prints them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

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
    bar: float = 0  # the length of a bar in the cell, as a share of its width


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
class PageGroup:
    """What stands below one heading of a page."""

    title: str
    tables: Sequence[Table] = ()


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


def bars(head: str, name: str, records: Sequence[Record]) -> Column:
    """Return the column of a count, with a bar as long as its share of the largest one of the records."""
    most = max((record[name] for record in records), default=0) or 1
    return head, lambda record: number(record[name])._replace(bar=record[name] / most)


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


def all_lines(tables: Iterable[Table]) -> Iterator[str]:
    """Yield the lines of the tables that have rows."""
    for shown in tables:
        if shown.rows:
            yield from as_lines(shown)


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
