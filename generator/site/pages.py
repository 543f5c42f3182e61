"""The site: what people who use the API read and look at, as files of the layer `site`.

`docs/` is the reference, made from the OpenAPI description, with llms.txt and the changelog; `explore/` is a page for
looking at cards and prices through the API. The files lie in `templates/site/` under the paths at which they are
served; those that end in `.j2` are rendered, the others go out as they are.
"""

import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from edge_auth.contract import names
from generator.site import openapi
from generator.site.api_reference import Reference

_TEMPLATES = Path(__file__).with_name("templates") / "pages"
_LANGUAGES = {"curl": "sh", "Python": "py", "JavaScript": "mjs"}
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>")
_TAG = re.compile(r"<[^>]*>")


def documents() -> dict[str, bytes]:
    """Every file of the site by its key, in the order of the keys."""
    environment = _environment()
    made = {}
    for path in sorted(_TEMPLATES.rglob("*")):
        key = path.relative_to(_TEMPLATES).as_posix()
        if path.is_file() and names.is_site_file(key):
            text = environment.get_template(key).render() if key.endswith(".j2") else path.read_text("utf-8")
            made[key.removesuffix(".j2")] = text.encode()
    return dict(sorted(made.items()))


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        autoescape=lambda name: not (name or "").endswith(".txt.j2"),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "api": Reference(json.loads(openapi.document())),
        "changelog": _changelog(),
        "languages": _LANGUAGES,
        "example": lambda name, extension: (_TEMPLATES / "examples" / f"{name}.{extension}").read_text("utf-8"),
        "version_of": _version_of,
    }
    environment.filters |= {"markdown": _markdown, "inline": _inline, "anchor": _anchor, "headings": _headings}
    return environment


def _markdown(text: str, deeper: int = 0) -> Markup:
    """Markdown as HTML: headings `deeper` by so many levels and named, so that they can be linked to."""

    def heading(found: re.Match) -> str:
        level = int(found[1]) + deeper
        return f'<h{level} id="{_anchor(_TAG.sub("", found[2]))}">{found[2]}</h{level}>'

    html = _HEADING.sub(heading, _MARKDOWN.render(text))
    return Markup(
        html.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    )


def _inline(text: str) -> Markup:
    """One line of Markdown as HTML."""
    return Markup(_MARKDOWN.renderInline(text))


def _headings(text: str, level: int = 2) -> list[str]:
    """The headings of one level of a Markdown text."""
    return re.findall(rf"^#{{{level}}} (.+)$", text, re.MULTILINE)


def _anchor(text: str) -> str:
    """A heading as the name of a place in a page."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _version_of(key: str) -> str:
    """A file that goes out as it is, by its content: a page never meets an older style or script in a cache."""
    return f"/{key}?v={hashlib.sha256((_TEMPLATES / key).read_bytes()).hexdigest()[:8]}"


def _changelog() -> str:
    """CHANGELOG.md of the checkout, or its copy inside an installed wheel; versions without their brackets."""
    packaged = Path(str(files("generator"))) / "_CHANGELOG.md"
    path = packaged if packaged.is_file() else Path(__file__).parents[2] / "CHANGELOG.md"
    return re.sub(r"^## \[([^]]+)\]", r"## \1", path.read_text("utf-8"), flags=re.MULTILINE)
