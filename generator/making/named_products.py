"""The ids that the price tables name on some days, whether the catalogue knows them or not.

The names of some layers depend on them, so they are needed before a build begins. A layer with bulk files keeps all
ids of its days. As long as the prices of the days do not change, the layer of the live build has them. Otherwise they
are read from the lake.
"""

from contextlib import suppress
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from edge_auth.builds import layer_names
from edge_auth.builds.builds import open_build
from edge_auth.builds.pointer import read_pointer
from edge_auth.errors import EdgeError
from generator.errors import BuildError
from generator.making.context import BuildContext
from generator.making.layers.spec import digest_of
from generator.making.periods import Period
from generator.pack.verify import checked_file

IDS = "ids"  # the stem of a layer's file with all ids of its days
PRICES = "prices"  # the input of such a layer


class NamedProducts:
    """Finds the ids in the days of a lake, with the help of the live build.

    Attributes:
        same_catalogue: Whether the live build has the catalogue of the lake.
    """

    def __init__(self, context: BuildContext):
        self._context = context
        self._live = _live_layers(context)
        self._of_months: dict[Period, NDArray[np.int64]] = {}
        catalogue = digest_of(context.lake.content("products", "expansions"))
        self.same_catalogue = self.recorded(layer_names.SETS, "catalogue") == catalogue

    def recorded(self, layer: str, name: str) -> str | None:
        """Return the hash of an input of a layer of the live build, or None if there is no such layer or input."""
        live = self._live.get(layer)
        return live["inputs"].get(name) if live else None

    def unchanged(self, span: Period, prices: list[str]) -> bool:
        """Return whether the live build has the catalogue, and these prices of a span with bulk files of its own."""
        return self.same_catalogue and self._has(span, prices)

    def kept(self, span: Period, prices: list[str]) -> NDArray[np.int64] | None:
        """Return the sorted ids that the live build's layer keeps, or None if it has other prices or is damaged."""
        if not self._has(span, prices):
            return None
        layer = layer_names.bulk_layer(span.span)
        try:
            file = checked_file(self._context.layers.open(layer, self._live[layer]["digest"]), IDS)
            ids: NDArray[np.int64] = pq.read_table(file)["id_product"].to_numpy()
        except (EdgeError, BuildError, OSError):
            return None
        return ids

    def of_month(self, month: Period, prices: list[str]) -> NDArray[np.int64]:
        """Return the sorted ids of a closed month.

        The task of a month checks the rules of its files, and its message names table, column and row. So a file that
        cannot be read is left to it.

        Raises:
            LakeError: A file is no Parquet, or lacks a column.
        """
        if month not in self._of_months:
            ids = self.kept(month, prices)
            if ids is None:
                ids = np.empty(0, np.int64)
                with suppress(duckdb.Error):
                    ids = self._context.tables.named_ids(month)
            self._of_months[month] = ids
        return self._of_months[month]

    def _has(self, span: Period, prices: list[str]) -> bool:
        return self.recorded(layer_names.bulk_layer(span.span), PRICES) == digest_of(prices)


def _live_layers(context: BuildContext) -> dict[str, Any]:
    """Return the layers in the record of the live build; none if it cannot be read."""
    try:
        pointer, _ = read_pointer(context.store)
        layers: dict[str, Any] = open_build(context.store, pointer.build).record["layers"] if pointer else {}
    except EdgeError:
        return {}
    return layers
