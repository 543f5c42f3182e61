"""The ids that the catalogue does not know: of the price tables on some days, and of the table of identifiers.

The names of the layers of these tables depend on them.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import date

import duckdb
import numpy as np
from numpy.typing import NDArray

from edge_auth.builds import layer_names
from generator.making.context import BuildContext
from generator.making.layers.spec import digest_of
from generator.making.named_products import NamedProducts
from generator.making.periods import Period

IDENTIFIERS, UNKNOWN = "identifiers", "unknown products"  # inputs of such a layer
_NONE = np.empty(0, np.int64)


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
