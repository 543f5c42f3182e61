"""The catalogue of a build: the search index that filters, sorts and lists need, and each Card as a line of JSON.

Products have one fixed order (by expansion, number, id). The ordinal of a product is its position in this order. The
search index is in files of the layer `catalogue`:

    columns   a row per product, by ordinal: id, single, set (row in `sets`; the number of sets for no set), size and
              digest (of its Card's line). For each text filter a column of its name: a dictionary of keys, '' for no
              value, `card_lists.BLANK` for an empty text. For each sort `order_<sort>` (ordinals in the sort's
              default order) and `rank_<sort>` (its inverse), and for each sort by a price `cents_<sort>`, the prices
              in the sort's default order, in cents (0 for products without a price, which come last). by_id (ordinals
              by ascending id), product_digest (of the Card's line before its prices), full_name and base_name (rows
              in `names`)
    sets      a row per expansion that the lake names or that a product belongs to, by id: id, name (NFC, or null),
              and game (folded, or null)
    words, suffixes, pieces, names   see `vocabulary`

The schema metadata of `columns` holds `counts`: for each kind the number of products, and for each sort the number of
products that have a sort key (the others come last in both orders). It also holds `lines`, the SHA-256 of the Cards'
lines by id (`CardLines`). `spellings` holds for `game` and `rarity` how people see a key of the filter.

The Cards' lines have the order of the ids. In the store they are the bulk file `cards`. The local copy is inflated and
mapped into memory, so list answers are copied from it without parsing. The lines' hashes are stored in the search
index, so an ETag needs no pass over the text.
"""

import hashlib
import json
import mmap
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from edge_auth.builds.card_lists import PRICE_SORTS, SORTS, TEXT_FILTERS
from edge_auth.builds.index import only_chunk
from edge_auth.builds.layers import Layer
from edge_auth.builds.vocabulary import NAMES, SUBSTRINGS, SUFFIXES, WORDS, Lists, Names, Vocabulary
from edge_auth.errors import DamagedObject, StoreError
from edge_auth.store.codec import sha256
from edge_auth.text import fold_without_apostrophes

COLUMNS, SETS = "columns", "sets"
PRICES = "prices"  # the newest prices of the products, for the generator
CARD_LINES = "cards"  # the stem of the file of the Cards' lines
DIGEST_BYTES, PRODUCT_DIGEST_BYTES = 16, 8  # of the SHA-256 of a line, and of its part before the prices
# The text in a Card before its prices, which come last. JSON escapes quotation marks, so no text of a product holds it.
PRICES_MARK = b',"filtered_price":'


@dataclass(frozen=True)
class KindCounts:
    """The number of products of each kind, and of those with a sort key, by kind and sort."""

    products: dict[str, int]
    keyed: dict[str, dict[str, int]]

    def to_json(self) -> str:
        return json.dumps({"products": self.products, "keyed": self.keyed}, sort_keys=True)


class TextColumn(NamedTuple):
    """The texts of the products that a filter compares: a code per product, by ordinal, and the code of each text."""

    codes: np.ndarray
    code_of: dict[str, int]

    def mask(self, text: str) -> np.ndarray:
        """Return which products have this text: bool, by ordinal. '' stands for no value, so no product has it."""
        found: np.ndarray = self.codes == (self.code_of.get(text, -1) if text else -1)
        return found


class Catalogue:
    """The search index of a build, mapped into memory.

    Attributes:
        ids, single, set: One value per product, by ordinal.
        texts: By text filter.
        order, rank: One uint32 array per sort.
        cents: One int64 array per sort by a price, highest first, of the products that have one.
        full_name, base_name: The rows of each product's names in `names`, by ordinal.
        set_ids, set_names, set_games: One value per known expansion.
    """

    def __init__(self, layer: Layer, lines: Layer):
        self._layer, self._lines = layer, lines
        columns, sets = layer.table(COLUMNS), layer.table(SETS)
        self._columns = columns
        self.counts = KindCounts(**json.loads(columns.schema.metadata[b"counts"]))
        self.ids, self.single, self.set = (_values(columns, name) for name in ("id", "single", "set"))
        self.texts = {name: _texts(columns, name) for name in TEXT_FILTERS}
        self.order = {sort: _values(columns, f"order_{sort}") for sort in SORTS}
        self.rank = {sort: _values(columns, f"rank_{sort}") for sort in SORTS}
        self.full_name, self.base_name = (_narrow(_values(columns, name)) for name in ("full_name", "base_name"))
        keyed = self.counts.keyed["all"]
        self.cents = {sort: _values(columns, f"cents_{sort}")[: keyed[sort]] for sort in PRICE_SORTS}
        self.set_ids = _values(sets, "id")
        self.set_names = sets["name"].to_pylist()
        self.set_games = sets["game"].to_pylist()
        self.spellings: dict[str, dict[str, str]] = json.loads(columns.schema.metadata[b"spellings"])

    @cached_property
    def by_id(self) -> np.ndarray:
        return _values(self._columns, "by_id")

    @cached_property
    def folded_sets(self) -> dict[str, str]:
        """The names of the sets, by their texts as /sets compares them."""
        return {fold_without_apostrophes(name): name for name in self.set_names if name}

    def ordinals(self, ids: Sequence[int]) -> list[int | None]:
        """Return the ordinals of products, None for an unknown id. The ids fit into 64 bits."""
        if not len(self.ids):
            return [None] * len(ids)
        wanted = np.array(ids, np.int64)
        places = np.searchsorted(self.ids, wanted, sorter=self.by_id)
        found = self.by_id[np.minimum(places, len(self.ids) - 1)]
        known = (self.ids[found] == wanted).tolist()
        return [ordinal if is_known else None for ordinal, is_known in zip(found.tolist(), known, strict=True)]

    def ordinal(self, id_: int) -> int | None:
        """Return the ordinal of a product, or None for an unknown id, in a tenth of the time of `ordinals`."""
        ids, by_id = self._views
        place = bisect_left(by_id, id_, key=ids.__getitem__)
        return by_id[place] if place < len(ids) and ids[by_id[place]] == id_ else None

    def cents_of(self, ordinals: np.ndarray, sort: str) -> list[int | None]:
        """Return the prices of some products by which a sort orders, in cents; None for one that has none."""
        cents, ranks = self.cents[sort], self.rank[sort].take(ordinals)
        has_price = (ranks < len(cents)).tolist()
        found = cents.take(ranks, mode="clip").tolist() if len(cents) else [0] * len(ranks)
        return [price if is_known else None for price, is_known in zip(found, has_price, strict=True)]

    @cached_property
    def set_starts(self) -> np.ndarray:
        """The ordinal of the first product of each set, in the order of `set_ids`, and the end of the last one."""
        return starts_of(self.set, len(self.set_ids))

    def numbered(self, key: str) -> np.ndarray:
        """Return the products that have a collector number, by the key of its filter, as ordinals."""
        row = self.texts["number"].code_of[key]
        return self._by_number.between(range(row, row + 1))

    @cached_property
    def _by_number(self) -> Lists:
        codes, count = self.texts["number"].codes, len(self.texts["number"].code_of)
        ends = np.bincount(codes, minlength=count).cumsum()
        return Lists(np.append(0, ends), codes.argsort(kind="stable").astype(np.uint32))

    @property
    def digests(self) -> pa.Array:
        return only_chunk(self._columns, "digest")

    @property
    def product_digests(self) -> pa.Array:
        return only_chunk(self._columns, "product_digest")

    @cached_property
    def vocabulary(self) -> Vocabulary:
        words, suffixes, substrings = (self._layer.table(file) for file in (WORDS, SUFFIXES, SUBSTRINGS))
        return Vocabulary(words, suffixes, substrings, self.set_starts, len(self.ids))

    @cached_property
    def names(self) -> Names:
        """The names of the products, of which `full_name` and `base_name` are the rows."""
        return Names(self._layer.table(NAMES))

    @cached_property
    def card_lines(self) -> "CardLines":
        file = self._lines.inflated_file(CARD_LINES, self._columns.schema.metadata[b"lines"].decode())
        try:
            return CardLines(file, self.by_id, _values(self._columns, "size"), self.digests)
        except (OSError, ValueError) as error:
            raise StoreError(f"the local copy {file} cannot be mapped into memory: {error}") from error

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview]:
        """`ids` and `by_id`. A single number is read in a fifth of numpy's time."""
        return self.ids.data, self.by_id.data


def _values(table: pa.Table, name: str) -> np.ndarray:
    values: np.ndarray = only_chunk(table, name).to_numpy(zero_copy_only=False)  # booleans are bits in Arrow
    return values


def starts_of(set_: np.ndarray, sets: int) -> np.ndarray:
    """Return where the products of each set begin, and where the last ones end, from their sets, ascending."""
    return np.searchsorted(set_, np.arange(sets + 1))


def _narrow(values: np.ndarray) -> np.ndarray:
    """Return numbers in the smallest type that holds them: to compare them takes as long as to read them."""
    return values.astype(np.min_scalar_type(values.max(initial=0)))


def _texts(table: pa.Table, name: str) -> TextColumn:
    encoded = only_chunk(table, name)
    code_of = {text: code for code, text in enumerate(encoded.dictionary.to_pylist())}
    return TextColumn(encoded.indices.to_numpy(), code_of)


class CardLines:
    """The Card lines of a build.

    Args:
        order: The ordinals in the order of the lines.
        sizes, digests: By ordinal: the bytes of each line with its line feed, the first bytes of its SHA-256.
    """

    def __init__(self, file: Path, order: np.ndarray, sizes: np.ndarray, digests: pa.Array):
        self._ends = np.empty(len(sizes), np.int64)
        self._ends[order] = np.cumsum(sizes[order], dtype=np.int64)
        self._starts = self._ends - sizes
        self._views: tuple[memoryview, memoryview] = self._starts.data, self._ends.data
        data = np.frombuffer(digests.buffers()[1] or b"", np.uint8, len(sizes) * DIGEST_BYTES)
        self._digests = data.reshape(-1, DIGEST_BYTES)
        with file.open("rb") as stream:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if len(sizes) else b""
        self._text = memoryview(mapped)

    def __len__(self) -> int:
        return len(self._digests)

    def lines(self, ordinals: np.ndarray) -> list[memoryview]:
        """Return the JSON of some Cards without their line feeds, as views into the mapped file."""
        starts, ends, text = self._starts.take(ordinals), self._ends.take(ordinals) - 1, self._text
        return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def checked_line(self, ordinal: int) -> bytes:
        """Return the JSON of a Card without its line feed, compared with its hash."""
        starts, ends = self._views  # a single number is read in a fifth of numpy's time
        line = bytes(self._text[starts[ordinal] : ends[ordinal]])
        if sha256(line)[:DIGEST_BYTES] != self._digests[ordinal].tobytes():
            raise DamagedObject(f"the local copy of the Card {line[:40]!r} does not match its hash")
        return line[:-1]

    def digest(self, ordinals: np.ndarray) -> bytes:
        """Return a hash of some lines in this order."""
        return hashlib.sha256(self._digests.take(ordinals, axis=0).tobytes()).digest()
