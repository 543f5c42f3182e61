"""A build as tasks: what each one reads, of which range, and by which function it is made.

A task is data, so that it can be printed, sent to another machine and done again: it reads the lake, the store and
what the tasks that it needs have made, writes files that are named by their content, and gives back what it wrote.
Done twice it writes the same, so nothing is lost or doubled when a machine is.

    month ─┬─► newest ─► history (a range of products)              a closed period, once
           └─► products (a range) ─┬─► cards (a range)              every night
                                   └─► rankings ─┬─► search
                                                 ├─► rows (a range of the catalogue's order)
                                                 └─► lists (a range of pages)
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from generator.database import ALL_IDS
from generator.lake.lake import Lake

PRODUCTS_PER_TASK = 25_000


@dataclass(frozen=True)
class ProductRange:
    """A range of products: ids from `first` to `last`, between them `count` products of the lake, `low` to `high`.

    The first range begins, and the last one ends, where integers do: price tables may name products that the lake's
    table of products does not.
    """

    number: int
    first: int
    last: int
    low: int
    high: int
    count: int

    def __str__(self) -> str:
        return f"ids {self.low}-{self.high}" if self.count else "no ids"


@dataclass(frozen=True)
class Task:
    """A part of a build.

    Attributes:
        name: what a person calls it, unique within a build, such as `cards 2026-10 ids 400000-450000`.
        layer: the layer whose objects or files it writes; '' where it makes parts that only other tasks read.
        work: called with a context, a writer, what the needed tasks have made (by name), and the arguments.
        needs: names of the tasks whose parts it reads.
        objects: how many objects it will about write.
        rows, reads, writes: estimates: rows of the lake or of a part, bytes read and bytes written.
    """

    name: str
    layer: str
    work: Callable[..., None] = field(repr=False)
    arguments: tuple = ()
    needs: tuple[str, ...] = ()
    objects: int = 0
    rows: int = 0
    reads: int = 0
    writes: int = 0


@dataclass(frozen=True)
class BuildScope:
    """What the tasks of a build depend on besides their layer.

    Attributes:
        wanted: digests of all layers by name, of those that have to be made.
        kept: the same of those that are in the store.
        ranges: all products, cut; empty where no wanted layer is made in ranges.
        kinds: how many products there are of each kind and of all.
    """

    lake: Lake
    wanted: dict[str, str]
    kept: dict[str, str]
    ranges: tuple[ProductRange, ...] = ()
    kinds: dict[str, int] = field(default_factory=dict)

    @property
    def products(self) -> int:
        return sum(part.count for part in self.ranges)


def ranges_of(ids: np.ndarray) -> tuple[ProductRange, ...]:
    """Sorted ids of products as ranges of about the same number of products, which together hold every integer."""
    cut = np.array_split(ids, max(1, -(-len(ids) // PRODUCTS_PER_TASK)))
    firsts = [ALL_IDS[0], *(int(piece[0]) for piece in cut[1:])]
    lasts = [*(first - 1 for first in firsts[1:]), ALL_IDS[1]]
    ends = [(int(piece[0]), int(piece[-1])) if len(piece) else (0, 0) for piece in cut]
    return tuple(
        ProductRange(number, first, last, *between, len(piece))
        for number, (first, last, between, piece) in enumerate(zip(firsts, lasts, ends, cut, strict=True))
    )


def pieces(length: int, size: int) -> Iterator[tuple[int, int]]:
    """Starts and ends that cut so many things into pieces of a size; one empty piece where there is nothing."""
    return ((start, min(start + size, length)) for start in range(0, max(length, 1), size))
