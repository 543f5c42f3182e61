"""The ids that the price tables name on some days and the catalogue does not know.

The names of the layers with bulk files depend on them, so they are needed before a build begins. A layer keeps all ids
of its days. As long as the prices of the days do not change, the layer of the live build has them. Otherwise they are
read from the lake.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from edge_auth.contract import layer_names
from edge_auth.contract.builds import open_build, read_pointer
from edge_auth.errors import EdgeError
from generator.errors import BuildError
from generator.making.context import BuildContext
from generator.making.layers.spec import digest_of
from generator.making.periods import Period
from generator.releases.verify import checked_file

_NONE = np.empty(0, np.int64)
IDS = "ids"  # the stem of a layer's file with all ids of its days
PRICES, UNKNOWN = "prices", "unknown products"  # the inputs of such a layer


class UnknownProducts:
    """Finds the ids without a product in the days of a lake."""

    def __init__(self, context: BuildContext):
        self._context = context
        self._live = _live_layers(context)
        catalogue = digest_of(context.lake.content("products", "expansions"))
        self._same_catalogue = _input(self._live.get(layer_names.SETS), "catalogue") == catalogue

    def digests(self, spans: Mapping[Period, list[str]]) -> dict[Period, str]:
        """Return for each span of days the hash of its ids that the catalogue does not know.

        If neither the prices nor the catalogue changed, the record of the live build has it already.

        Args:
            spans: The content of the price tables in each span.

        Raises:
            LakeError: A file of the lake cannot be read, or the products break a rule.
        """
        found = {span: self._recorded(span, prices) for span, prices in spans.items()}
        changed = {span: spans[span] for span, digest in found.items() if digest is None}
        return {span: digest for span, digest in found.items() if digest} | (self._read(changed) if changed else {})

    def _recorded(self, span: Period, prices: list[str]) -> str | None:
        live = self._live.get(layer_names.bulk_layer(span.span))
        same = self._same_catalogue and _input(live, PRICES) == digest_of(prices)
        return _input(live, UNKNOWN) if same else None

    def _read(self, spans: Mapping[Period, list[str]]) -> dict[Period, str]:
        kept = {span: self._kept(layer_names.bulk_layer(span.span), prices) for span, prices in spans.items()}
        days = [span for span, ids in kept.items() if ids is None and span.is_day]
        by_day = self._unknown_ids(Period("", days[0].first, days[-1].last)) if days else {}
        digests = {}
        for span, ids in kept.items():
            if ids is not None:
                unknown = ids[~np.isin(ids, self._context.tables.product_ids(), assume_unique=True)]
            elif span in days:
                unknown = by_day.get(span.first, _NONE)
            else:
                unknown = np.unique(np.concatenate([_NONE, *self._unknown_ids(span).values()]))
            digests[span] = digest_of(list(map(str, unknown.tolist())))
        return digests

    def _unknown_ids(self, days: Period) -> dict[date, NDArray[np.int64]]:
        """Return the unknown ids by day.

        The task of a month checks the rules of its files, and its message names table, column and row. So a file that
        cannot be read is left to it.
        """
        with suppress(duckdb.Error):
            return self._context.tables.unknown_ids(days)
        return {}

    def _kept(self, layer: str, prices: list[str]) -> NDArray[np.int64] | None:
        """Return the ids that the live build's layer keeps, or None if it has other prices or is damaged."""
        live = self._live.get(layer)
        if live is None or _input(live, PRICES) != digest_of(prices):
            return None
        try:
            file = checked_file(self._context.layers.open(layer, live["digest"]), IDS)
            ids: NDArray[np.int64] = pq.read_table(file)["id_product"].to_numpy()
        except (EdgeError, BuildError, OSError):
            return None
        return ids


def _input(layer: Any, name: str) -> str | None:
    """Return the hash of an input in the record of a layer, or None if there is no such layer or input."""
    return layer["inputs"].get(name) if layer else None


def _live_layers(context: BuildContext) -> dict[str, Any]:
    """Return the layers in the record of the live build; none if it cannot be read."""
    try:
        pointer, _ = read_pointer(context.store)
        layers: dict[str, Any] = open_build(context.store, pointer.build).record["layers"] if pointer else {}
    except EdgeError:
        return {}
    return layers
