"""Renders a page from a template of `templates/`."""

import re
from pathlib import Path

import jinja2

from generator.reading import plot
from generator.templates import compiled_templates

_TEMPLATES = Path(__file__).with_name("templates")
# Characters of names that HTML does not allow, or that change the direction of writing. `cat page.html` prints them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def render(name: str, **values: object) -> str:
    """Return the page of `templates/<name>.html.j2`."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=compiled_templates(),
    )
    environment.globals["size"] = plot
    page = environment.get_template(f"{name}.html.j2").render(**values)
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), page)
