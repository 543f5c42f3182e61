"""The catalogue of a build: the sorts and filters of Cards, their search index, and each Card as a line of JSON.

A product matches a filter that compares a text if its text and the client's have the same key. The SQL of the rankings,
the parameters, their documents, the form of the explorer and the benchmarks follow from `SORTS` and `TEXT_FILTERS`.

Products have one fixed order (by expansion, number, id). The ordinal of a product is its position in this order. The
search index is in files of the layer `catalogue`:

    columns   a row per product, by ordinal: id, single, set (row in `sets`; the number of sets for no set), size and
              digest (of its Card's line). For each text filter a column of its name: a dictionary of keys, '' for no
              value, `BLANK` for an empty text. For each sort `order_<sort>` (ordinals in the sort's
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
import re
from bisect import bisect_left
from collections.abc import Callable, Container, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from generator.storage.errors import DamagedObject, StoreError
from generator.storage.layers import Layer, only_chunk
from generator.storage.spellings import Spellings
from generator.storage.stores.codec import sha256
from generator.storage.text import fold, number_filter_key, word_text
from generator.storage.vocabulary import NAMES, SUBSTRINGS, SUFFIXES, WORDS, Names, Vocabulary

COLUMNS, SETS = "columns", "sets"
PRICES = "prices"  # the newest prices of the products, for the generator
CARD_LINES = "cards"  # the stem of the file of the Cards' lines
DIGEST_BYTES, PRODUCT_DIGEST_BYTES = 16, 8  # of the SHA-256 of a line, and of its part before the prices
# The text in a Card before its prices, which come last. JSON escapes quotation marks, so no text of a product holds it.
PRICES_MARK = b',"filtered_price":'


KINDS = ("all", "single", "sealed")
ORDERS = ("asc", "desc")
MARKET_SORT, OFFERS_SORT = "market", "filtered"
# The sort by how well a name matches `q`: no ranking, since no build knows the texts that clients search for.
MATCH_SORT = "match"
MATCH_BY = (
    "how well the name matches the words of `q`, or without them those parts of `find` that are in the name: names and "
    "base names equal to them, names that begin with them, names that hold them side by side, names that begin with "
    "them but go on within the last, names in which each of them begins a word, then all others; each by trend, "
    "without `order`"
)
BLANK = "\u0301"  # the key of a text that is empty after folding: no folded text has a combining mark
_CODE_CHARACTERS = range(2, 5)
_MAX_SPELLED_CHARACTERS = 60  # of a name that is compared with those of sets
_GUIDE_PRICE = "that price of the price guide"


class Sort(NamedTuple):
    """A sort of /cards, by the column `key_<name>` of `build/views/cards.sql`. Products without a key come last."""

    label: str  # its name in a form
    by: str  # what it sorts by, for the documents; neighbours with the same text share an entry
    price: bool = False  # whether its key is a price, which `min_price` and `max_price` bound
    ascending: bool = False  # its default order


# The first one is the default.
SORTS = {
    "trend": Sort("Trend price", _GUIDE_PRICE, price=True),
    "low": Sort("Lowest price", _GUIDE_PRICE, price=True),
    "avg": Sort("Average price", _GUIDE_PRICE, price=True),
    "filtered": Sort("Cheapest offer", "the lowest price under the seller filter", price=True),
    "market": Sort("Market price", "the market price: the trend, else that of foils", price=True),
    "name": Sort("Name", "the folded name", ascending=True),
    "number": Sort("Collector number", "the collector number, digits as numbers", ascending=True),
    "newest": Sort("Newest", "when the marketplace added the product"),
}
PRICE_SORTS = tuple(name for name, sort in SORTS.items() if sort.price)
DEFAULT_SORT = next(iter(SORTS))


class TextFilter(NamedTuple):
    """A filter of /cards, over the column `filter_<name>` of `build/views/cards.sql` with the products' keys."""

    label: str  # its name in a form
    key: Callable[[str], str]  # returns the key of a client's text; the SQL knows the function by the same name
    finds: str  # for the documents, as the example
    example: str


TEXT_FILTERS = {
    "number": TextFilter(
        "Number",
        number_filter_key,
        "Collector number; leading zeros of each run of digits do not count, so `4` also matches `004`. "
        "If no product has a number with a slash, the part before the slash counts: `63/100` finds `63`.",
        "4",
    ),
    "rarity": TextFilter(
        "Rarity",
        fold,
        "Rarity, whatever its case and accents. One that no product has gives an empty list.",
        "Ultra Rare",
    ),
    "game": TextFilter(
        "Game",
        fold,
        "Only products of this game, whatever its case and accents: a `name` of `/games`. "
        "An unknown game gives an empty list.",
        "Mythgrove",
    ),
}


def number_key(known: Container[str], text: str) -> str:
    """Return the key of a number that a client gives: `63/100` is 63 if the keys of products lack the whole."""
    key = number_filter_key(text)
    return key if key in known else number_filter_key(text.partition("/")[0] or text)


class TextColumn(NamedTuple):
    """The texts of the products that a filter compares: a code per product, by ordinal, and the code of each text."""

    codes: np.ndarray
    code_of: dict[str, int]

    def mask(self, text: str) -> np.ndarray:
        """Return which products have this text: bool, by ordinal. '' stands for no value, so no product has it."""
        found: np.ndarray = self.codes == (self.code_of.get(text, -1) if text else -1)
        return found


class Catalogue:
    """The search index of a build, mapped into memory: the columns of its files under their names.

    Attributes:
        texts, order, rank: By text filter, and by sort (uint32).
        cents: By sort by a price (int64): the prices of the products that have one, highest first.
        keyed: By sort, the number of products with a sort key.
        set_starts: The ordinal of the first product of each set, in the order of `set_ids`, and the end of the last.
    """

    def __init__(self, layer: Layer, lines: Layer):
        self._layer, self._lines = layer, lines
        columns, sets = layer.table(COLUMNS), layer.table(SETS)
        self._columns = columns
        self.counts: dict[str, Any] = json.loads(columns.schema.metadata[b"counts"])
        self.keyed: dict[str, int] = self.counts["keyed"]["all"]
        self.ids, self.by_id = _values(columns, "id"), _values(columns, "by_id")
        self._views = self.ids.data, self.by_id.data  # a single number is read in a fifth of numpy's time
        self.single, self.set = _values(columns, "single"), _values(columns, "set")
        self.texts = {name: _texts(columns, name) for name in TEXT_FILTERS}
        self.order = {sort: _values(columns, f"order_{sort}") for sort in SORTS}
        self.rank = {sort: _values(columns, f"rank_{sort}") for sort in SORTS}
        self.full_name = _values(columns, "full_name")
        self.cents = {sort: _values(columns, f"cents_{sort}")[: self.keyed[sort]] for sort in PRICE_SORTS}
        self.digests, self.product_digests = (only_chunk(columns, name) for name in ("digest", "product_digest"))
        self.set_ids = _values(sets, "id")
        self.set_starts = starts_of(self.set, len(self.set_ids))
        self.set_names = sets["name"].to_pylist()
        self.set_games = sets["game"].to_pylist()
        self.spellings: dict[str, dict[str, str]] = json.loads(columns.schema.metadata[b"spellings"])

    def nearest_set(self, text: str) -> str | None:
        """Return the name of the set that is spelled most nearly like a text, else of one that holds it, else None."""
        wanted = word_text(text[:_MAX_SPELLED_CHARACTERS])
        near = self._spelled_sets.nearest(wanted, 1)
        if not near and wanted:
            holding = [row for row, name in enumerate(self.set_words) if wanted in name]
            near = sorted(holding, key=self.set_sizes.__getitem__)[-1:]
        return self.set_names[near[0]] if near else None

    def nearest_value(self, name: str, text: str) -> str | None:
        """Return the value of a text filter that is spelled most nearly like a text, if a build spells its values."""
        values = sorted(self.spellings.get(name, {}).values())
        near = Spellings.of(map(word_text, values), np.zeros(len(values), np.intp)).nearest(word_text(text), 1)
        return values[near[0]] if near else None

    def abbreviated_sets(self, code: str) -> list[str]:
        """Return the words of the sets of whose words a short code has the beginnings, those of few words first."""
        if len(code) not in _CODE_CHARACTERS:
            return []
        names, sizes = self.set_words, self.set_sizes
        begins = re.compile("(?:.* )?".join(map(re.escape, code))).match
        found = [row for row, name in enumerate(names) if begins(name)]
        return [names[row] for row in sorted(found, key=lambda row: (names[row].count(" "), -sizes[row]))]

    @cached_property
    def set_words(self) -> list[str]:
        """The words of the name of each set, joined by single spaces."""
        return [word_text(name or "") for name in self.set_names]

    @cached_property
    def set_sizes(self) -> np.ndarray:
        """How many products each set has."""
        return np.diff(self.set_starts)

    @cached_property
    def _spelled_sets(self) -> Spellings:
        return Spellings.of(self.set_words, self.set_sizes)

    def ordinals(self, ids: Sequence[int]) -> tuple[np.ndarray, list[bool]]:
        """Return the ordinals of the products with some ids, and which ids are known. The ids fit into 64 bits."""
        wanted = np.array(ids, np.int64)
        if not len(self.ids):
            return wanted[:0], [False] * len(ids)
        places = np.searchsorted(self.ids, wanted, sorter=self.by_id)
        found = self.by_id.take(places, mode="clip")
        known = self.ids.take(found) == wanted
        return found.compress(known), known.tolist()

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
    def vocabulary(self) -> Vocabulary:
        words, suffixes, substrings = (self._layer.table(file) for file in (WORDS, SUFFIXES, SUBSTRINGS))
        return Vocabulary(words, suffixes, substrings, self.set_starts, len(self.ids))

    @cached_property
    def names(self) -> Names:
        """The names of the products, of which `full_name` is the rows."""
        return Names(self._layer.table(NAMES))

    @cached_property
    def card_lines(self) -> "CardLines":
        file = self._lines.inflated_file(CARD_LINES, self._columns.schema.metadata[b"lines"].decode())
        try:
            return CardLines(file, self.by_id, _values(self._columns, "size"), self.digests)
        except (OSError, ValueError) as error:
            raise StoreError(f"the local copy {file} cannot be mapped into memory: {error}") from error


def _values(table: pa.Table, name: str) -> np.ndarray:
    values: np.ndarray = only_chunk(table, name).to_numpy(zero_copy_only=False)  # booleans are bits in Arrow
    return values


def starts_of(set_: np.ndarray, sets: int) -> np.ndarray:
    """Return where the products of each set begin, and where the last ones end, from their sets, ascending."""
    return np.searchsorted(set_, np.arange(sets + 1))


def _texts(table: pa.Table, name: str) -> TextColumn:
    encoded = only_chunk(table, name)
    code_of = {text: code for code, text in enumerate(encoded.dictionary.to_pylist())}
    return TextColumn(encoded.indices.to_numpy(), code_of)


class CardLines:
    """The Card lines of a build. `order` has the ordinals in the order of the lines; `columns` has the others."""

    def __init__(self, file: Path, order: np.ndarray, sizes: np.ndarray, digests: pa.Array):
        self._ends = np.empty(len(sizes), np.int64)
        self._ends[order] = np.cumsum(sizes[order], dtype=np.int64)
        self._starts = self._ends - sizes
        self._views: tuple[memoryview, memoryview] = self._starts.data, self._ends.data
        self._digests = np.frombuffer(digests.buffers()[1] or b"", f"V{DIGEST_BYTES}", len(sizes))
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

    def digests(self, ordinals: np.ndarray) -> np.ndarray:
        """Return the hash of each of some lines."""
        return self._digests.take(ordinals)

    def digest(self, ordinals: np.ndarray) -> bytes:
        """Return a hash of some lines in this order."""
        return hashlib.sha256(self.digests(ordinals).tobytes()).digest()
