"""The plan of a build: which tasks make the layers that the store lacks.

The names of some layers depend on the ids that the price tables name on some days, or on those of them, and of the
table of identifiers, that the catalogue does not know. So these are needed before a build begins. A layer with bulk
files keeps all ids of its days. As long as the prices of the days do not change, the layer of the last build has them.
Otherwise they are read from the lake. A file that cannot be read is left to the task of its month, whose message names
table, column and row.

The products or the prices of a lake may break a rule; then the plan raises LakeError.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import cached_property

import duckdb
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from generator.errors import BuildError
from generator.making.layer import Period, PlannedLayer, ProductRange, Task, digest_of, open_month
from generator.making.work import BuildContext
from generator.pack.verify import visible_damage
from generator.storage import layout
from generator.storage.builds import RecordedLayer, last_record
from generator.storage.errors import StorageError

IDS = "ids"  # the stem of a layer's file with all ids of its days
PRICES = "prices"  # the input of such a layer
NAMED, UNKNOWN = "identifiers", "unknown products"  # inputs of such a layer
PRODUCTS_PER_TASK = 25_000
# A smaller lake is cut too, so that several threads have something to do.
_RANGES_OF_A_SMALL_LAKE, _MIN_PRODUCTS_PER_TASK = 4, 5_000
_SMALLEST_ID, _LARGEST_ID = -(2**63), 2**63 - 1


class Plan:
    """The tasks that make the missing layers of a build. Every task comes after the tasks that it needs.

    The context's database is opened only if a missing layer is made in ranges of products.
    """

    def __init__(
        self,
        context: BuildContext,
        build: str,
        layers: Sequence[PlannedLayer],
        missing: Collection[str],
        from_stored: bool,
    ):
        self.build, self.lake, self.layers, self.missing = build, context.lake, layers, missing
        self._context, self._from_stored = context, from_stored
        tasks: dict[str, Task] = {}
        for layer in layers:
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
        return _split_products(self._context.tables.product_ids())

    @property
    def products(self) -> int:
        return sum(ids.count for ids in self.ranges)

    def history_ranges(self, period: Period) -> tuple[ProductRange, ...]:
        """Return the products of a period of the history, in ranges.

        A pack ends where a range ends. So the ranges follow from the prices of the period, as the layer's digest does,
        and not from the catalogue, which grows.
        """
        return _split_products(self._context.tables.priced_ids(period))

    @property
    def closed_layers(self) -> tuple[str, ...]:
        """The layers of the history of closed periods, oldest first."""
        years = layout.sublayer(layout.HISTORY, "")
        names = {layer.name for layer in self.layers if layer.name.startswith(years)}
        return tuple(sorted(names - {layout.sublayer(layout.HISTORY, layout.OPEN_MONTH)}))

    def stored_part(
        self, months: Sequence[Period], layer_until: Callable[[Period], PlannedLayer]
    ) -> tuple[str | None, Sequence[Period]]:
        """Return the digest of a stored layer of a closed year's first months, or None, and the other months.

        `months` are those of the year that have rows, oldest first.
        """
        for count in range(len(months) - 1, 0, -1) if self._from_stored else ():
            layer = layer_until(months[count - 1])
            if visible_damage(self._context.layers.open(layer.name, layer.digest)) is None:
                return layer.digest, months[count:]
        return None, months


def _split_products(ids: NDArray[np.int64]) -> tuple[ProductRange, ...]:
    """Split sorted ids of products into ranges of about the same number. The ranges hold every integer."""
    small = min(_RANGES_OF_A_SMALL_LAKE, len(ids) // _MIN_PRODUCTS_PER_TASK)
    chunks = np.array_split(ids, max(1, small, -(-len(ids) // PRODUCTS_PER_TASK)))
    firsts = [_SMALLEST_ID, *(int(chunk[0]) for chunk in chunks[1:])]
    lasts = [*(first - 1 for first in firsts[1:]), _LARGEST_ID]
    bounds = [(int(chunk[0]), int(chunk[-1])) if len(chunk) else (0, 0) for chunk in chunks]
    return tuple(
        ProductRange(first, last, low, high, len(chunk))
        for first, last, (low, high), chunk in zip(firsts, lasts, bounds, chunks, strict=True)
    )


class NamedProducts:
    """Finds the ids in spans of days, each a closed month or a later day, with the help of the last build."""

    def __init__(self, context: BuildContext):
        self._context = context
        last = last_record(context.store)
        self._last: dict[str, RecordedLayer] = last["layers"] if last else {}
        self._ids: dict[Period, NDArray[np.int64]] = {}
        catalogue = digest_of(context.lake.content("products", "expansions"))
        self._same_catalogue = self.recorded(layout.SETS, "catalogue") == catalogue

    def recorded(self, layer: str, name: str) -> str | None:
        """Return the hash of an input of a layer of the last build, or None if there is no such layer or input."""
        last = self._last.get(layer)
        return last["inputs"].get(name) if last else None

    def unchanged(self, span: Period, prices: list[str]) -> bool:
        """Return whether the last build has the catalogue, and these prices of a span."""
        return self._same_catalogue and self._has(span, prices)

    def ids(self, span: Period, prices: list[str]) -> NDArray[np.int64]:
        """Return the sorted ids of a span. `prices` is the content of its price tables."""
        if span not in self._ids:
            kept = self._kept(span) if self._has(span, prices) else None
            self._ids[span] = self._read(span) if kept is None else kept
        return self._ids[span]

    def unknown(self, span: Period, prices: list[str]) -> str:
        """Return the hash of the ids of a span that the catalogue does not know."""
        layer = layout.sublayer(layout.BULK, span.span)
        recorded = self.recorded(layer, UNKNOWN) if self.unchanged(span, prices) else None
        return recorded or self._digest_of_unknown(self.ids(span, prices))

    def unknown_in_identifiers(self, content: list[str]) -> str:
        """Return the hash of the ids that the table of identifiers, of this content, names and the catalogue lacks."""
        layer = layout.IDENTIFIERS
        same = self._same_catalogue and self.recorded(layer, NAMED) == digest_of(content)
        recorded = self.recorded(layer, UNKNOWN) if same else None
        if recorded or not content:
            return recorded or digest_of([])
        with suppress(duckdb.Error):
            return self._digest_of_unknown(
                self._context.tables.named_ids(open_month(self._context.lake.as_of), "identifiers")
            )
        return digest_of([])

    def _has(self, span: Period, prices: list[str]) -> bool:
        return self.recorded(layout.sublayer(layout.BULK, span.span), PRICES) == digest_of(prices)

    def _kept(self, span: Period) -> NDArray[np.int64] | None:
        """Return the ids that the last build's layer keeps, or None if it is damaged."""
        layer = layout.sublayer(layout.BULK, span.span)
        try:
            file = self._context.layers.checked_file(layer, self._last[layer]["digest"], IDS)
            ids: NDArray[np.int64] = pq.read_table(file)["id_product"].to_numpy()
        except (StorageError, BuildError, OSError):
            return None
        return ids

    def _read(self, span: Period) -> NDArray[np.int64]:
        ids = np.empty(0, np.int64)
        with suppress(duckdb.Error):
            ids = self._context.tables.named_ids(span)
        self._context.lake.backend.check_unchanged()
        return ids

    def _digest_of_unknown(self, ids: NDArray[np.int64]) -> str:
        unknown = np.setdiff1d(ids, self._context.tables.product_ids(), assume_unique=True) if len(ids) else ids
        return digest_of(list(map(str, unknown.tolist())))
