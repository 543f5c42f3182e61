"""Renders the pages of the site, which are the files of the layer `site`.

`index.html` and `index.json` are the page at /. `docs/` holds the API reference, llms.txt and the changelog. `explore/`
is a page that shows cards and prices through the API. The files lie in `templates/pages/` under the paths at which the
shim serves them. Files that end in `.j2` are rendered, all others are copied. `bundle` joins the modules of a page.
"""

import hashlib
import json
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment
from markdown_it import MarkdownIt
from markupsafe import Markup

from edge_auth.api.endpoint import API
from edge_auth.parameters import MAX_TEXT_CHARACTERS
from generator.errors import SiteError
from generator.site import api_reference
from generator.site.openapi import anchor, guide, guide_sections
from generator.site.texts import resources
from generator.storage import layout, objects
from generator.storage.catalogue import DEFAULT_SORT, MATCH_SORT, PRICE_SORTS, SORTS, TEXT_FILTERS
from generator.storage.market import DIRECTIONS, WINDOWS
from generator.storage.text import base_name
from generator.templates import environment, packaged

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
_EXAMPLES = packaged("docs/examples")
_SCRIPTS = {  # of pages, and of the scanner's worker
    *("docs/home.js", "docs/menu.js", "docs/reference.js"),
    *("explore/early.js", "explore/main.js", "explore/scan.js", "explore/scan-worker.js", "explore/value/main.js"),
}
_RENDERED = (".html.j2", ".txt.j2")  # from what a build holds, or from the description
_ADDRESSES = {"docs": "/docs", "openapi": "/api/v1/openapi.json", "status": "/api/v1/status"}
_VERSIONS = "The version of the API is in its path: within `/api/v1` answers only gain fields."
_LANGUAGES = {"curl": "sh", "Python": "py", "JavaScript": "mjs"}
_OF_A_RECIPE = {"TypeScript": "mts"}  # languages in which nothing else is shown
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>")
_NAME = re.compile(r"[A-Z]\w+")
_MARKS = re.compile(r"[`*|]|\]\([^)]*\)|-{3,}")
# Of the moves of the week.
_MOVES_EACH_WAY = 4
_MOVE_CANDIDATES = 50  # of each direction: not all are plain enough
_LEAST_PRICE = 5  # before and after a move that is shown: one sale moves a cheap card by much
_MOST_OFFERS = 3  # times the lowest offer: a card that is offered for less is not worth the price
_DAYS_OF_A_MOVE = 14  # of a card's history: the guide may be 3 days old, and the price before 10 days older
_HUES = 8  # of the style sheet
# Of the indexes of games.
_MOST_GAMES = 8
_DAYS = 90  # of the line
_LEFT, _TOP, _WIDTH, _HEIGHT = 3, 3, 114, 22  # in the units of its drawing
_ENTRIES = {  # of the navigation, by the lists that they lead to
    "Moves": [f"{API}movers?window={window}&direction={way}&limit=1" for window in WINDOWS for way in DIRECTIONS],
    "Market": [f"{API}market?limit=1"],
    "Scan": [f"{API}fingerprints"],
    "Watchlist": [f"{API}watchlist?limit=1"],
}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TAG = re.compile(r"<[^>]*>")


def documents(live: api_reference.LiveExamples = api_reference.NO_EXAMPLES) -> dict[str, bytes]:
    """Return every file of the site by its key, in the order of the keys.

    Args:
        live: What a build holds, for the pages that show it. Without it they show invented examples.
    """
    api = api_reference.reference(live)
    values = {"api": api, "contact": api.info["contact"], **_shown(live)}

    def render(template: str, **more: object) -> bytes:
        return _environment().get_template(template).render(values | more).encode()

    found = {"404.html": render("page.html.j2", title="Not found, cardpress", here="")}
    changes = {"title": "Changes of the API, cardpress", "here": "Changes of the API"}
    found["docs/changelog.html"] = render("page.html.j2", **changes, text=_markdown(f"{_VERSIONS}\n\n{_api_changes()}"))
    for page in api.pages:
        title = f"{page.title}, API reference, cardpress"
        found[f"docs/{page.name}.html"] = render("reference.html.j2", title=title, page=page.name, shown=page)
    for path in _TEMPLATES.rglob("*"):
        template = path.relative_to(_TEMPLATES).as_posix()
        key = template.removesuffix(".j2")
        if path.is_file() and layout.is_site_file(key):
            found[key] = render(template) if template.endswith(_RENDERED) else _file(key)
    found["docs/llms.txt"] = found["llms.txt"]
    found["docs/search.json"] = _search(api)
    found["index.json"] = json.dumps({"service": "cardpress", "version": api.info["version"], **_ADDRESSES}).encode()
    return dict(sorted(found.items()))


def sources() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file that the pages are made from, besides the build."""
    for folder in (Path(__file__).parent, _EXAMPLES):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".pyc" and path.name != "README.md":
                yield path.relative_to(folder).as_posix(), path.read_bytes()
    yield "guide", guide().encode()
    yield "changelog", _api_changes().encode()


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


class Move(NamedTuple):
    """A row of /movers with what its card shows."""

    mover: dict[str, Any]  # as the API writes it
    number: str | None
    image: str | None  # an address over https, or a path of this host
    low: float | None  # the lowest offer of the finish that moved, in euros
    hue: int  # the place of the game's colour in the style sheet, for a card without a picture


class GameIndex(NamedTuple):
    """The index of a game."""

    name: str
    newest: float
    change_7d_pct: float | None
    then: str | None  # the day that this change is against
    first: float  # on the first day of the line
    points: str  # the line, as `points` of a polyline in a drawing of 120 × 28


def _shown(live: api_reference.LiveExamples) -> dict[str, Any]:
    """Return what the pages show of a build, by the names of the templates."""
    answer = live.answer
    return {
        "status": live.status,
        "games": _game_indexes(answer),
        "moves": [move for direction in ("up", "down") for move in _moves(direction, answer)],
        "entries": {name for name, paths in _ENTRIES.items() if any(map(_has_rows, map(answer, paths)))},
        "pictures": answer(f"{API}fingerprints")["count"] if live.status else 0,
    }


def _game_indexes(answer: api_reference.Answers) -> list[GameIndex]:
    """Return the indexes of the games of most value, without those whose prices have stopped."""
    rows = api_reference.rows_of(answer, f"market?by=game&limit={_MOST_GAMES}")
    return [index for row in rows if (index := _game_index(row, answer))]


def _moves(direction: str, answer: api_reference.Answers) -> list[Move]:
    """Return the largest confirmed moves of 7 days in percent that are also plain to a collector, perhaps none."""
    floor = f"min_price={_LEAST_PRICE}&limit={_MOVE_CANDIDATES}"
    movers = api_reference.rows_of(answer, f"movers?confirmed=true&direction={direction}&{floor}")
    found = (_plain_move(mover, answer) for mover in movers if mover["now"] >= _LEAST_PRICE)
    return list(islice((move for move in found if move), _MOVES_EACH_WAY))


def _plain_move(mover: dict[str, Any], answer: api_reference.Answers) -> Move | None:
    """Return a move if the averages of a week and a month differ, and the offers do not speak against it.

    Equal averages are of the same few sales. Where the lowest offers are known, they moved the same way, and the newest
    is not far below the price.
    """
    card = answer(f"{API}cards/{mover['id_product']}?days={_DAYS_OF_A_MOVE}")
    suffix, guide = ("_holo", card["price_guide"]["holo"]) if mover["finish"] == "foil" else ("", card["price_guide"])
    lows = {point["day"]: point[f"low{suffix}"] for point in card["history"]["price_guide"]}
    then, now = lows[mover["day_then"]], lows[mover["day_now"]]
    if guide["avg7"] == guide["avg30"] or (now and mover["now"] > _MOST_OFFERS * now):
        return None
    if then is not None and now is not None and (now - then) * mover["change"] <= 0:
        return None
    return _move(mover, card, guide)


def _move(mover: dict[str, Any], card: dict[str, Any], guide: dict[str, Any]) -> Move:
    image = card["image"] or ""
    shown = image.startswith(("https://", "/")) and not image.startswith("//")
    game = (card["category"] or "").rpartition(" ")[0]  # a card does not name its game, but its category begins with it
    return Move(mover, card["number"], image if shown else None, guide["low"], sum(map(ord, game)) % _HUES)


def _game_index(row: dict[str, Any], answer: api_reference.Answers) -> GameIndex | None:
    history = answer(f"{API}market/history?game={quote(row['game'], safe='')}&days={_DAYS}")
    if not history or not history["points"]:  # a name too long for a request, or only older prices
        return None
    indexes = [point["index"] for point in history["points"]]
    return GameIndex(row["game"], row["index"], row["change_7d_pct"], row["day_7d"], indexes[0], _points(indexes))


def _points(values: Sequence[float]) -> str:
    low, span = min(values), max(values) - min(values) or 1
    step = _WIDTH / max(len(values) - 1, 1)
    places = ((_LEFT + at * step, _TOP + _HEIGHT * (1 - (value - low) / span)) for at, value in enumerate(values))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _has_rows(answer: Any) -> bool:
    return bool(answer and (answer.get("data") or answer.get("entries")))


def _search(api: api_reference.Reference) -> bytes:
    """Return what the search of the reference finds: name, what it is a part of, address, text without marks."""
    places = ([*place[:3], " ".join(_MARKS.sub(" ", place.text).split())] for place in api.places())
    return b"[" + b",\n".join(json.dumps(place, ensure_ascii=False).encode() for place in places) + b"]\n"


@cache
def _environment() -> Environment:
    templates = environment(_TEMPLATES, autoescape=_is_escaped, trim_blocks=True, lstrip_blocks=True)
    templates.globals |= {
        "sorts": [(name, sort.label) for name, sort in SORTS.items()],
        "match_sort": MATCH_SORT,
        "object_rules": [
            rule for rule in objects.to_json() if rule["path"].startswith(re.escape(API)) and rule["query"] is not None
        ],
        "other_prices": [name for name in PRICE_SORTS if name != DEFAULT_SORT],
        "text_filters": [(name, text_filter.label) for name, text_filter in TEXT_FILTERS.items()],
        "max_characters": MAX_TEXT_CHARACTERS,
        "languages": _LANGUAGES,
        "languages_of": _languages_of,
        "page_address": api_reference.page_address,
        "sections": guide_sections(),
        "example": lambda name, extension: (_EXAMPLES / f"{name}.{extension}").read_text("utf-8"),
        "version_of": _version_of,
    }
    templates.filters |= {
        "markdown": _markdown,
        "inline": _inline,
        "linked": _linked,
        "day": _day,
        "short_day": lambda text: _day(text).rpartition(" ")[0].replace(" ", "\N{NO-BREAK SPACE}"),
        "euros": lambda value: f"€{value:,.2f}",
        "percent": lambda value: f"{value:+,.2f} %".replace("-", "−"),
        "name_parts": _name_parts,
    }
    return templates


def _is_escaped(template: str | None) -> bool:
    return not (template or "").endswith(".txt.j2")


@cache
def _api_changes() -> str:
    """Return the parts of CHANGELOG.md below "For clients of the API:", with the headings that have any."""
    text = packaged("CHANGELOG.md").read_text("utf-8").replace("[Unreleased]", "[Newest]")  # a service runs it
    text = re.sub(r"^## \[([^]]+)\]", r"## \1", text, flags=re.MULTILINE)
    kept: list[str] = []
    headings: dict[str, str] = {}
    wanted = False
    for block in re.split(r"\n{2,}", text.strip())[1:]:
        level = block[: len(block) - len(block.lstrip("#"))]
        if level:
            wanted = False
            headings = {other: text for other, text in headings.items() if other < level} | {level: block}
        elif block.startswith("For "):
            wanted = block == "For clients of the API:"
        elif wanted:
            kept += [*headings.values(), block]
            headings = {}
    return "\n\n".join(kept) + "\n"


@cache
def _markdown(text: str) -> Markup:
    """Render Markdown to HTML. Headings get an anchor each, numbered if they repeat."""
    uses: Counter[str] = Counter()

    def heading(found: re.Match[str]) -> str:
        level, id_ = found[1], anchor(_TAG.sub("", found[2]))
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


def _linked(type_: str, api: api_reference.Reference) -> Markup:
    """Render a type in words to HTML, with a link from each resource to its place."""
    return _inline(
        _NAME.sub(lambda found: f"[{found[0]}]({api.href(found[0])})" if found[0] in resources() else found[0], type_)
    )


def _languages_of(example: str) -> dict[str, str]:
    """Return the languages in which an example is written, each with the ending of its file."""
    all_ = (_LANGUAGES | _OF_A_RECIPE).items()
    return {language: end for language, end in all_ if (_EXAMPLES / f"{example}.{end}").exists()}


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
