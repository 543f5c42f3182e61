"""A page from its template: what all of them share, and how they say numbers."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import jinja2

from generator.reading.html import plot

_TEMPLATES = Path(__file__).with_name("templates")


def render(name: str, filters: dict[str, Callable[..., str]], **values: object) -> Iterator[str]:
    """The page of `templates/<name>.html.j2` in pieces; `filters` are its own ones."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "euros": euros,
        "signed": signed,
        "many": many,
        "share": share,
        "set_name": set_name,
        **filters,
    }
    environment.globals["size"] = plot
    yield from environment.get_template(f"{name}.html.j2").generate(**values)


def euros(price: Decimal | None) -> str:
    """A price, without its sign."""
    return "–" if price is None else f"{price:,.2f}"


def signed(number: Decimal | float | None) -> str:
    """A change."""
    return "–" if number is None else f"{number:+,.2f}".replace("-", "−")


def set_name(row: dict, prefix: str = "") -> str:
    """The set of a row that has its id and name."""
    name, id_ = row[f"{prefix}set_name"], row[f"{prefix}set_id"]
    return name or ("no set" if id_ is None else f"set {id_}")


def many(number: int) -> str:
    """A count."""
    return f"{number:,}"


def share(part: int, whole: int) -> str:
    """A part of a whole in percent; all and nothing only where it is so."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    shown = percent if part in (0, whole) else min(max(percent, 0.1), 99.9)
    return f"{shown:.1f} %" if shown not in (0, 100) else f"{shown:.0f} %"
