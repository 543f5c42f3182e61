"""Renders a page from a template of `templates/`, with the filters that all pages share."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import jinja2

from generator.reading import plot
from generator.templates import compiled_templates

_TEMPLATES = Path(__file__).with_name("templates")
# Characters of names that HTML does not allow, or that change the direction of writing. `cat page.html` prints them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def render(name: str, filters: dict[str, Callable[..., str]], **values: object) -> Iterator[str]:
    """Yield the page of `templates/<name>.html.j2` in pieces. `filters` are the filters of this page alone."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=compiled_templates(),
    )
    environment.filters |= {
        "euros": euros,
        "signed": signed,
        "thousands": thousands,
        "share": share,
        "set_name": set_name,
        **filters,
    }
    environment.globals["size"] = plot
    for piece in environment.get_template(f"{name}.html.j2").generate(**values):
        yield _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), piece)


def euros(price: Decimal | None) -> str:
    """Format a price, without a currency sign."""
    return "–" if price is None else f"{price:,.2f}"


def signed(number: Decimal | float | None) -> str:
    """Format a change, with its sign."""
    return "–" if number is None else f"{number:+,.2f}".replace("-", "−")


def set_name(row: dict[str, Any], prefix: str = "") -> str:
    """Return the name of a row's set, or a text with its id if it has no name."""
    name, id_ = row[f"{prefix}set_name"], row[f"{prefix}set_id"]
    return name or ("no set" if id_ is None else f"set {id_}")


def thousands(number: int) -> str:
    """Format a count with separators between thousands."""
    return f"{number:,}"


def share(part: int, whole: int) -> str:
    """Format a part of a whole in percent. Only exact values give 0 % and 100 %."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    shown = percent if part in (0, whole) else min(max(percent, 0.1), 99.9)
    return f"{shown:.1f} %" if shown not in (0, 100) else f"{shown:.0f} %"
