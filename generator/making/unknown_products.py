"""The ids that the catalogue does not know: of the price tables on some days, and of the table of identifiers.

The names of the layers of these tables depend on them, so they are needed before a build begins. A layer of prices
keeps all ids of its days. As long as the prices of the days do not change, the layer of the live build has them.
Otherwise they are read from the lake.
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
PRICES, IDENTIFIERS, UNKNOWN = "prices", "identifiers", "unknown products"  # the inputs of such a layer


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
        found = {
            span: self._recorded(layer_names.bulk_layer(span.span), PRICES, prices) for span, prices in spans.items()
        }
        changed = {span: spans[span] for span, digest in found.items() if digest is None}
        return {span: digest for span, digest in found.items() if digest} | (self._read(changed) if changed else {})

    def in_identifiers(self, content: list[str]) -> str:
        """Return the hash of the ids that the table of identifiers names and the catalogue does not know.

        Args:
            content: The content of the table.

        Raises:
            LakeError: A file of the lake cannot be read, or the products break a rule.
        """
        recorded = self._recorded(layer_names.IDENTIFIERS, IDENTIFIERS, content)
        return recorded or _digest_of_ids(self._unknown_in_identifiers() if content else _NONE)

    def _unknown_in_identifiers(self) -> NDArray[np.int64]:
        """Return the unknown ids. As in `_unknown_ids`, a file that cannot be read is left to the task."""
        with suppress(duckdb.Error):
            return self._context.tables.unknown_in_identifiers()
        return _NONE

    def _recorded(self, layer: str, input_: str, content: list[str]) -> str | None:
        """Return the hash in the record of the live build, if its catalogue and this table are the same."""
        live = self._live.get(layer)
        same = self._same_catalogue and _input(live, input_) == digest_of(content)
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
            digests[span] = _digest_of_ids(unknown)
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


def _digest_of_ids(ids: NDArray[np.int64]) -> str:
    return digest_of(list(map(str, ids.tolist())))


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
