"""The ids that the price tables name on some days, and those that the catalogue does not know.

The latter are of the price tables and of the table of identifiers. The names of some layers depend on both, so they are
needed before a build begins. A layer with bulk files keeps all ids of its days. As long as the prices of the days do
not change, the layer of the last build has them. Otherwise they are read from the lake. A file that cannot be read is
left to the task of its month, whose message names table, column and row.
"""

from contextlib import suppress
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from edge_auth.builds import layout
from edge_auth.builds.builds import last_build_id, open_build
from edge_auth.errors import EdgeError
from generator.errors import BuildError
from generator.making.context import BuildContext
from generator.making.layer import digest_of
from generator.making.periods import Period, open_month
from generator.pack.verify import checked_file

IDS = "ids"  # the stem of a layer's file with all ids of its days
PRICES = "prices"  # the input of such a layer
IDENTIFIERS, UNKNOWN = "identifiers", "unknown products"  # inputs of such a layer


class NamedProducts:
    """Finds the ids in spans of days, each a closed month or a later day, with the help of the last build."""

    def __init__(self, context: BuildContext):
        self._context = context
        self._last = _last_layers(context)
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
        same = self._same_catalogue and self.recorded(layer, IDENTIFIERS) == digest_of(content)
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
            file = checked_file(self._context.layers.open(layer, self._last[layer]["digest"]), IDS)
            ids: NDArray[np.int64] = pq.read_table(file)["id_product"].to_numpy()
        except (EdgeError, BuildError, OSError):
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


def _last_layers(context: BuildContext) -> dict[str, Any]:
    """Return the layers in the record of the last build; none if it cannot be read."""
    with suppress(EdgeError):
        layers: dict[str, Any] = open_build(context.store, last_build_id(context.store)).record["layers"]
        return layers
    return {}
