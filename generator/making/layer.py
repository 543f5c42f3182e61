"""The layers of a build, the tasks that make them, and the plan: which tasks make the layers that the store lacks.

The digest of a layer is a hash of everything that goes into it: the content of the lake files that it reads, the SQL
(without comments and white space), the constants of its format, a recipe number, the codec that compresses its objects,
and the Unicode version of text folding. Raise the recipe number when other Python code changes the layer's bytes: a
test compares the bytes of a small lake with it.

A task is data, so a plan can print it, a cluster can send it to another machine, and it can be repeated. It reads the
lake, the store and the outputs of the tasks that it needs. It writes files that are named by their content, so a
repeated task writes the same files.

    closed period, once:       months ─┬─► history (a range of products)
                                       └─► newest rows ─┐
    open month, every night:   month ─┬─► history-open (a range)
                                      └────────────────┴─► products (a range) ─┬─► catalogue
                                                                               └─► bulk-cards
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edge_auth.builds import layer_names, layout
from edge_auth.store.codec import CODEC
from edge_auth.text import UNICODE_VERSION
from generator.database import sql_text
from generator.lake.lake import Lake
from generator.making.periods import Period, history_period

_COMMENT = re.compile(r"--[^\n]*")
_SPACE = re.compile(r"\s+")
_BASE_SQL = ("macros", "lake")  # run for every layer
_DIGEST_DIGITS = 24

PRODUCTS_PER_TASK = 25_000
# A smaller lake is cut too, so that several threads have something to do.
_RANGES_OF_A_SMALL_LAKE, _MIN_PRODUCTS_PER_TASK = 4, 5_000
_SMALLEST_ID, _LARGEST_ID = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class ProductRange:
    """The products of one task: those with ids from `first` to `last`.

    The first range begins at the smallest integer and the last one ends at the largest, because price tables may name
    other products than those that were split.

    Attributes:
        number: The place of the range among all ranges, from 0.
        low: The smallest id of the split products in the range, 0 if there is none.
        high: The largest such id.
        count: The number of split products in the range.
    """

    number: int
    first: int
    last: int
    low: int
    high: int
    count: int

    def __str__(self) -> str:
        return f"ids {self.low}-{self.high}" if self.count else "no ids"

    @property
    def condition(self) -> str:
        """The range as an SQL condition on `id_product`."""
        return f"id_product between {self.first} and {self.last}"


@dataclass(frozen=True)
class Task:
    """A unit of work of a build.

    Attributes:
        name: Unique within a build, such as `cards 2026-10 ids 400000-450000`.
        layer: The layer whose objects or files the task writes, '' if it writes only intermediate files.
        run: The function. It takes a `generator.making.work.Work` and `arguments`.
        needs: The names of the tasks whose outputs it reads.
        objects: An estimate of the objects that it writes, for the progress bar.
        rows: An estimate of the rows of the lake, or of intermediate files, that it reads. `build --plan` prints it,
            and a plan of few rows is executed in few threads.
        main_thread: Whether only the main thread of a process executes it. It encodes many small objects, so two
            threads would wait for each other, or it opens the watchlist, which stays open for the next task.
    """

    name: str
    layer: str
    run: Callable[..., None] = field(repr=False)
    arguments: tuple[Any, ...] = ()
    needs: tuple[str, ...] = ()
    objects: int = 0
    rows: int = 0
    main_thread: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the task as JSON values."""
        fields = {name: getattr(self, name) for name in ("name", "layer", "needs", "objects", "rows")}
        return fields | {"work": f"{self.run.__module__}.{self.run.__qualname__}"}


@dataclass(frozen=True)
class BuildLayer:
    """A layer that a build needs.

    Attributes:
        name: Such as `catalogue` or `history-2025`.
        digest: A hash of everything that goes into the layer.
        inputs: What goes into it, by name, as hashes. The build's record keeps them for `--explain`.
        tasks: Returns the tasks that make the layer, in order, with those that it shares with other layers. Called
            only if the layer is missing.
    """

    name: str
    digest: str
    inputs: dict[str, str]
    tasks: Callable[["Plan"], Iterable[Task]] = field(repr=False)

    @property
    def folder(self) -> str:
        """The folder of the layer in the store."""
        return layout.layer_folder(self.name, self.digest)


def define_layer(
    name: str,
    tasks: Callable[["Plan"], Iterable[Task]],
    *,
    recipe: int,
    sql: tuple[str, ...] = (),
    content: Mapping[str, list[str] | str],
    constants: tuple[object, ...] = (),
) -> BuildLayer:
    """Define a layer by what goes into it.

    Args:
        recipe: The recipe number.
        sql: The files of `build/` that make the layer.
        content: What the layer reads, by name: as lines, or as their hash.
        constants: The constants of its format, such as a page size.
    """
    inputs = {part: read if isinstance(read, str) else digest_of(read) for part, read in sorted(content.items())}
    inputs["sql"] = digest_of([_without_comments(sql_text(file)) for file in (*_BASE_SQL, *sql)])
    inputs["constants"] = digest_of([repr(constant) for constant in constants])
    inputs["recipe"] = str(recipe)
    inputs["codec"] = CODEC
    inputs["unicode"] = UNICODE_VERSION
    return BuildLayer(name, digest_of([name, json.dumps(inputs, sort_keys=True)]), inputs, tasks)


def _without_comments(sql: str) -> str:
    return _SPACE.sub(" ", _COMMENT.sub("", sql)).strip()


def digest_of(lines: list[str]) -> str:
    """Return the hash of some lines, as the inputs of a layer have it."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:_DIGEST_DIGITS]


def pattern_of(layer: str) -> str:
    """Return how the index of a layer turns the id of a product into a logical key, or '' if its keys are text."""
    period = layer.removeprefix(layer_names.history_layer(""))
    return "" if period == layer else f"{layer_names.HISTORY}/{period}/{{}}.json"


def stored_part(
    plan: "Plan", months: Sequence[Period], layer_until: Callable[[Period], BuildLayer]
) -> tuple[str | None, Sequence[Period]]:
    """Return the digest of a closed year's layer with fewer of its months that the store has, and the other months.

    Args:
        months: The months of the year that have rows, oldest first.
        layer_until: Returns the layer of the year up to one of these months.
    """
    for count in range(len(months) - 1, 0, -1):
        layer = layer_until(months[count - 1])
        if plan.is_stored(layer):
            return layer.digest, months[count:]
    return None, months


class Plan:
    """The tasks that make the missing layers of a build.

    Args:
        build: The id of the build.
        layers: All layers of the build, in the order in which they are made.
        missing: The names of those that the build makes. The store has the others.
        product_ids: Returns the sorted ids of all products. Called only if a missing layer is made in ranges of them.
        priced_ids: Returns the sorted ids that a period of the history is split by; see `LakeTables.priced_ids`.
        is_stored: Returns whether the store has a layer that is none of this build, from which a layer may be made.

    Attributes:
        tasks: All tasks. Every task comes after the tasks that it needs.

    Raises:
        LakeError: The products break a rule.
    """

    def __init__(
        self,
        build: str,
        lake: Lake,
        layers: Iterable[BuildLayer],
        missing: Collection[str],
        product_ids: Callable[[], NDArray[np.int64]],
        priced_ids: Callable[[Period], NDArray[np.int64]],
        is_stored: Callable[[BuildLayer], bool],
    ):
        self.build, self.lake, self.layers, self.missing = build, lake, list(layers), missing
        self.is_stored = is_stored
        self._product_ids, self._priced_ids = product_ids, priced_ids
        self._history_ranges: dict[Period, tuple[ProductRange, ...]] = {}
        tasks: dict[str, Task] = {}
        for layer in self.layers:
            for task in layer.tasks(self) if layer.name in missing else ():
                tasks.setdefault(task.name, task)
        self.tasks = list(tasks.values())

    def of(self, layer: str) -> list[Task]:
        """Return the tasks that write a layer, in the order of its index."""
        return [task for task in self.tasks if task.layer == layer]

    def made_of(self, layers: Iterable[str]) -> tuple[str, ...]:
        """Return those of some layers that this build makes: the names of the tasks that end them."""
        return tuple(layer for layer in layers if layer in self.missing)

    @cached_property
    def ranges(self) -> tuple[ProductRange, ...]:
        """All products, in ranges.

        Raises:
            LakeError: The products break a rule.
        """
        return split_products(self._product_ids())

    @property
    def products(self) -> int:
        """The number of products of the lake."""
        return sum(ids.count for ids in self.ranges)

    def history_ranges(self, day: date) -> tuple[ProductRange, ...]:
        """Return the products of the period of the history that holds a day, in ranges.

        A pack ends where a range ends. So the ranges follow from the prices of the period, as the layer's digest does,
        and not from the catalogue, which grows.

        Raises:
            LakeError: A file of prices is no Parquet, or lacks a column.
        """
        period = history_period(self.lake.as_of, day)
        if period not in self._history_ranges:
            self._history_ranges[period] = split_products(self._priced_ids(period))
        return self._history_ranges[period]

    @property
    def closed_layers(self) -> tuple[str, ...]:
        """The layers of the history of closed periods, oldest first."""
        years = layer_names.history_layer("")
        names = {layer.name for layer in self.layers if layer.name.startswith(years)}
        return tuple(sorted(names - {layer_names.history_layer(layer_names.OPEN_MONTH)}))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {"build": self.build, "tasks": [task.to_dict() for task in self.tasks], "total": self.total()}

    def lines(self) -> Iterator[str]:
        """Yield the plan as the lines of a table."""
        width = max((len(task.name) for task in self.tasks), default=0)
        yield f"{'TASK':<{width}}  {'ROWS':>13}  NEEDS"
        for task in self.tasks:
            yield f"{task.name:<{width}}  {task.rows:>13,}  {_first_and_last(task.needs)}"
        total = self.total()
        yield f"{total['tasks']:,} tasks, {total['rows']:,} rows"

    def total(self) -> dict[str, int]:
        """Return the number of tasks, and about how many rows they read."""
        return {"tasks": len(self.tasks), "rows": sum(task.rows for task in self.tasks)}


def _first_and_last(needs: tuple[str, ...]) -> str:
    return f"{needs[0]} … {needs[-1]} ({len(needs)})" if len(needs) > 2 else ", ".join(needs)


def split_products(ids: NDArray[np.int64]) -> tuple[ProductRange, ...]:
    """Split sorted ids of products into ranges of about the same number of products.

    The ranges hold every integer, also those that are not ids of products.
    """
    small = min(_RANGES_OF_A_SMALL_LAKE, len(ids) // _MIN_PRODUCTS_PER_TASK)
    chunks = np.array_split(ids, max(1, small, -(-len(ids) // PRODUCTS_PER_TASK)))
    firsts = [_SMALLEST_ID, *(int(chunk[0]) for chunk in chunks[1:])]
    lasts = [*(first - 1 for first in firsts[1:]), _LARGEST_ID]
    bounds = [(int(chunk[0]), int(chunk[-1])) if len(chunk) else (0, 0) for chunk in chunks]
    return tuple(
        ProductRange(number, first, last, low, high, len(chunk))
        for number, (first, last, (low, high), chunk) in enumerate(zip(firsts, lasts, bounds, chunks, strict=True))
    )


def slices(length: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of consecutive slices of `length` items; one empty slice if there are no items."""
    return ((start, min(start + size, length)) for start in range(0, max(length, 1), size))
