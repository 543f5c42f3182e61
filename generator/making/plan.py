"""The plan of a build: which tasks make the layers that the store lacks.

The products or the prices of a lake may break a rule; then the plan raises LakeError.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edge_auth.builds import layout
from generator.making.context import BuildContext
from generator.making.layer import BuildLayer, ProductRange, Task
from generator.making.periods import Period, history_period
from generator.pack.verify import visible_damage

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
        layers: Sequence[BuildLayer],
        missing: Collection[str],
        from_stored: bool,
    ):
        self.build, self.lake, self.layers, self.missing = build, context.lake, layers, missing
        self._context, self._from_stored = context, from_stored
        self._history_ranges: dict[Period, tuple[ProductRange, ...]] = {}
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
        """All products, in ranges."""
        return _split_products(self._context.tables.product_ids())

    @property
    def products(self) -> int:
        """The number of products of the lake."""
        return sum(ids.count for ids in self.ranges)

    def history_ranges(self, day: date) -> tuple[ProductRange, ...]:
        """Return the products of the period of the history that holds a day, in ranges.

        A pack ends where a range ends. So the ranges follow from the prices of the period, as the layer's digest does,
        and not from the catalogue, which grows.
        """
        period = history_period(self.lake.as_of, day)
        if period not in self._history_ranges:
            self._history_ranges[period] = _split_products(self._context.tables.priced_ids(period))
        return self._history_ranges[period]

    @property
    def closed_layers(self) -> tuple[str, ...]:
        """The layers of the history of closed periods, oldest first."""
        years = layout.sublayer(layout.HISTORY, "")
        names = {layer.name for layer in self.layers if layer.name.startswith(years)}
        return tuple(sorted(names - {layout.sublayer(layout.HISTORY, layout.OPEN_MONTH)}))

    def stored_part(
        self, months: Sequence[Period], layer_until: Callable[[Period], BuildLayer]
    ) -> tuple[str | None, Sequence[Period]]:
        """Return the digest of a stored layer of a closed year's first months, or None, and the other months.

        `months` are those of the year that have rows, oldest first.
        """
        for count in range(len(months) - 1, 0, -1) if self._from_stored else ():
            layer = layer_until(months[count - 1])
            if visible_damage(self._context.layers.open(layer.name, layer.digest)) is None:
                return layer.digest, months[count:]
        return None, months

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {"build": self.build, "tasks": [task.to_dict() for task in self.tasks], "total": self._total()}

    def lines(self) -> Iterator[str]:
        """Yield the plan as the lines of a table."""
        width = max((len(task.name) for task in self.tasks), default=0)
        yield f"{'TASK':<{width}}  {'ROWS':>13}  NEEDS"
        for task in self.tasks:
            needs = task.needs
            few = f"{needs[0]} … {needs[-1]} ({len(needs)})" if len(needs) > 2 else ", ".join(needs)
            yield f"{task.name:<{width}}  {task.rows:>13,}  {few}"
        total = self._total()
        yield f"{total['tasks']:,} tasks, {total['rows']:,} rows"

    def _total(self) -> dict[str, int]:
        return {"tasks": len(self.tasks), "rows": sum(task.rows for task in self.tasks)}


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
