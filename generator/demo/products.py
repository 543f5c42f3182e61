"""The catalogue of the demo lake: the table `products`, and what every daily table needs to know of it.

The catalogue depends on the number of products and the seed alone, not on the days.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo.draw import Integers, Words, below, by_quantile, by_weight, chance, draw, field
from generator.demo.expansions import Expansions
from generator.demo.names import chosen, numbers, sealed_names, single_names
from generator.demo.text import joined, url_words
from generator.demo.times import moments
from generator.demo.words import RARITIES, RARITY_WEIGHTS, SEALED, SEALED_FOLDERS

SEALED_SHARE = 0.06
UNKNOWN_EXPANSION = 999_001
GHOSTS = 2  # products that the daily tables know and the catalogue does not
_LATE_SHARE, _LATE_DAYS = 0.03, 120

# How many of a million products cost at most so many cents.
_PRICE_CURVE = [
    (0, 2), (180_000, 3), (300_000, 12), (500_000, 70), (750_000, 430), (900_000, 2_200), (990_000, 31_000),
    (999_000, 220_000), (1_000_000, 1_100_000),
]  # fmt: skip


class Catalogue(NamedTuple):
    """The products in ascending id; the arrays of the second half go on with GHOSTS unknown products."""

    table: pa.Table
    expansions: Expansions

    ids: np.ndarray  # int64
    cents: Integers  # the level about which a product's prices move
    is_sealed: np.ndarray
    expansion: Integers  # place in `expansions`, or what lies past its end
    starts: Integers  # the first day (number) on which the price guide knows the product

    @property
    def known(self) -> int:
        """How many products the table has."""
        return self.table.num_rows


def make_catalogue(seed: int, count: int, expansions: Expansions) -> Catalogue:
    """`count` products, grouped by expansion as ids are handed out, about 6 % of them sealed."""
    words = draw(seed, "products", count + GHOSTS, sheets=8)
    ids = 10_000 + np.cumsum(1 + below(words[0], 0, 4))
    sealed = chance(words[0], 16, SEALED_SHARE)
    expansion = _expansion_of(words[1], expansions)
    level = by_quantile(_PRICE_CURVE, (field(words[2], 0, 32) * 1_000_000) >> 32)
    starts = np.where(chance(words[3], 0, _LATE_SHARE), 1 + below(words[3], 16, _LATE_DAYS), 0)
    cut = slice(0, count)
    columns = _columns(words[:, cut], ids[cut], sealed[cut], expansion[cut], starts[cut], expansions)
    return Catalogue(
        table=pa.table(columns),
        expansions=expansions,
        ids=ids,
        cents=np.where(sealed, 300 + 3 * level, level),
        is_sealed=sealed,
        expansion=expansion,
        starts=starts,
    )


def _expansion_of(words: Words, expansions: Expansions) -> Integers:
    """Ascending places, but for 1 %: half of them in an expansion unknown to the lake, half in none."""
    edges = np.cumsum(expansions.weights)
    place = np.sort(np.searchsorted(edges, (field(words, 0, 32) * edges[-1]) >> 32, side="right"))
    stray = np.where(chance(words, 32, 0.5), len(edges), len(edges) + 1)
    return np.where(chance(words, 48, 0.01), stray, place)


def _columns(
    words: np.ndarray,
    ids: Integers,
    sealed: np.ndarray,
    expansion: Integers,
    starts: Integers,
    expansions: Expansions,
) -> dict[str, pa.Array]:
    """The contract's columns of `products`, in its order."""
    of_set = pa.array(expansion)
    set_names = pa.concat_arrays([expansions.names, pa.array(["Lost & Found", "Loose Cards"])]).take(of_set)
    codes = pa.concat_arrays([expansions.codes, pa.array(["LNF", "XXX"])]).take(of_set)
    games = pc.fill_null(
        pa.concat_arrays([expansions.games, pa.array(["Mythgrove", None])]).take(of_set), "Mythgrove"
    )
    wares = below(words[4], 32, len(SEALED))
    single = pc.invert(pa.array(sealed))
    name = pc.if_else(single, single_names(words[4]), sealed_names(words[5], set_names, wares))
    number = _only(single, numbers(words[6], _position(expansion), codes, _style_words(expansion)))
    image = _images(words[7], ids, sealed, codes)
    return {
        "id_product": pa.array(ids),
        "name": name,
        "kind": pc.if_else(single, "single", "sealed"),
        "category": _categories(words[7], single, games, wares),
        "id_expansion": _expansion_ids(expansion, expansions),
        "rarity": _only(single, _rarities(words[2])),
        "number": number,
        "image": image,
        "image_large": _larger(words[7], image),
        "url": _urls(words[5], name, set_names, games, codes, number, sealed, wares),
        "date_added": _dates(words[3], expansion, starts, len(expansions.ids)),
    }


def _only(mask: pa.Array, column: pa.Array) -> pa.Array:
    return pc.if_else(mask, column, pa.scalar(None, pa.string()))


def _position(expansion: Integers) -> Integers:
    """Each product's place among those of its expansion."""
    order = np.argsort(expansion, kind="stable")
    ranked = expansion[order]
    places = np.empty_like(expansion)
    places[order] = np.arange(len(expansion)) - np.searchsorted(ranked, ranked)
    return places


def _style_words(expansion: Integers) -> Words:
    """The same word for all cards of an expansion, whatever the seed: neighbours are numbered differently."""
    return ((expansion * 40_503) & 0xFFFF).astype(np.uint64)


def _expansion_ids(expansion: Integers, expansions: Expansions) -> pa.Array:
    ids = np.append(expansions.ids, [UNKNOWN_EXPANSION, 0])[expansion]
    return pa.array(ids, mask=expansion == len(expansions.ids) + 1)


def _categories(words: Words, single: pa.Array, games: pa.Array, wares: Integers) -> pa.Array:
    ware = pc.if_else(single, "Single", chosen(SEALED, wares))
    return _only(pa.array(~chance(words, 48, 0.01)), joined(games, " ", ware))


def _rarities(words: Words) -> pa.Array:
    """Spelled in several ways, and missing for 5 %."""
    rarity = chosen(RARITIES, by_weight(RARITY_WEIGHTS, words, 32))
    return _only(pa.array(~chance(words, 48, 0.05)), rarity)


def _images(words: Words, ids: Integers, sealed: np.ndarray, codes: pa.Array) -> pa.Array:
    name = pc.cast(pa.array(ids), pa.string())
    missing = np.where(sealed, chance(words, 0, 0.4), chance(words, 0, 0.08))
    return _only(pa.array(~missing), joined("https://cards.example/scans/", codes, "/", name, ".jpg"))


def _larger(words: Words, image: pa.Array) -> pa.Array:
    large = pc.replace_substring(image, "/scans/", "/scans/large/")
    return _only(pa.array(~chance(words, 16, 0.05)), large)


def _urls(
    words: Words,
    name: pa.Array,
    sets: pa.Array,
    games: pa.Array,
    codes: pa.Array,
    number: pa.Array,
    sealed: np.ndarray,
    wares: Integers,
) -> pa.Array:
    """Product pages; 6 % not known, a few with a query, a fragment or both."""
    folder = pc.if_else(pa.array(sealed), chosen(SEALED_FOLDERS, wares), "Singles")
    printed = pc.replace_substring_regex(pc.fill_null(number, ""), "[^0-9A-Za-z]", "")
    tail = pc.if_else(pa.array(sealed), "", joined("-", codes, printed))
    extra = chosen(
        ["", "?utm_source=list", "#offers", "?language=3&isFoil=Y#top", "/"],
        by_weight([94, 2, 1, 1, 2], words, 32),
    )
    place = joined(url_words(games), "/Products/", folder, "/", url_words(sets), "/", url_words(name))
    return _only(pa.array(~chance(words, 48, 0.06)), joined("https://market.example/en/", place, tail, extra))


def _dates(words: Words, expansion: Integers, starts: Integers, expansions: int) -> pa.Array:
    """When a product was added: unknown for the oldest expansions, one moment for most of an expansion.

    Those that enter the price guide during the history were added on the eve of the first day.
    """
    days_ago = 20 + (expansions + 1 - expansion) * 5_000 // (expansions + 2)
    second = chance(words, 32, 0.1) * below(words, 48, 65_536)
    eve = starts > 0
    return moments(
        np.where(eve, -1, -days_ago),
        np.where(eve, 36_000, second),
        mask=(expansion < expansions // 4) & ~eve,
    )
