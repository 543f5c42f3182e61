"""The ids that the price tables name on some days, and those that the catalogue does not know.

The latter are of the price tables and of the table of identifiers. The names of some layers depend on both, so they are
needed before a build begins. A layer with bulk files keeps all ids of its days. As long as the prices of the days do
not change, the layer of the live build has them. Otherwise they are read from the lake.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import date
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
from generator.making.layer import digest_of
from generator.making.periods import Period
from generator.pack.verify import checked_file

IDS = "ids"  # the stem of a layer's file with all ids of its days
PRICES = "prices"  # the input of such a layer
IDENTIFIERS, UNKNOWN = "identifiers", "unknown products"  # inputs of such a layer
_NONE = np.empty(0, np.int64)


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


class UnknownProducts:
    """Finds the ids without a product in the days of a lake, and in its identifiers."""

    def __init__(self, context: BuildContext, named: NamedProducts):
        self._context = context
        self._named = named

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

    def in_identifiers(self, content: list[str]) -> str:
        """Return the hash of the ids that the table of identifiers names and the catalogue does not know.

        Args:
            content: The content of the table.

        Raises:
            LakeError: A file of the lake cannot be read, or the products break a rule.
        """
        layer = layer_names.IDENTIFIERS
        same = self._named.same_catalogue and self._named.recorded(layer, IDENTIFIERS) == digest_of(content)
        recorded = self._named.recorded(layer, UNKNOWN) if same else None
        return recorded or _digest_of_ids(self._unknown_in_identifiers() if content else _NONE)

    def _unknown_in_identifiers(self) -> NDArray[np.int64]:
        """Return the unknown ids. As in `_unknown_ids`, a file that cannot be read is left to the task."""
        with suppress(duckdb.Error):
            return self._context.tables.unknown_in_identifiers()
        return _NONE

    def _recorded(self, span: Period, prices: list[str]) -> str | None:
        same = self._named.unchanged(span, prices)
        return self._named.recorded(layer_names.bulk_layer(span.span), UNKNOWN) if same else None

    def _read(self, spans: Mapping[Period, list[str]]) -> dict[Period, str]:
        kept = {day: self._named.kept(day, prices) for day, prices in spans.items() if day.is_day}
        days = [day for day, ids in kept.items() if ids is None]
        by_day = self._unknown_ids(Period("", days[0].first, days[-1].last)) if days else {}
        digests = {}
        for span, prices in spans.items():
            ids = kept.get(span) if span.is_day else self._named.of_month(span, prices)
            if ids is None:
                unknown = by_day.get(span.first, _NONE)
            else:
                unknown = ids[~np.isin(ids, self._context.tables.product_ids(), assume_unique=True)]
            digests[span] = _digest_of_ids(unknown)
        return digests

    def _unknown_ids(self, days: Period) -> dict[date, NDArray[np.int64]]:
        """Return the unknown ids by day. A file that cannot be read is left to the task of the month."""
        with suppress(duckdb.Error):
            return self._context.tables.unknown_ids(days)
        return {}


def _digest_of_ids(ids: NDArray[np.int64]) -> str:
    return digest_of(list(map(str, ids.tolist())))
