"""Imports the products that the watchlist tracks, from lists that people keep: slugs or addresses of pages, and names.

What a line lacks is taken from where it is certain: the address from the product of the lake whose page has this slug,
the slug and the game from the address, the name from the product with this address.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from edge_auth.text import fold
from generator.errors import IngestError
from generator.ingest.catalogue import known_game
from generator.ingest.findings import NAMED_BY_URL
from generator.ingest.line_sources import Lines
from generator.ingest.pipeline import FileChange, row_counts
from generator.ingest.tables import watchlist_file
from generator.ingest.values import parse_url
from generator.lake.writer import LakeWriter, encode_parquet

_MAX_CHARACTERS, _MAX_BYTES = 500, 240
_PLAIN = re.compile(r"[A-Za-z0-9_.-]")
_PAGES = pa.schema([("name", pa.string()), ("url", pa.string())])
_Row = dict[str, str | None]


@dataclass
class _Line:
    """A line of a list: where it stands, and what it says or is found to say."""

    place: str
    slug: str | None
    name: str | None
    game: str | None
    url: str | None

    @property
    def key(self) -> str:
        """The slug, folded."""
        return fold(self.slug or "")

    def error(self, problem: str) -> IngestError:
        """Return the error that refuses it."""
        return IngestError(f"{self.place}: {problem}; nothing was imported")


@dataclass
class WatchlistLines(Lines):
    """Products to track. A line replaces the row with its slug, or address; with `replace` other imported rows go."""

    replace: bool = False

    def judge(self, lake: LakeWriter) -> None:
        if not len(self.rows):
            raise IngestError(f"{self.paths[0]}: it has no lines below its header: nothing was imported")

    def merge(self, lake: LakeWriter) -> Iterator[FileChange]:
        file = watchlist_file()
        before = file.read(lake).select(file.schema.names)
        known = {fold(row["slug"] or ""): row for row in before.to_pylist()}
        others = {fold(slug) for slug in file.keys_in_other_files(lake).to_pylist()}
        lines = list(self._lines())
        self._complete(lines, lake, known)
        urls = {line.url for line in lines}
        rows = {} if self.replace else {slug: row for slug, row in known.items() if row["url"] not in urls}
        rows |= {line.key: {n: getattr(line, n) for n in file.schema.names} for line in lines if line.key not in others}
        after = pa.Table.from_pylist([rows[slug] for slug in sorted(rows)], file.schema)
        new, same = len(rows.keys() - known.keys()), sum(known.get(slug) == row for slug, row in rows.items())
        counts = row_counts(len(rows), new, len(rows) - new - same, len({line.key for line in lines} & others))
        yield FileChange(file.path, counts, None if after.equals(before) else encode_parquet(after))

    def _lines(self) -> Iterator[_Line]:
        places = (f"{file.path}: line {number}" for file in self.files for number in file.numbers)
        for place, row in zip(places, self.rows.to_pylist(), strict=True):
            line = _Line(place, **row)
            if line.slug and line.slug.startswith(("https://", "http://")):
                if line.url:
                    raise line.error("slug is an address, and url is one, too: leave one of them out")
                line.slug, line.url = None, parse_url(line.slug, "slug")
            if not line.slug and not line.url:
                raise line.error("it has no slug and no url: give one of them")
            yield line

    def _complete(self, lines: list[_Line], lake: LakeWriter, known: dict[str, _Row]) -> None:
        """Fill what lines lack, and check their slugs. Names that come from addresses are a finding."""
        products = lake.read_all("products", _PAGES).to_pylist()
        pages = {row["url"]: row["name"] for row in products if row["url"] is not None}
        slugs = {row["url"]: row["slug"] for row in known.values()}
        unique = {(line.url, line.slug): line for line in lines}.values()
        last_parts = Counter(fold(_end(line.url)) for line in unique if line.url and not line.slug)
        first: dict[str, _Line] = {}
        by_url = []
        for line in lines:
            url = line.url = line.url or _address(line, pages, known)
            line.slug = line.slug or slugs.get(url) or _slug(url, last_parts)
            _check_slug(line, line.slug)
            same = first.setdefault(line.key, line)
            if same is not line and (same.url, line.name or same.name) != (url, same.name or line.name):
                place = same.place.rpartition(": ")[2]
                raise line.error(f"slug {line.slug} is that of {place}: give each a slug of its own")
            line.game = line.game or known_game(urlsplit(url).path.split("/"))
            line.name = line.name or pages.get(url)
            if not line.name:
                line.name = unquote(_end(url)).replace("-", " ")
                by_url.append(line.name)
        if by_url:
            message = f"{len(by_url):,} names are taken from the address, such as {by_url[0]}"
            self.find(NAMED_BY_URL, "lines", watchlist_file().path, len(by_url), message)


def _address(line: _Line, pages: dict[str, str], known: dict[str, _Row]) -> str:
    """Return the address of a slug: that of the tracked product, or of the one product whose page has it."""
    if url := known.get(line.key, {}).get("url"):
        return url
    found = [url for url in pages if fold(_end(url)) == line.key]
    if len(found) != 1:
        have = f"{len(found):,} products of the lake have" if found else "no product of the lake has"
        raise line.error(f"slug {line.slug}: {have} such a page: give its url")
    return found[0]


def _end(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2]


def _slug(url: str, ends: Counter[str]) -> str:
    """Return the last part of an address, or its last two parts where another address of the list has the same."""
    parts = [unquote(part) for part in urlsplit(url).path.split("/") if part]
    count = 2 if ends[fold(_end(url))] > 1 else 1
    return "-".join(parts[-count:]).lower()


def _check_slug(line: _Line, slug: str) -> None:
    size = sum(1 if _PLAIN.fullmatch(char) else 3 * len(char.encode()) for char in slug)
    if not 1 <= len(slug) <= _MAX_CHARACTERS or size + 2 * slug.startswith(".") > _MAX_BYTES:
        raise line.error(f"slug {slug[:50]}…: at most {_MAX_BYTES} bytes as a file name: give a shorter one")
