"""The tasks of a build: what each one reads, for which products, and the function that does it.

A task is data, so a plan can print it, a cluster can send it to another machine, and it can be repeated. It reads the
lake, the store and the outputs of the tasks that it needs. It writes files that are named by their content, so a
repeated task writes the same files.

    closed period, once:       months ─┬─► history (a range of products)
                                       └─► newest rows ─┐
    open month, every night:   month ─┬─► history-open (a range)
                                      └────────────────┴─► products (a range) ─┬─► catalogue
                                                                               └─► bulk-cards
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.lake.lake import Lake
from generator.making.periods import Period, history_period

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
        work: The function. It takes a BuildContext, a Writer, the outputs of the needed tasks by name, and `arguments`.
        needs: The names of the tasks whose outputs it reads.
        objects: An estimate of the objects that it writes, for the progress bar.
        rows: An estimate of the rows of the lake, or of intermediate files, that it reads. `build --plan` prints it,
            and a plan of few rows is executed in few threads.
        main_thread: Whether only the main thread of a process executes it. It encodes many small objects, so two
            threads would wait for each other, or it opens the watchlist, which stays open for the next task.
    """

    name: str
    layer: str
    work: Callable[..., None] = field(repr=False)
    arguments: tuple[Any, ...] = ()
    needs: tuple[str, ...] = ()
    objects: int = 0
    rows: int = 0
    main_thread: bool = False


@dataclass(frozen=True)
class BuildScope:
    """The inputs of a build's tasks besides their layer: the lake, the other layers and the ranges of products.

    Attributes:
        missing: The digests of the layers that the build makes, by layer.
        present: The digests of the layers that the store has, by layer.
        product_ids: Returns the sorted ids of all products. Called only if a missing layer is made in ranges of them.
        priced_ids: Returns the sorted ids that a period of the history is split by; see `LakeTables.priced_ids`.
        stored: Returns whether the store has a layer, by name and digest, that a missing layer may be made from.
    """

    lake: Lake
    missing: dict[str, str]
    present: dict[str, str]
    product_ids: Callable[[], NDArray[np.int64]]
    priced_ids: Callable[[Period], NDArray[np.int64]]
    stored: Callable[[str, str], bool] = lambda name, digest: False
    _history_ranges: dict[Period, tuple[ProductRange, ...]] = field(default_factory=dict)

    @cached_property
    def ranges(self) -> tuple[ProductRange, ...]:
        """All products, in ranges.

        Raises:
            LakeError: The products break a rule.
        """
        return split_products(self.product_ids())

    def history_ranges(self, day: date) -> tuple[ProductRange, ...]:
        """Return the products of the period of the history that holds a day, in ranges.

        A pack ends where a range ends. So the ranges follow from the prices of the period, as the layer's digest does,
        and not from the catalogue, which grows.

        Raises:
            LakeError: A file of prices is no Parquet, or lacks a column.
        """
        period = history_period(self.lake.as_of, day)
        if period not in self._history_ranges:
            self._history_ranges[period] = split_products(self.priced_ids(period))
        return self._history_ranges[period]

    @property
    def products(self) -> int:
        """The number of products of the lake."""
        return sum(ids.count for ids in self.ranges)


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
