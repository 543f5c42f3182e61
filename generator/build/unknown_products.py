"""The ids that the price tables name on some days and the catalogue does not know.

The names of the layers with bulk files depend on them, so they are needed before a build begins. A layer keeps all ids
of its days. As long as the prices of the days do not change, the layer of the live build tells them; otherwise they are
read from the lake.
"""

from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from edge_auth.contract.builds import open_build, read_pointer
from edge_auth.contract.layers import Layer
from edge_auth.errors import EdgeError
from generator.build.context import BuildContext
from generator.build.layers.spec import digest_of
from generator.build.periods import Period
from generator.errors import BuildError
from generator.releases.verify import checked_file

IDS = "ids"  # the stem of a layer's file with all ids of its days


class UnknownProducts:
    """Finds the ids without a product in the days of a lake."""

    def __init__(self, context: BuildContext):
        self._context = context
        self._known = context.product_ids()
        self._live = _live_layers(context)

    def ids(self, layer: str, days: Period, prices: list[str]) -> list[str]:
        """Return the ids of some days that the catalogue does not know, sorted.

        Args:
            layer: The name of the layer of these days.
            prices: The content of the price tables on these days.

        Raises:
            LakeError: A file of the lake cannot be read.
        """
        named = self._kept(layer, prices)
        if named is None:
            named = self._context.price_ids(days)
        return list(map(str, np.setdiff1d(named, self._known).tolist()))

    def _kept(self, layer: str, prices: list[str]) -> NDArray[np.int64] | None:
        """Return the ids that the live build's layer keeps, or None if it has other prices or is damaged."""
        live = self._live.get(layer)
        if live is None or live["inputs"].get("prices") != digest_of(prices):
            return None
        try:
            file = checked_file(Layer(self._context.store, layer, live["digest"]), IDS)
            ids: NDArray[np.int64] = pq.read_table(file)["id_product"].to_numpy()
        except (EdgeError, BuildError, OSError):
            return None
        return ids


def _live_layers(context: BuildContext) -> dict[str, Any]:
    """Return the layers in the record of the live build; none if it cannot be read."""
    try:
        pointer, _ = read_pointer(context.store)
        layers: dict[str, Any] = open_build(context.store, pointer.build).record["layers"] if pointer else {}
    except EdgeError:
        return {}
    return layers
