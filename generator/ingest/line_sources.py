"""Imports lines: of scrapers into daily tables, and of the tables that operators keep.

Refused lines stop the import, or go into the file that --bad-lines names. A line about expansions or attributes says
when it was written, or counts as written when its file was changed last. So a corrected file wins over the one before
it, and importing a file again changes nothing.

A line of the watchlist is a slug or the address of a page, and a name. What it lacks is taken from where it is certain:
the address from the product of the lake whose page has this slug, the slug and the game from the address, the name from
the product with this address.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from generator import settings
from generator.clock import timestamp, utc_now
from generator.errors import IngestError
from generator.ingest import pipeline, table_files
from generator.ingest.formats import LIST_PAGES, OFFERS, WATCH_CHECKS, LineFormat, ScrapedFormat
from generator.ingest.lines import FileLines, RefusedLine, store_refused
from generator.ingest.marketplace_files import option_of
from generator.ingest.products import CatalogueUpdate, known_game
from generator.ingest.streams import STDIN, FileLimits
from generator.ingest.values import parse_url, quoted_json
from generator.lake.table_writer import LakeWriter, encode_parquet
from generator.lake.tables import CONDITIONS
from generator.storage.text import fold

_MAX_CHARACTERS, _MAX_BYTES = 500, 240  # of a slug; as the name of a file
_PLAIN = re.compile(r"[A-Za-z0-9_.-]")
_PAGES = pa.schema([("name", pa.string()), ("url", pa.string())])
_Row = dict[str, str | None]


@dataclass
class Lines(pipeline.ImportFiles):
    """Files of lines. Without a file for bad lines, a refused line stops the import."""

    format: LineFormat
    paths: Sequence[Path]
    bad_lines: Path | None
    limits: FileLimits
    files: list[FileLines] = field(default_factory=list, init=False)
    rows: pa.Table = field(init=False)
    incomplete_offers: int = field(default=0, init=False)

    def read(self, on_read: pipeline.OnRead) -> None:
        for path in self.paths:
            file = FileLines(path, self.format, self.limits)
            self.files.append(file)
            self.add(file)
            on_read(path)
        self._refuse_lines()
        self.rows = pa.concat_tables([file.rows for file in self.files])

    def add(self, file: FileLines) -> None:
        """Take a file that was read."""

    @property
    def refused(self) -> list[RefusedLine]:
        return [line for file in self.files for line in file.refused]

    def doubt(self, case: str, file: FileLines, count: int, place: int, said: str, then: str = "") -> None:
        """Find what stops the import unless it is accepted: in so many lines, of which the first is the row `place`."""
        more = f" (and {count - 1:,} more lines)" if count > 1 else ""
        message = f"line {file.numbers[place]}: {said}{more}{then}"
        self.find(case, file.path, count, message, is_refused=True)

    def judge_times(self, file: FileLines, name: str, too_old: str, then: str = "") -> None:
        """Find the lines whose time, the column `name`, the clock has not reached, or is before all data."""
        times = file.rows[name]
        latest = (utc_now() + settings.MAX_LINES_AHEAD_OF_CLOCK).replace(tzinfo=None)
        first = datetime(settings.FIRST_GUIDE_YEAR, 1, 1)
        for case, is_far, why in (
            (pipeline.FUTURE, pc.greater(times, pa.scalar(latest, times.type)), "which the clock has not reached"),
            (pipeline.FAR_DAY, pc.less(times, pa.scalar(first, times.type)), f"but {too_old}"),
        ):
            if count := pc.sum(is_far).as_py():
                place = pc.index(is_far, True).as_py()
                time = timestamp(times[place].as_py().replace(tzinfo=UTC))
                self.doubt(case, file, count, place, f"{name} is {time}, {why}", then)

    def _refuse_lines(self) -> None:
        """Raise IngestError if lines are refused and have no place, or all lines of a file."""
        refused = self.refused
        if refused and not self.bad_lines:
            first, others = refused[0], len(refused) - 1
            more = f" (and {others:,} more refused line{'s' * (others > 1)})" if others else ""
            advice = "--bad-lines FILE keeps bad lines and imports the rest"
            raise IngestError(f"{first}{more}; nothing was imported: {advice}")
        for file in self.files:
            if self.bad_lines and file.refused and len(file.refused) == file.lines:
                store_refused(self.bad_lines, refused)
                raise IngestError(
                    f"{file.refused[0]}; all {file.lines:,} lines were refused, nothing was imported: "
                    f"see {self.bad_lines}"
                )

    def before_writing(self) -> None:
        if self.bad_lines and self.refused:
            store_refused(self.bad_lines, self.refused)
            self.remarks.append(f"{len(self.refused):,} lines refused, stored in {self.bad_lines}")
        if self.incomplete_offers:
            self.remarks.append(f"{self.incomplete_offers:,} offers lack a price, a seller or a condition: not shown")

    @property
    def counts(self) -> dict[str, int]:
        lines = sum(file.lines for file in self.files)
        return {"lines": lines, "refused": len(self.refused), "incomplete_offers": self.incomplete_offers}

    @property
    def summary(self) -> str:
        lines = self.counts["lines"]
        return f"{lines:,} line{'s' * (lines != 1)}, {len(self.refused):,} refused"


@dataclass
class ScrapedLines(Lines):
    """Lines of a scraper, which become rows of a daily table. Those of list pages also change the catalogue."""

    format: ScrapedFormat

    def judge(self, lake: LakeWriter) -> None:
        """Find checks that contradict themselves, times that cannot be, and slugs that the watchlist lacks."""
        for file in self.files:
            if self.format.counts:
                lines = file.rows.append_column("place", pa.array(range(len(file.rows)), pa.int64()))
                self._judge_counts(file, lines)
                self._judge_offers(file, lines)
            self.judge_times(file, self.format.table.time, "no check is that old")
        if self.format is WATCH_CHECKS:
            self._judge_slugs(lake)

    def merge(self, lake: LakeWriter) -> Iterator[pipeline.FileChange]:
        """Yield the days of the table, and for list pages what they say of products and expansions."""
        table = self.format.table
        yield from table_files.merge_checks(lake, table, self.rows.select(table.schema.names))
        if table == LIST_PAGES.table:
            catalogue = CatalogueUpdate(lake)
            catalogue.add_pages(self.rows)
            catalogue.complete()
            yield catalogue.pages_change()
            for update in (catalogue.products, catalogue.expansions):
                change = update.change()
                if change.counts and (change.counts["rows"] or change.counts["elsewhere"]):
                    yield change

    def _judge_counts(self, file: FileLines, lines: pa.Table) -> None:
        names = {"counts": self.format.counts, "lowest": self.format.lowest}
        if found := table_files.select("contradictions", names, lines=lines).to_pylist():
            said = self.format.contradiction(**found[0])
            self.doubt(pipeline.CONTRADICTION, file, len(found), found[0]["place"], said, ": did the page change?")

    def _judge_offers(self, file: FileLines, lines: pa.Table) -> None:
        needed = self.format.needed
        values = {"needed": needed, "known": tuple(CONDITIONS)}
        offers = table_files.select("doubtful_offers", values, lines=lines).to_pylist()
        unknown = [(one["condition"], one["offers"]) for one in offers if one["condition"] is not None]
        total, incomplete = (sum(one[name] for one in offers) for name in ("offers", "incomplete"))
        if unknown:
            count = sum(count for _, count in unknown)
            named = ", ".join(f"{quoted_json(text)} ({count:,})" for text, count in unknown[:5])
            message = f"{count:,} offers have a condition that is none of the seven: {named}"
            self.find("unknown-conditions", file.path, count, message)
        if total and total == incomplete:
            message = f"each of its {total:,} offers lacks one of {', '.join(needed)}"
            self.find(pipeline.INCOMPLETE_OFFERS, file.path, total, message, is_refused=True)
        self.incomplete_offers += incomplete if self.format is OFFERS else 0

    def _judge_slugs(self, lake: LakeWriter) -> None:
        """Name the slugs of checks that no tracked product has."""
        schema = pa.schema([("slug", pa.string())])
        tracked = [lake.read_columns(path, schema)["slug"].to_pylist() for path in lake.list_tables("watchlist")]
        known = {fold(slug) for slugs in tracked for slug in slugs if slug}
        unknown = sorted(slug for slug in pc.unique(self.rows["slug"]).to_pylist() if fold(slug) not in known)
        if unknown:
            example = f"such as {quoted_json(unknown[0])}: builds leave them out"
            message = f"{len(unknown):,} slugs are those of no tracked product, {example}"
            self.find("unknown-slugs", "lines", len(unknown), message)


@dataclass
class KeptTable(Lines):
    """Tables of what the marketplace's files lack."""

    def read(self, on_read: pipeline.OnRead) -> None:
        for path in self.paths:
            if path != STDIN and (option := option_of(path, self.limits)):
                command = f"`cardpress ingest cardmarket --lake LAKE --{option} {path}`"
                raise IngestError(f"{path}: it is a file of the marketplace's own: {command}")
        super().read(on_read)

    def add(self, file: FileLines) -> None:
        """Give lines without a time that of their file."""
        if file.keys and not file.keys & self.format.value_keys:
            known_columns = ", ".join(sorted(self.format.value_keys))
            raise IngestError(f"{file.path}: no column of {self.format.name}: name at least one of {known_columns}")
        place = file.rows.schema.get_field_index("updated_at")
        written = pa.scalar(_written_at(file.path), file.rows.schema.field(place).type)
        file.rows = file.rows.set_column(place, "updated_at", pc.fill_null(file.rows["updated_at"], written))

    def judge(self, lake: LakeWriter) -> None:
        """Find unknown columns, and values that are given in several ways. Raise IngestError for empty files."""
        for file in self.files:
            _refuse_empty(file)
            advice = ": lines without one have the time of their file; set it, or give the column updated_at"
            self.judge_times(file, "updated_at", "nothing is that old", advice)
        keys = set[str]().union(*(file.keys for file in self.files))
        if ignored := sorted(keys - self.format.keys - self.format.remarks):
            message = f"ignored: {', '.join(ignored)}; known columns: {', '.join(sorted(self.format.keys))}"
            self.find("ignored-columns", "columns", len(ignored), message)
        key, *columns = (name for name in self.rows.schema.names if name != "updated_at")
        values = {"key": key, "columns": tuple(columns)}
        if found := table_files.select("said_twice", values, lines=self.rows).to_pylist():
            ways = ", ".join(map(quoted_json, found[0]["said"]))
            example = f"such as {found[0]['column']} of {found[0]['id']}: {ways}"
            message = f"{len(found):,} values are given in several ways, {example}"
            self.find("named-twice", "lines", len(found), message)

    def find_unknown(self, update: table_files.TableUpdate, case: str, fate: str) -> int:
        """Name the ids of lines that the table does not have after the import, and return how many there are."""
        file, ids = update.file, self.rows[0]
        known = pa.chunked_array([*update.after[file.key].chunks, *update.other_keys["key"].chunks], pa.int64())
        unknown = pc.unique(ids.filter(pc.invert(pc.is_in(ids, known))))
        if len(unknown):
            message = f"{len(unknown):,} unknown ids {fate}, such as {unknown[0].as_py()}"
            self.find(case, "lines", len(unknown), message)
        return len(unknown)


@dataclass
class AttributeLines(KeptTable):
    """Numbers, rarities, URLs and images of products, as if list pages had shown them."""

    def merge(self, lake: LakeWriter) -> Iterator[pipeline.FileChange]:
        """Yield the products with their new numbers, rarities, pages and pictures."""
        catalogue = CatalogueUpdate(lake)
        catalogue.add_pages(self.rows.rename_columns({"updated_at": "scraped_at"}))
        catalogue.complete()
        self.find_unknown(catalogue.products, "unknown-products", "kept until a list has them")
        yield catalogue.pages_change()
        change = catalogue.products.change()
        older = catalogue.older_lines(self.rows)
        yield change._replace(counts=(change.counts or {}) | ({"older": older} if older else {}))
        if catalogue.expansions.is_changed:
            yield catalogue.expansions.change()


@dataclass
class ExpansionLines(KeptTable):
    """Names, games and URLs of expansions. `game` is that of the lines that have none."""

    game: str | None = None

    def read(self, on_read: pipeline.OnRead) -> None:
        super().read(on_read)
        if self.game:
            games = pc.fill_null(self.rows["game"], self.game)
            self.rows = self.rows.set_column(self.rows.schema.get_field_index("game"), "game", games)

    def merge(self, lake: LakeWriter) -> Iterator[pipeline.FileChange]:
        """Yield the named expansions. Raise IngestError if the files name none of those that they list."""
        named = self.rows.filter(self.rows["name"].is_valid()).select(["id", "name", "updated_at"])
        incoming = named.rename_columns(["id", "name", "created_at"]).cast(table_files.EXPANSIONS_FILE.imported_schema)
        catalogue = CatalogueUpdate(lake, expansions=[incoming])
        expansions = catalogue.expansions
        expansions.replace_by("expansion_columns", expansions=expansions.after, lines=self.rows)
        catalogue.complete()
        unknown = self.find_unknown(expansions, "unnamed", "skipped, because they have no name")
        if unknown and unknown == len(pc.unique(self.rows["id"])):
            raise IngestError(f"{self.paths[0]}: {self.findings[-1].message}: write their names into the table")
        yield expansions.change()
        if catalogue.products.is_changed:
            yield catalogue.products.change()


def _refuse_empty(file: FileLines) -> None:
    """Raise IngestError if no line of a file says anything."""
    values = [name for name in file.rows.schema.names[1:] if name != "updated_at"]
    if all(file.rows[name].null_count == len(file.rows) for name in values):
        none = f"none of its {file.lines:,} line{'s' * (file.lines != 1)} has a value"
        lines = none if file.lines else "it has no lines"
        raise IngestError(f"{file.path}: {lines} for {', '.join(values)}: nothing was imported")


def _written_at(path: Path) -> datetime:
    if path == STDIN:
        return utc_now().replace(tzinfo=None, microsecond=0)
    try:
        return datetime.fromtimestamp(int(path.stat().st_mtime), UTC).replace(tzinfo=None)
    except OSError as error:
        raise IngestError(f"{path}: {error.strerror}") from error


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
        return fold(self.slug or "")

    def error(self, problem: str) -> IngestError:
        return IngestError(f"{self.place}: {problem}; nothing was imported")


@dataclass
class WatchlistLines(Lines):
    """Products to track. A line replaces the row with its slug, or address; with `replace` other imported rows go."""

    replace: bool = False

    def judge(self, lake: LakeWriter) -> None:
        if not len(self.rows):
            raise IngestError(f"{self.paths[0]}: it has no lines below its header: nothing was imported")

    def merge(self, lake: LakeWriter) -> Iterator[pipeline.FileChange]:
        """Yield the watchlist: a line replaces the row with its slug or its page."""
        file = table_files.WATCHLIST_FILE
        before = file.read(lake).select(file.schema.names)
        known = {fold(row["slug"] or ""): row for row in before.to_pylist()}
        others = {fold(slug) for slug in file.keys_in_other_files(lake)["key"].to_pylist()}
        lines = list(self._lines())
        self._complete(lines, lake, known)
        urls = {line.url for line in lines}
        rows = {} if self.replace else {slug: row for slug, row in known.items() if row["url"] not in urls}
        rows |= {line.key: {n: getattr(line, n) for n in file.schema.names} for line in lines if line.key not in others}
        after = pa.Table.from_pylist([rows[slug] for slug in sorted(rows)], file.schema)
        new, same = len(rows.keys() - known.keys()), sum(known.get(slug) == row for slug, row in rows.items())
        counts = pipeline.row_counts(len(rows), new, len(rows) - new - same, len({line.key for line in lines} & others))
        yield pipeline.FileChange(file.path, counts, None if after.equals(before) else encode_parquet(after))

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
            self.find("named-by-url", "lines", len(by_url), message)


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
