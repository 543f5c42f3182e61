"""Tables of a report, which a page (`templates/macros.html.j2`) and a terminal (`as_lines`) show in the same words."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from generator.reading.plot import Plot

# A row of a view of `build/diff/` or `build/report/`.
Record = Mapping[str, Any]


class Cell(NamedTuple):
    """A cell of a table; `bad` is its small text, or else its text.

    Attributes:
        css: The class: `what` for names, `n` for numbers.
        value: The number that the column is sorted by; None for a number that is absent.
    """

    text: str
    small: str = ""
    css: str = ""
    value: Decimal | float | None = None
    bad: bool = False
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
    """Return the cell of a name."""
    return Cell(str(text), small, "what", bad=bad, url=url)


def number(value: Decimal | float | None, form: str = ",", *, bad: bool = False) -> Cell:
    """Return the cell of a number: of a count, or in another form."""
    return Cell("–" if value is None else f"{value:{form}}", "", "n", value, bad)


def part(many: int, whole: int, *, bad: bool = False) -> Cell:
    """Return the cell of a part of a whole in percent. Only exact values give 0 % and 100 %."""
    if not whole:
        return number(None)
    percent = 100 * many / whole
    shown = percent if many in (0, whole) else min(max(percent, 0.1), 99.9)
    return Cell(f"{shown:.1f} %" if shown not in (0, 100) else f"{shown:.0f} %", "", "n", many / whole, bad)


def counts(*names: str) -> list[Column]:
    """Return the columns of some counts."""

    def count(name: str) -> Column:
        return name.replace("_", " ").capitalize(), lambda record: number(record[name])

    return list(map(count, names))


def euros(head: str, name: str) -> Column:
    """Return the column of a price."""
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
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    order = [*range(len(widths))]
    if any(row.kind for row in shown.rows):  # names of products are long
        order.append(order.pop(0))
    numbers = {place for place in order if all(row.cells[place].css.startswith("n") for row in shown.rows)}
    for row in texts:
        cells = (
            row[place].rjust(widths[place]) if place in numbers else row[place].ljust(widths[place]) for place in order
        )
        yield f"  {'  '.join(cells)}".rstrip()


def _text(cell: Cell) -> str:
    return f"{cell.text}  {cell.small}" if cell.small else f"{cell.text}*" if cell.bad else cell.text
