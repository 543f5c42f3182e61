"""Search index format: what filters, sorts and pages need, as files of the `catalogue` layer.

Products stand in one fixed order (by expansion, number, id); a product's place in it is its ordinal.

    columns   a row per product, by ordinal: id, single, set (place in `sets`; their number: none), rarity and
              number (dictionaries of folded values; '' is none), size and digest (of its line in `rows`), and for
              each sort `order_<sort>` (ordinals in the sort's default order) and `rank_<sort>` (its inverse)
    sets      a row per expansion that the lake names or a product belongs to, by id: id, name (NFC, or null)
    words, suffixes, pieces   see `vocabulary`
    rows      see `rows`

The schema of `columns` carries `counts`: per kind how many products there are and per sort how many have a key (those
without one come last in both orders); and `rows`: the SHA-256 of all lines.
"""

import json
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from edge_auth.contract.builds import Layer
from edge_auth.contract.card_lines import ROWS, CardLines
from edge_auth.contract.index import map_table
from edge_auth.contract.names import SORTS
from edge_auth.contract.vocabulary import PIECES, SUFFIXES, WORDS, Vocabulary, only_chunk
from edge_auth.errors import StoreError

COLUMNS, SETS = "columns", "sets"


@dataclass(frozen=True)
class KindCounts:
    """How many products there are of each kind, and how many of them have a key, per kind and sort."""

    products: dict[str, int]
    keyed: dict[str, dict[str, int]]

    def to_json(self) -> str:
        return json.dumps({"products": self.products, "keyed": self.keyed}, sort_keys=True)


class Catalogue:
    """The search index of a build, mapped into memory.

    Attributes:
        ids, single, set: a value per product, by ordinal.
        rarity, number: ordinals' codes into `rarities` and `numbers` (text to code).
        order, rank: per sort, uint32 arrays.
        set_ids, set_names: per known expansion.

    Raises:
        StoreError: the files cannot be read.
    """

    def __init__(self, layer: Layer):
        self._layer = layer
        columns, sets = self._table(COLUMNS), self._table(SETS)
        self._columns = columns
        self.counts = KindCounts(**json.loads(columns.schema.metadata[b"counts"]))
        self.ids, self.single, self.set = (_values(columns, name) for name in ("id", "single", "set"))
        self.rarity, self.rarities = _dictionary(columns, "rarity")
        self.number, self.numbers = _dictionary(columns, "number")
        self.order = {sort: _values(columns, f"order_{sort}") for sort in SORTS}
        self.rank = {sort: _values(columns, f"rank_{sort}") for sort in SORTS}
        self.set_ids = _values(sets, "id")
        self.set_names = sets["name"].to_pylist()

    @property
    def digests(self) -> pa.Array:
        """The beginning of the SHA-256 of each product's line, by ordinal."""
        return only_chunk(self._columns, "digest")

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of the products' names."""
        return Vocabulary(*(self._table(stem) for stem in (WORDS, SUFFIXES, PIECES)), len(self.ids))

    @cached_property
    def rows(self) -> CardLines:
        """The products' Cards."""
        lines = self._layer.file(ROWS, self._columns.schema.metadata[b"rows"].decode())
        return CardLines(lines, _values(self._columns, "size"), self.digests)

    def _table(self, stem: str) -> pa.Table:
        try:
            return map_table(self._layer.file(stem))
        except (OSError, pa.ArrowInvalid) as error:
            raise StoreError(f"the search index in {self._layer.folder} cannot be read: {error}") from error


def _values(table: pa.Table, name: str) -> np.ndarray:
    return only_chunk(table, name).to_numpy(zero_copy_only=False)  # booleans are bits in Arrow


def _dictionary(table: pa.Table, name: str) -> tuple[np.ndarray, dict[str, int]]:
    encoded = only_chunk(table, name)
    return encoded.indices.to_numpy(), {text: code for code, text in enumerate(encoded.dictionary.to_pylist())}
