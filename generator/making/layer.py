"""The layers of a build, the tasks that make them, and the days and products that a task is cut to.

The periods of the history are each closed year, the closed months of the as-of day's year, and the open month.

The digest of a layer is a hash of everything that goes into it: the content of the lake files that it reads, the SQL
(without comments and white space), the constants of its format, a recipe number, the codec that compresses its objects,
and the Unicode version of text folding. Raise the recipe number when other Python code changes the layer's bytes: a
test compares the bytes of a small lake with it.

A task is data, so a cluster can send it to another machine, and it can be repeated. It reads the lake, the store and
the outputs of the tasks that it needs. It writes files that are named by their content, so a repeated task writes the
same files.
"""

import calendar
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import edge_auth
import generator
from generator.database import sql_root, sql_text
from generator.lake.files import PRICE_TABLES
from generator.lake.lake import Lake
from generator.storage import layout
from generator.storage.stores.codec import CODEC
from generator.storage.text import UNICODE_VERSION

_COMMENT = re.compile(r"--[^\n]*")
_SPACE = re.compile(r"\s+")
_BASE_SQL = ("macros", "lake")  # run for every layer
_DIGEST_DIGITS = 24
_CODE_SUFFIXES = {".py", ".sql", ".j2", ".md", ".js", ".mjs", ".mts", ".css", ".json"}
# Bytes of a row in the Parquet files of made-up lakes of 10,000 to 78,000 products; see docs/where-it-runs.md.
_ROW_BYTES = {"price_guide": 24, "listings": 15, "filtered_checks": 60}


@dataclass(frozen=True)
class Period:
    """Consecutive days, both ends included. Its name is the year."""

    name: str
    first: date
    last: date

    @property
    def span(self) -> str:
        """The day, or the month of the first day: `2026-02-11` or `2026-02`."""
        return str(self.first) if self.is_day else f"{self.first:%Y-%m}"

    def __len__(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def is_day(self) -> bool:
        return self.first == self.last

    def days(self) -> list["Period"]:
        return self.split(len(self))

    def months(self) -> list["Period"]:
        """Return the months of the period, each cut to it."""
        months, first = [], self.first
        while first <= self.last:
            last = min(first.replace(day=calendar.monthrange(first.year, first.month)[1]), self.last)
            months.append(Period(self.name, first, last))
            first = last + timedelta(days=1)
        return months

    def until(self, month: "Period") -> "Period":
        """Return the part of the period that ends with one of its months."""
        return Period(self.name, self.first, month.last)

    def split(self, count: int) -> list["Period"]:
        """Split the period into about `count` spans of whole days."""
        step = -(-len(self) // max(1, min(count, len(self))))
        firsts = [self.first + timedelta(days=start) for start in range(0, len(self), step)]
        return [Period(self.name, first, min(first + timedelta(days=step - 1), self.last)) for first in firsts]

    def content(self, lake: Lake, *tables: str) -> list[str]:
        """Return the content of tables (default: the price tables) of the lake on these days; see `Lake.content`."""
        return lake.content(*(tables or PRICE_TABLES), first=self.first, last=self.last)

    def estimated_rows(self, lake: Lake) -> int:
        """Return about how many rows the lake's price tables hold of these days, from the sizes of their files."""
        files = (file for table in PRICE_TABLES for file in lake.files_of(table, self.first, self.last))
        return sum(file.size // _ROW_BYTES[file.table] for file in files)


def open_month(as_of: date) -> Period:
    """Return the as-of day's month up to that day. Only this part of the history is rebuilt every night."""
    return Period(str(as_of.year), as_of.replace(day=1), as_of)


def closed_periods(lake: Lake, tables: Collection[str] = PRICE_TABLES) -> list[Period]:
    """Return the periods before the open month of which these tables have any rows, oldest first."""
    month = open_month(lake.as_of).first
    days = (file.day for table in tables for file in lake.files_of(table) if file.day)
    return [_closed_year(year, month) for year in sorted({day.year for day in days if day < month})]


def _closed_year(year: int, month: date) -> Period:
    return Period(f"{year:04d}", date(year, 1, 1), min(date(year, 12, 31), month - timedelta(days=1)))


@dataclass(frozen=True)
class ProductRange:
    """The products of one task. The ranges hold all integers: prices may name other products than were split."""

    first: int
    last: int
    low: int  # `low` and `high` are the ends of the products that were split
    high: int
    count: int  # of these products

    def __str__(self) -> str:
        return f"ids {self.low}-{self.high}" if self.count else "no ids"

    @property
    def condition(self) -> str:
        """The range as an SQL condition on `id_product`."""
        return f"id_product between {self.first} and {self.last}"


@dataclass(frozen=True)
class Task:
    """A unit of work of a build."""

    name: str  # unique within a build, such as `products ids 400000-450000`
    layer: str  # whose objects or files the task writes, '' if it writes only intermediate files
    run: Callable[..., None] = field(repr=False)  # takes a `Work` and `arguments`
    arguments: tuple[Any, ...] = ()
    needs: tuple[str, ...] = ()  # the names of the tasks whose outputs it reads
    objects: int = 0  # about as many are written, for the progress bar
    rows: int = 0  # about as many are read; a plan of few rows is executed in few threads
    # It encodes many small objects, so two threads would wait for each other, or it opens the watchlist, which stays
    # open for the next task.
    main_thread: bool = False


@dataclass(frozen=True)
class PlannedLayer:
    """A layer that a build needs, such as `catalogue` or `history-2025`."""

    name: str
    digest: str  # a hash of everything that goes into the layer
    inputs: dict[str, str]  # hashes by name, which the record keeps for `--explain`
    tasks: Callable[[Any], Iterable[Task]] = field(repr=False)  # of a `Plan`, in order, also shared ones

    @property
    def folder(self) -> str:
        return layout.layer_folder(self.name, self.digest)


def define_layer(
    name: str,
    tasks: Callable[[Any], Iterable[Task]],
    *,
    recipe: int,
    sql: tuple[str, ...] = (),
    content: Mapping[str, list[str] | str],
    constants: tuple[object, ...] = (),
) -> PlannedLayer:
    """Define a layer by what goes into it; see `generator.making.work.small_layer` for the parameters."""
    inputs = {part: read if isinstance(read, str) else digest_of(read) for part, read in sorted(content.items())}
    inputs["sql"] = digest_of([_without_comments(sql_text(file)) for file in (*_BASE_SQL, *sql)])
    inputs["constants"] = digest_of([repr(constant) for constant in constants])
    inputs["recipe"] = str(recipe)
    inputs["codec"] = CODEC
    inputs["unicode"] = UNICODE_VERSION
    return PlannedLayer(name, digest_of([name, json.dumps(inputs, sort_keys=True)]), inputs, tasks)


def _without_comments(sql: str) -> str:
    return _SPACE.sub(" ", _COMMENT.sub("", sql)).strip()


def digest_of(lines: list[str]) -> str:
    """Return the hash of some lines, as the inputs of a layer have it."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:_DIGEST_DIGITS]


@cache
def code_sha256() -> str:
    """Return the hash of all modules, SQL files and templates that can change a build."""
    digest = hashlib.sha256()
    for name, path in sorted(_code_files()):
        digest.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _code_files() -> Iterator[tuple[str, Path]]:
    packages = {package.__name__: Path(package.__path__[0]) for package in (generator, edge_auth)}
    packaged = packages["generator"] / sql_root().name  # of a wheel, the SQL itself
    for name, root in (packages | {"build": sql_root()}).items():
        for path in root.rglob("*"):
            if path.suffix in _CODE_SUFFIXES and path.is_file() and (root == packaged or packaged not in path.parents):
                yield f"{name}/{path.relative_to(root).as_posix()}", path


def pattern_of(layer: str) -> str:
    """Return how the index of a layer turns the id of a product into a logical key, or '' if its keys are text."""
    period = layer.removeprefix(layout.sublayer(layout.HISTORY, ""))
    return "" if period == layer else f"{layout.HISTORY}/{period}/{{}}.json"
