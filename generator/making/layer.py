"""The layers of a build, and the tasks that make them.

The digest of a layer is a hash of everything that goes into it: the content of the lake files that it reads, the SQL
(without comments and white space), the constants of its format, a recipe number, the codec that compresses its objects,
and the Unicode version of text folding. Raise the recipe number when other Python code changes the layer's bytes: a
test compares the bytes of a small lake with it.

A task is data, so a plan can print it, a cluster can send it to another machine, and it can be repeated. It reads the
lake, the store and the outputs of the tasks that it needs. It writes files that are named by their content, so a
repeated task writes the same files.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from edge_auth.builds import layout
from edge_auth.store.codec import CODEC
from edge_auth.text import UNICODE_VERSION
from generator.database import sql_text

_COMMENT = re.compile(r"--[^\n]*")
_SPACE = re.compile(r"\s+")
_BASE_SQL = ("macros", "lake")  # run for every layer
_DIGEST_DIGITS = 24


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

    def to_dict(self) -> dict[str, Any]:
        """Return the task as JSON values."""
        fields = {name: getattr(self, name) for name in ("name", "layer", "needs", "objects", "rows")}
        return fields | {"work": f"{self.run.__module__}.{self.run.__qualname__}"}


@dataclass(frozen=True)
class BuildLayer:
    """A layer that a build needs, such as `catalogue` or `history-2025`."""

    name: str
    digest: str  # a hash of everything that goes into the layer
    inputs: dict[str, str]  # hashes by name, which the record keeps for `--explain`
    tasks: Callable[[Any], Iterable[Task]] = field(repr=False)  # of a `Plan`, in order, also shared ones

    @property
    def folder(self) -> str:
        """The folder of the layer in the store."""
        return layout.layer_folder(self.name, self.digest)


def define_layer(
    name: str,
    tasks: Callable[[Any], Iterable[Task]],
    *,
    recipe: int,
    sql: tuple[str, ...] = (),
    content: Mapping[str, list[str] | str],
    constants: tuple[object, ...] = (),
) -> BuildLayer:
    """Define a layer by what goes into it; see `generator.making.work.small_layer` for the parameters."""
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
    period = layer.removeprefix(layout.sublayer(layout.HISTORY, ""))
    return "" if period == layer else f"{layout.HISTORY}/{period}/{{}}.json"


def slices(length: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of consecutive slices of `length` items; one empty slice if there are no items."""
    return ((start, min(start + size, length)) for start in range(0, max(length, 1), size))
