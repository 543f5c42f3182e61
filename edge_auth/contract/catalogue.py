"""Search index format: the columns that filters and sorts need, as Arrow files of the `catalogue` layer.

Products stand in one fixed order (by expansion, number, id); a product's place in it is its ordinal. Three files:

    columns   a row per product, by ordinal: id, single, set (place in `sets`; their number: none), rarity and
              number (dictionaries of folded values; '' is none), and for each sort `order_<sort>` (ordinals in
              the sort's default order) and `rank_<sort>` (its inverse)
    words     a row per distinct word of the folded names: word, products (ordinals, ascending)
    sets      a row per expansion that the lake names or a product belongs to, by id: id, name (NFC, or null)

The schema of `columns` carries `counts`: per kind how many products there are and per sort how many have a key;
those without one come last in both orders.
"""

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from edge_auth.contract.builds import Layer
from edge_auth.contract.index import map_table
from edge_auth.contract.names import SORTS
from edge_auth.errors import StoreError

COLUMNS, WORDS, SETS = "columns", "words", "sets"


@dataclass(frozen=True)
class Counts:
    """How many products there are of each kind, and how many of them have a key, per kind and sort."""

    products: dict[str, int]
    keyed: dict[str, dict[str, int]]

    def to_json(self) -> str:
        return json.dumps({"products": self.products, "keyed": self.keyed}, sort_keys=True)


class Columns:
    """The search index of a build, mapped into memory.

    Attributes:
        ids, single, set: a value per product, by ordinal.
        rarity, number: ordinals' codes into `rarities` and `numbers` (text to code).
        order, rank: per sort, uint32 arrays.
        words, postings, postings_start: postings of word w are `postings[start[w]:start[w + 1]]`.
        set_ids, set_names: per known expansion.

    Raises:
        StoreError: the files cannot be read.
    """

    def __init__(self, layer: Layer):
        try:
            columns, words, sets = (map_table(layer.file(stem)) for stem in (COLUMNS, WORDS, SETS))
        except (OSError, pa.ArrowInvalid) as error:
            raise StoreError(f"the search index in {layer.folder} cannot be read: {error}") from error
        self.counts = Counts(**json.loads(columns.schema.metadata[b"counts"]))
        self.ids, self.single, self.set = (_values(columns, name) for name in ("id", "single", "set"))
        self.rarity, self.rarities = _dictionary(columns, "rarity")
        self.number, self.numbers = _dictionary(columns, "number")
        self.order = {sort: _values(columns, f"order_{sort}") for sort in SORTS}
        self.rank = {sort: _values(columns, f"rank_{sort}") for sort in SORTS}
        self.words = _chunk(words, "word")
        lists = _chunk(words, "products")
        self.postings, self.postings_start = lists.values.to_numpy(), lists.offsets.to_numpy()
        self.set_ids = _values(sets, "id")
        self.set_names = sets["name"].to_pylist()


def _chunk(table: pa.Table, name: str) -> pa.Array:
    column = table[name]
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _values(table: pa.Table, name: str) -> np.ndarray:
    return _chunk(table, name).to_numpy(zero_copy_only=False)  # booleans are bits in Arrow


def _dictionary(table: pa.Table, name: str) -> tuple[np.ndarray, dict[str, int]]:
    encoded = _chunk(table, name)
    return encoded.indices.to_numpy(), {text: code for code, text in enumerate(encoded.dictionary.to_pylist())}
