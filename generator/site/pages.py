"""Renders the pages of the site, which are the files of the layer `site`.

`index.html` and `index.json` are the page at /. `docs/` holds the API reference, llms.txt and the changelog. `explore/`
is a page that shows cards and prices through the API. The files lie in `templates/pages/` under the paths at which the
shim serves them. Files that end in `.j2` are rendered, all others are copied. `bundles` joins the modules of a page.
"""

import hashlib
import json
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from edge_auth.api.parameters import MAX_TEXT_CHARACTERS
from edge_auth.builds import layout
from edge_auth.builds.catalogue import DEFAULT_SORT, MATCH_SORT, PRICE_SORTS, SORTS, TEXT_FILTERS
from edge_auth.text import base_name
from generator.errors import SiteError
from generator.site.api_reference import Reference, page_address, reference
from generator.site.live_examples import NO_EXAMPLES, LiveExamples
from generator.site.prose import anchor, api_changes, guide, guide_sections
from generator.site.schemas import resources
from generator.templates import compiled_templates

_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async function|function\*?|class|const) (\w+))", re.MULTILINE)
_EXPORTED = re.compile(r"^export \{([^}]*)\};\n", re.MULTILINE)
_UNREADABLE = re.compile(r"^(?:import\b(?!\()|export\b).*", re.MULTILINE)
_COMMENT = re.compile(r"^\s*//.*\n|^\s*/\*\*(?:.|\n)*?\*/\n", re.MULTILINE)


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """Return a module and all that it imports as one script: each in a function of its own, after those it imports.

    Args:
        entry: The key of the module.
        read: Returns the text of a module by its key.

    Raises:
        SiteError: A module imports or exports in a form that is not known here, or imports itself by way of others.
    """
    scripts: dict[str, str] = {}

    def add(key: str, importers: tuple[str, ...]) -> None:
        if key in importers:
            raise SiteError(
                f"{key} imports itself by way of {', '.join(importers)}: move what both need to a third one"
            )
        if key in scripts:
            return
        text = read(key)
        for _, path in _IMPORT.findall(text):
            add(_key(key, path), (*importers, key))
        scripts[key] = _script(key, text)

    add(entry, ())
    return "".join(scripts.values())


def _key(importer: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), path))


def _name(key: str) -> str:
    """Return the name of the object that holds what a module exports."""
    return "$" + re.sub(r"\W", "_", key)


def _script(key: str, text: str) -> str:
    def names_of(found: re.Match[str]) -> str:
        names = (found[1] or "").replace(" as ", ": ")
        return f"const {{{names}}} = {_name(_key(key, found[2]))};\n" if names else ""

    exported = ", ".join([*(name for _, name in _EXPORT.findall(text)), *_EXPORTED.findall(text)])
    body = _EXPORTED.sub("", _EXPORT.sub(r"\1", _IMPORT.sub(names_of, _COMMENT.sub("", text))))
    if left := _UNREADABLE.search(body):
        raise SiteError(
            f'{key}: write {left[0]!r} as `import {{…}} from "./….js";`, or as an export of a declaration or a list'
        )
    return f"const {_name(key)} = (() => {{\n{body}return {{{exported}}};\n}})();\n"


_TEMPLATES = Path(__file__).with_name("templates") / "pages"
_SCRIPTS = {  # of pages, and of the scanner's worker
    *("docs/home.js", "docs/menu.js", "docs/reference.js"),
    *("explore/early.js", "explore/main.js", "explore/scan.js", "explore/scan-worker.js", "explore/value/main.js"),
}
_RENDERED = (".html", ".json", ".txt")  # from what a build holds, or from the description
_SEARCH_KEY = "docs/search.json"  # what the search of the reference finds
_RESOURCE = "resource.html.j2"  # of the pages of the reference, one for each resource
_LANGUAGES = {"curl": "sh", "Python": "py", "JavaScript": "mjs"}
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>")
_NAME = re.compile(r"[A-Z]\w+")
_MARKS = re.compile(r"[`*|]|\]\([^)]*\)|-{3,}")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TAG = re.compile(r"<[^>]*>")


def documents(live: LiveExamples = NO_EXAMPLES) -> dict[str, bytes]:
    """Return every file of the site by its key, in the order of the keys.

    Args:
        live: What a build holds, for the pages that show it. Without it they show invented examples.
    """
    api = reference(live)
    found = {f"docs/{page.name}.html": _render(_RESOURCE, api, shown=page) for page in api.pages}
    found[_SEARCH_KEY] = _search(api)
    for path in _TEMPLATES.rglob("*"):
        template = path.relative_to(_TEMPLATES).as_posix()
        key = template.removesuffix(".j2")
        if path.is_file() and layout.is_site_file(key):
            found[key] = _render(template, api) if key.endswith(_RENDERED) else _file(key)
    return dict(sorted(found.items()))


def sources() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file that the pages are made from, besides the build."""
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".pyc" and path.name != "README.md":
            yield path.relative_to(folder).as_posix(), path.read_bytes()
    yield "guide", guide().encode()
    yield "changelog", api_changes().encode()


@cache
def _file(key: str) -> bytes:
    """Return a file that no build changes. The script of a page holds all modules that it imports."""
    if key in _SCRIPTS:
        return bundle(key, _module).encode()
    path = _TEMPLATES / key
    return path.read_bytes() if path.is_file() else _module(key).encode()


def _module(key: str) -> str:
    path = _TEMPLATES / key
    return path.read_text("utf-8") if path.is_file() else _environment().get_template(f"{key}.j2").render()


def _search(api: Reference) -> bytes:
    """Return what the search of the reference finds: name, what it is a part of, address, text without marks."""
    places = ([*place[:3], " ".join(_MARKS.sub(" ", place.text).split())] for place in api.places())
    return b"[" + b",\n".join(json.dumps(place, ensure_ascii=False).encode() for place in places) + b"]\n"


def _render(template: str, api: Reference, **more: object) -> bytes:
    values = {"api": api, "live": api.live, "status": api.live.status, "contact": api.info["contact"], **more}
    return _environment().get_template(template).render(values).encode()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        autoescape=lambda name: not (name or "").endswith(".txt.j2"),
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=compiled_templates(),
    )
    environment.globals |= {
        "changelog": api_changes(),
        "sorts": [(name, sort.label) for name, sort in SORTS.items()],
        "first_sort": "market",
        "match_sort": MATCH_SORT,
        "other_prices": [name for name in PRICE_SORTS if name != DEFAULT_SORT],
        "text_filters": [(name, text_filter.label) for name, text_filter in TEXT_FILTERS.items()],
        "max_characters": MAX_TEXT_CHARACTERS,
        "languages": _LANGUAGES,
        "languages_of": _languages_of,
        "page_address": page_address,
        "sections": guide_sections(),
        "example": lambda name, extension: (_TEMPLATES / "examples" / f"{name}.{extension}").read_text("utf-8"),
        "version_of": _version_of,
    }
    environment.filters |= {
        "markdown": _markdown,
        "inline": _inline,
        "linked": _linked,
        "day": _day,
        "short_day": lambda text: _day(text).rpartition(" ")[0].replace(" ", "\N{NO-BREAK SPACE}"),
        "euros": lambda value: f"€{value:,.2f}",
        "percent": lambda value: f"{value:+,.2f} %".replace("-", "−"),
        "name_parts": _name_parts,
    }
    return environment


@cache
def _markdown(text: str, levels_down: int = 0) -> Markup:
    """Render Markdown to HTML. Headings move down by `levels_down` and get an anchor each, numbered if they repeat."""
    uses: Counter[str] = Counter()

    def heading(found: re.Match[str]) -> str:
        level, id_ = int(found[1]) + levels_down, anchor(_TAG.sub("", found[2]))
        uses[id_] += 1
        number = f"-{uses[id_]}" if uses[id_] > 1 else ""
        return f'<h{level} id="{id_}{number}">{found[2]}</h{level}>'

    html = _HEADING.sub(heading, _MARKDOWN.render(text))
    return Markup(
        html.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    )


@cache
def _inline(text: str) -> Markup:
    """Render one line of Markdown to HTML."""
    return Markup(_MARKDOWN.renderInline(text))


def _linked(type_: str, api: Reference) -> Markup:
    """Render a type in words to HTML, with a link from each resource to its place."""
    return _inline(
        _NAME.sub(lambda found: f"[{found[0]}]({api.href(found[0])})" if found[0] in resources() else found[0], type_)
    )


def _languages_of(example: str) -> dict[str, str]:
    """Return the languages in which an example is written, each with the ending of its file."""
    folder = _TEMPLATES / "examples"
    return {language: end for language, end in _LANGUAGES.items() if (folder / f"{example}.{end}").exists()}


def _day(text: str) -> str:
    """Return a day or a time of the API as the pages write days."""
    day = date.fromisoformat(text[:10])
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _name_parts(name: str) -> tuple[str, str]:
    """Return the base name of a product, and what follows in brackets."""
    base = base_name(name)
    return base, name[len(base) :]


def _version_of(key: str) -> str:
    """Return the path of a script or style with a hash of its content, so that no cache serves an older one."""
    return f"/{key}?v={hashlib.sha256(_file(key)).hexdigest()[:8]}"
