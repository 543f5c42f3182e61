"""Imports the products that the watchlist tracks, from lists that people keep: slugs or addresses of pages, and names.

What a line lacks is taken from where it is certain: the address from the product of the lake whose page has this slug,
the slug and the game from the address, the name from the product with this address.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from edge_auth.text import fold
from generator.errors import IngestError
from generator.ingest.findings import NAMED_BY_URL, ImportFinding
from generator.ingest.formats import WATCHLIST
from generator.ingest.games import known_game
from generator.ingest.lines import LineReader
from generator.ingest.lines_import import (
    ImportResult,
    LineFiles,
    OnRead,
    finish_reading,
    import_result,
    write_changes,
)
from generator.ingest.merge import FileChange, MergeCounts
from generator.ingest.table_files import watchlist_file
from generator.ingest.values import parse_url
from generator.lake.writer import LakeWriter, encode_parquet

_MAX_CHARACTERS, _MAX_BYTES = 500, 240
_PLAIN = re.compile(r"[A-Za-z0-9_.-]")
_ADDRESS = ("https://", "http://")
_Row = dict[str, str | None]


@dataclass
class _Line:
    """A line of a list: where it stands, and what it says or is found to say."""

    place: str
    slug: str | None
    url: str | None
    name: str | None
    game: str | None

    def row(self) -> _Row:
        """Return it as a row of the table."""
        return {"slug": self.slug, "name": self.name, "game": self.game, "url": self.url}

    def error(self, problem: str) -> IngestError:
        """Return the error that refuses it."""
        return IngestError(f"{self.place}: {problem}; nothing was imported")


def import_watchlist(lake: LakeWriter, files: LineFiles, on_read: OnRead, replace: bool = False) -> ImportResult:
    """Add products to those that the watchlist tracks. A line replaces the row with its slug, or with its address.

    Args:
        replace: The files are the whole truth: other rows that imports wrote go.

    Raises:
        IngestError: A line has no address or slug, or its slug is that of another; or as `import_lines`.
    """
    reader = LineReader(WATCHLIST, files.limits)
    for path in files.paths:
        reader.read(path)
        on_read(path)
    finish_reading(files, reader)
    lines = list(_lines(reader))
    if not lines:
        raise IngestError(f"{files.paths[0]}: it has no lines below its header: nothing was imported")
    with lake.locked():
        file = watchlist_file()
        before = file.read(lake)
        others = {fold(slug) for slug in file.keys_in_other_files(lake).to_pylist()}
        by_url = _complete(lines, lake, before.to_pylist())
        after = _merged([] if replace else before.to_pylist(), lines, others)
        counts = _counts(before.to_pylist(), after, lines, others)
        table = pa.Table.from_pylist(after, file.schema)
        data = None if table.equals(before.select(table.schema.names)) else encode_parquet(table)
        write_changes(lake, files, reader, {} if data is None else {file.path: data})
    result = import_result(reader, [FileChange(file.path, counts, data)])
    return _with_finding(result, by_url)


def _with_finding(result: ImportResult, by_url: list[_Line]) -> ImportResult:
    if not by_url:
        return result
    message = f"{len(by_url):,} names are taken from the address, such as {by_url[0].name}"
    finding = ImportFinding(NAMED_BY_URL, "lines", watchlist_file().path, len(by_url), message, is_refused=False)
    return replace(result, findings=(*result.findings, finding))


def _lines(reader: LineReader) -> Iterator[_Line]:
    for file in reader.files:
        for number, row in zip(file.numbers, file.rows.to_pylist(), strict=True):
            line = _Line(f"{file.path}: line {number}", row["slug"], row["url"], row["name"], row["game"])
            if line.slug and line.slug.startswith(_ADDRESS):
                if line.url:
                    raise line.error("slug is an address, and url is one, too: leave one of them out")
                line.slug, line.url = None, parse_url(line.slug, "slug")
            if not line.slug and not line.url:
                raise line.error("it has no slug and no url: give one of them")
            yield line


def _complete(lines: list[_Line], lake: LakeWriter, before: list[_Row]) -> list[_Line]:
    """Fill what lines lack, and check their slugs. Return those whose names come from their addresses."""
    pages = _pages(lake)
    ends = Counter(_end(url) for url in pages)
    known = {row["url"]: row["slug"] for row in before}
    tracked = {fold(row["slug"] or ""): row["url"] for row in before}
    first: dict[str, _Line] = {}
    last_parts = Counter(fold(_end(line.url)) for line in _unique(lines) if line.url and not line.slug)
    by_url = []
    for line in lines:
        if line.url is None:
            line.url = _address(line, pages, ends, tracked)
        line.slug = line.slug or known.get(line.url) or _slug(line.url, last_parts)
        _check_slug(line)
        same = first.setdefault(fold(line.slug), line)
        if same is not line and (same.url, line.name or same.name) != (line.url, same.name or line.name):
            raise line.error(
                f"slug {line.slug} is that of {same.place.rpartition(': ')[2]}: give each a slug of its own"
            )
        line.game = line.game or known_game(urlsplit(line.url).path.split("/"))
        if not line.name:
            line.name = pages.get(line.url)
        if not line.name:
            line.name = unquote(_end(line.url)).replace("-", " ")
            by_url.append(line)
    return by_url


def _unique(lines: list[_Line]) -> Iterator[_Line]:
    yield from {(line.url, line.slug): line for line in lines}.values()


def _pages(lake: LakeWriter) -> dict[str, str]:
    """Return the names of the lake's products by the addresses of their pages."""
    schema = pa.schema([("name", pa.string()), ("url", pa.string())])
    tables = [lake.read_table(path, schema).select(schema.names) for path in lake.list_tables("products")]
    rows = pa.concat_tables([schema.empty_table(), *tables])
    rows = rows.filter(pc.is_valid(rows["url"]))
    return dict(zip(rows["url"].to_pylist(), rows["name"].to_pylist(), strict=True))


def _address(line: _Line, pages: dict[str, str], ends: Counter[str], tracked: dict[str, str | None]) -> str:
    """Return the address of a slug: that of the tracked product, or of the one product whose page has it."""
    wanted = fold(line.slug or "")
    if url := tracked.get(wanted):
        return url
    found = [url for url in pages if fold(_end(url)) == wanted]
    if len(found) != 1:
        how_many = (
            f"{len(found):,} products of the lake have such a page"
            if found
            else "no product of the lake has such a page"
        )
        raise line.error(f"slug {line.slug}: {how_many}: give its url")
    return found[0]


def _end(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2]


def _slug(url: str, ends: Counter[str]) -> str:
    """Return the last part of an address, or its last two parts where another address of the list has the same."""
    parts = [unquote(part) for part in urlsplit(url).path.split("/") if part]
    count = 2 if ends[fold(_end(url))] > 1 else 1
    return "-".join(parts[-count:]).lower()


def _check_slug(line: _Line) -> None:
    slug = line.slug or ""
    size = sum(1 if _PLAIN.fullmatch(char) else 3 * len(char.encode()) for char in slug)
    if not 1 <= len(slug) <= _MAX_CHARACTERS or size + 2 * slug.startswith(".") > _MAX_BYTES:
        raise line.error(f"slug {slug[:50]}…: at most {_MAX_BYTES} bytes as a file name: give a shorter one")


def _merged(before: list[_Row], lines: list[_Line], others: set[str]) -> list[_Row]:
    """Return the rows of the file after an import, by slug."""
    urls = {line.url for line in lines}
    rows = {fold(row["slug"] or ""): row for row in before if row["url"] not in urls}
    rows |= {fold(line.slug or ""): line.row() for line in lines if fold(line.slug or "") not in others}
    return [rows[slug] for slug in sorted(rows)]


def _counts(before: list[_Row], after: list[_Row], lines: list[_Line], others: set[str]) -> MergeCounts:
    old = {fold(row["slug"] or ""): row for row in before}
    new = sum(fold(row["slug"] or "") not in old for row in after)
    same = sum(old.get(fold(row["slug"] or "")) == row for row in after)
    skipped = len({fold(line.slug or "") for line in lines} & others)
    return MergeCounts(len(after), new, len(after) - new - same, same, skipped)
