"""The tables `expansions` and `products`: awkward names first, then as many plain ones as the catalogue needs."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from edge_auth.builds.object_keys import DRAWING_PREFIX, DRAWING_SUFFIX
from generator.demo.draw import (
    Flags,
    Integers,
    Words,
    below,
    by_quantile,
    by_weight,
    chance,
    choose,
    draw,
    draw_rows,
    field,
    join,
    millionths,
    mix,
    null_unless,
    timestamps,
    url_words,
)
from generator.demo.words import (
    CREATURES,
    GAMES,
    ITEMS,
    MARKS,
    MOVES,
    ODD_NAMES,
    PEOPLE,
    RARITIES,
    RARITY_PRICES,
    RARITY_WEIGHTS,
    SEALED,
    SEALED_FOLDERS,
    SEALED_PRICES,
    SET_NAMES,
)
from generator.drawings.design import Texts, drawing_keys

# The table `expansions`: a fixed list of awkward names, then as many plain ones as the catalogue needs.

_FIRST_ID = 1203
_NAMED_LIKE_AN_ID = "1217"  # the id of the third expansion, which a filter by this text must find instead
_AWKWARD: list[tuple[str, str | None]] = [
    ("Ember Court", GAMES[0]),
    ("Ember Court 2", GAMES[0]),
    ("Return to Ember Court", GAMES[0]),
    ("ember court", GAMES[1]),
    ("151", GAMES[0]),
    (_NAMED_LIKE_AN_ID, GAMES[0]),
    ("Twin Eclipse", GAMES[0]),
    ("Twin Eclipse", GAMES[0]),
    ("Promos", GAMES[0]),
    ("Promos", GAMES[1]),
    ("Warden's Vigil", GAMES[2]),
    ("Warden’s Vigil", GAMES[2]),
    ("Éclats d’Ébène", GAMES[1]),
    ("Nocturne E\u0301ternel", GAMES[1]),
    ("Über & Unter", GAMES[2]),
    ('"Q" Promos', GAMES[3]),
    ("100% Foil_Promos", GAMES[3]),
    ("HQ—Unbound: The Very Long Road That Leads From the Hollow Harbour to the House of Hours", GAMES[2]),
    ("ねこの森", GAMES[3]),
    ("Q", None),
    ("Unreleased Horizon", GAMES[0]),
]
_WITHOUT_PRODUCTS = len(_AWKWARD) - 1
_MIN_COUNT = 40


class Expansions(NamedTuple):
    """One entry per expansion in each field."""

    ids: Integers  # ascending
    names: pa.Array
    games: pa.Array  # null for one
    codes: pa.Array  # three letters, unique
    weights: Integers  # the share of products that each gets; 0 for one

    @property
    def table(self) -> pa.Table:
        """The table `expansions`. Every 17th has no URL."""
        columns = {"id": pa.array(self.ids), "name": self.names, "game": self.games, "url": self._urls()}
        return pa.table(columns)

    def _urls(self) -> pa.Array:
        pages = zip(url_words(self.games).to_pylist(), url_words(self.names).to_pylist(), strict=True)
        urls = [f"https://market.example/en/{game}/Expansions/{name}" for game, name in pages]
        return pa.array([None if place % 17 == 16 else url for place, url in enumerate(urls)], pa.string())


def make_expansions(seed: int, products: int) -> Expansions:
    """Make about one expansion for 95 products, but at least 40."""
    count = max(_MIN_COUNT, products // 95)
    names, games = _names_and_games(seed, count)
    return Expansions(
        ids=_FIRST_ID + 7 * np.arange(count, dtype=np.int64),
        names=pa.array(names, pa.string()),
        games=pa.array(games, pa.string()),
        codes=pa.array([_code(place) for place in range(count)], pa.string()),
        weights=_weights(count),
    )


def _names_and_games(seed: int, count: int) -> tuple[list[str], list[str | None]]:
    plain = count - len(_AWKWARD)
    words = draw(seed, "expansions", plain)
    start = int(field(words[:1], 32, 16)[0])
    names = [SET_NAMES[(start + 577 * place) % len(SET_NAMES)] for place in range(plain)]
    games = [GAMES[game] for game in by_weight([5, 3, 2, 1], words, 0)]
    return [name for name, _ in _AWKWARD] + names, [game for _, game in _AWKWARD] + games


def _code(place: int) -> str:
    """Return three letters. The step is coprime to 26 ** 3, so the first 17,576 codes differ."""
    number = (place * 7919 + 4242) % 26**3
    return "".join(chr(ord("A") + number // unit % 26) for unit in (676, 26, 1))


def _weights(count: int) -> Integers:
    """Return heavy-tailed weights in a shuffled order, so that awkward expansions have all sizes."""
    rank = np.arange(count, dtype=np.int64) * 37 % count
    weights: Integers = 10**6 // (3 + count // 50 + rank)
    weights[_WITHOUT_PRODUCTS] = 0
    return weights


# The table `products`, and the facts about products that the daily tables need.

_ODD_EVERY, _ODD_AT = 29, 7
_FORM_WEIGHTS = [30, 40, 8, 12, 10]
_STYLE_WEIGHTS = [40, 30, 10, 8, 12]


def single_names(words: Words) -> pa.Array:
    """Make names such as `Embergrin δ [Cinder Dash | Warm Up]`, `Old Rope`, `Marla's Night Ferry`.

    Some creatures are much more frequent than others and each has few attacks, so many products share a name.
    """
    uniform = field(words, 0, 16)
    creature = (uniform * uniform * len(CREATURES)) >> 32
    attacks = mix((creature * 4 + below(words, 16, 4)).astype(np.uint64))
    base, first, second = (
        choose(CREATURES, creature),
        choose(MOVES, below(attacks, 0, len(MOVES))),
        choose(MOVES, below(attacks, 16, len(MOVES))),
    )
    item = choose(ITEMS, below(words, 32, len(ITEMS)))
    forms = (
        join(base, " [", first, "]"),
        join(base, " [", first, " | ", second, "]"),
        join(base, choose(MARKS, below(attacks, 32, len(MARKS))), " [", first, " | ", second, "]"),
        item,
        join(choose(PEOPLE, below(attacks, 48, len(PEOPLE))), " ", item),
    )
    return _with_odd_names(pc.choose(pa.array(by_weight(_FORM_WEIGHTS, words, 48)), *forms))


def has_odd_name(count: int) -> Flags:
    """Return which of `count` products have one of the odd names. They must be singles."""
    flags: Flags = np.arange(count) % _ODD_EVERY == _ODD_AT
    return flags


def _with_odd_names(names: pa.Array) -> pa.Array:
    turn = np.arange(len(names), dtype=np.int64) // _ODD_EVERY % len(ODD_NAMES)
    return pc.if_else(pa.array(has_odd_name(len(names))), choose(ODD_NAMES, turn), names)


def sealed_names(words: Words, sets: pa.Array, wares: Integers) -> pa.Array:
    """Make names such as `Ember Court: Mosshare Tin`. Some have two spaces, some end with one."""
    plain = join(sets, " ", choose(SEALED, wares))
    creature = choose(CREATURES, below(words, 0, len(CREATURES)))
    starring = join(sets, ": ", creature, choose([" ", "  "], below(words, 48, 2)), choose(SEALED, wares))
    forms = (plain, starring, join(plain, " "))
    return pc.choose(pa.array(by_weight([6, 3, 1], words, 16)), *forms)


def numbers(words: Words, position: Integers, codes: pa.Array, style_of_set: Words) -> pa.Array:
    """Make collector numbers in the style of each card's expansion: `4`, `004`, `TG12`, `ABC001`, `BS 4`.

    A few are odd (`4a`, `!`), and some cards have none.
    """
    order = pa.array(position + 1)
    plain = pc.cast(order, pa.string())
    padded = pc.utf8_lpad(plain, 3, "0")
    two = pc.utf8_lpad(plain, 2, "0")
    styles = pc.choose(
        pa.array(by_weight(_STYLE_WEIGHTS, style_of_set, 0)),
        plain,
        padded,
        join(codes, padded),
        join(pc.utf8_slice_codeunits(codes, 0, 2), " ", plain),
        join("TG", two),
    )
    rare = ["!", "?", "A", "Z", "ONE", "000", "0", "½", "R/1", "Ⅳ"]
    odd = pc.choose(
        pa.array(by_weight([5, 2, 2], words, 16)),
        join(plain, choose(["a", "b", "A"], below(words, 32, 3))),
        join("TG", plain),
        choose(rare, below(words, 32, len(rare))),
    )
    numbered = pc.if_else(pa.array(chance(words, 0, 0.04)), odd, styles)
    return pc.if_else(pa.array(chance(words, 48, 0.08)), pa.scalar(None, pa.string()), numbered)


UNKNOWN_PRODUCTS = 2  # products that only the daily tables have
_UNKNOWN_EXPANSION = 999_001
_SEALED_SHARE, _LATE_SHARE, _LATE_DAYS = 0.06, 0.03, 120

# Points of the price distribution: a number of products in a million, and their maximum price in cents.
_PRICE_CURVE = [
    (0, 2), (230_000, 3), (320_000, 12), (500_000, 70), (750_000, 430), (900_000, 2_200), (990_000, 31_000),
    (999_000, 220_000), (1_000_000, 1_100_000),
]  # fmt: skip


class DemoCatalogue(NamedTuple):
    """The products by ascending id. The arrays have UNKNOWN_PRODUCTS more entries than the table."""

    table: pa.Table
    expansions: Expansions

    ids: Integers
    cents: Integers  # the level around which a product's prices move
    is_sealed: Flags
    expansion: Integers  # place in `expansions`; beyond its end: an unknown expansion, or none
    starts: Integers  # number of the first day on which the price guide has the product

    @property
    def texts(self) -> Texts:
        """The texts that the pictures of the known products are drawn from."""
        name, rarity = (self.table[field].combine_chunks() for field in ("name", "rarity"))
        return texts_of(self.expansion, self.expansions, name, rarity)

    @property
    def known(self) -> int:
        """How many products the table has."""
        rows: int = self.table.num_rows
        return rows


def make_catalogue(seed: int, count: int, expansions: Expansions) -> DemoCatalogue:
    """Make `count` products with ids grouped by expansion. About 6 % are sealed."""
    words = draw_rows(seed, "products", 8, count + UNKNOWN_PRODUCTS)
    ids = 10_000 + np.cumsum(1 + below(words[0], 0, 4))
    sealed = chance(words[0], 16, _SEALED_SHARE) & ~has_odd_name(count + UNKNOWN_PRODUCTS)
    expansion = _expansion_of(words[1], expansions)
    level = _levels(words[2], sealed)
    starts = np.where(chance(words[3], 0, _LATE_SHARE), 1 + below(words[3], 16, _LATE_DAYS), 0)
    cut = slice(0, count)
    facts = _facts(words[:, cut], ids[cut], sealed[cut], expansion[cut], starts[cut], expansions)
    return DemoCatalogue(
        table=pa.table(_columns(facts, expansions)),
        expansions=expansions,
        ids=ids,
        cents=np.where(sealed, 300 + 3 * level, level),
        is_sealed=sealed,
        expansion=expansion,
        starts=starts,
    )


def _levels(words: Words, sealed: Flags) -> Integers:
    """Return each product's usual price: a single's by its rarity, even where the lake does not say that."""
    first, last = np.array([*RARITY_PRICES, SEALED_PRICES], dtype=np.int64).T
    at = np.where(sealed, len(RARITY_PRICES), by_weight(RARITY_WEIGHTS, words, 32))
    return by_quantile(_PRICE_CURVE, first[at] + (last - first)[at] * millionths(words) // 1_000_000)


def _expansion_of(words: Words, expansions: Expansions) -> Integers:
    """Return ascending places, except for 1 %: half of them in an unknown expansion, half in none."""
    edges = np.cumsum(expansions.weights)
    place = np.sort(np.searchsorted(edges, (field(words, 0, 32) * edges[-1]) >> 32, side="right"))
    stray = np.where(chance(words, 32, 0.5), len(edges), len(edges) + 1)
    return np.where(chance(words, 48, 0.01), stray, place)


class _Facts(NamedTuple):
    """The values that the columns of `products` are made from, one entry per known product."""

    words: Words  # (8, products)
    ids: Integers
    sealed: Flags
    expansion: Integers
    starts: Integers
    wares: Integers  # which kind of sealed product, used only if it is sealed
    sets: pa.Array
    codes: pa.Array
    games: pa.Array


def _facts(
    words: Words,
    ids: Integers,
    sealed: Flags,
    expansion: Integers,
    starts: Integers,
    sets: Expansions,
) -> _Facts:
    def of_set(known: pa.Array, unknown: str, none: str | None) -> pa.Array:
        return pa.concat_arrays([known, pa.array([unknown, none], pa.string())]).take(pa.array(expansion))

    return _Facts(
        words=words,
        ids=ids,
        sealed=sealed,
        expansion=expansion,
        starts=starts,
        wares=below(words[4], 32, len(SEALED)),
        sets=of_set(sets.names, "Lost & Found", "Loose Cards"),
        codes=of_set(sets.codes, "LNF", "XXX"),
        games=pc.fill_null(of_set(sets.games, GAMES[0], GAMES[0]), GAMES[0]),
    )


def _columns(facts: _Facts, expansions: Expansions) -> dict[str, pa.Array]:
    """Return the columns of `products`."""
    words, single = facts.words, pa.array(~facts.sealed)
    name = pc.if_else(single, single_names(words[4]), sealed_names(words[5], facts.sets, facts.wares))
    printed = numbers(words[6], _position(facts.expansion), facts.codes, _style_words(facts.expansion))
    number, rarity = null_unless(single, printed), null_unless(single, _rarities(words[2]))
    image = _images(facts, texts_of(facts.expansion, expansions, name, rarity))
    return {
        "id_product": pa.array(facts.ids),
        "name": name,
        "kind": pc.if_else(single, "single", "sealed"),
        "category": _categories(facts),
        "id_expansion": _expansion_ids(facts.expansion, expansions),
        "rarity": rarity,
        "number": number,
        "image": image,
        "image_large": null_unless(~chance(words[7], 16, 0.05), image),
        "url": _urls(facts, name, number),
        "date_added": _dates(facts, len(expansions.ids)),
    }


def _position(expansion: Integers) -> Integers:
    """Return each product's place among those of its expansion."""
    order = np.argsort(expansion, kind="stable")
    ranked = expansion[order]
    places = np.empty_like(expansion)
    places[order] = np.arange(len(expansion)) - np.searchsorted(ranked, ranked)
    return places


def _style_words(expansion: Integers) -> Words:
    """Return one word per expansion, for any seed, so that neighbouring expansions number cards differently."""
    return ((expansion * 40_503) & 0xFFFF).astype(np.uint64)


def _expansion_ids(expansion: Integers, expansions: Expansions) -> pa.Array:
    ids = np.append(expansions.ids, [_UNKNOWN_EXPANSION, 0])[expansion]
    return pa.array(ids, mask=expansion == len(expansions.ids) + 1)


def _categories(facts: _Facts) -> pa.Array:
    ware = pc.if_else(pa.array(facts.sealed), choose(SEALED, facts.wares), "Single")
    return null_unless(~chance(facts.words[7], 48, 0.01), join(facts.games, " ", ware))


def _rarities(words: Words) -> pa.Array:
    """Return rarities, some with several spellings. 5 % are null."""
    rarity = choose(RARITIES, by_weight(RARITY_WEIGHTS, words, 32))
    return null_unless(~chance(words, 48, 0.05), rarity)


def texts_of(expansion: Integers, expansions: Expansions, name: pa.Array, rarity: pa.Array) -> Texts:
    """Return the texts that drawings are made from, as a build reads them: no set and game if the set is unknown."""
    unknown = pa.nulls(UNKNOWN_PRODUCTS, pa.string())
    places = pa.array(expansion[: len(name)])
    sets, games = (pa.concat_arrays([known, unknown]) for known in (expansions.names, expansions.games))
    return Texts(name, sets.take(places), rarity, games.take(places))


def _images(facts: _Facts, texts: Texts) -> pa.Array:
    """Return the paths of the pictures that a build draws."""
    missing = np.where(facts.sealed, chance(facts.words[7], 0, 0.4), chance(facts.words[7], 0, 0.08))
    return null_unless(~missing, join(f"/{DRAWING_PREFIX}", drawing_keys(texts), DRAWING_SUFFIX))


def _urls(facts: _Facts, name: pa.Array, number: pa.Array) -> pa.Array:
    """Return product pages. 6 % are null, a few have a query, a fragment, both, or a slash at the end."""
    words, sealed = facts.words[5], pa.array(facts.sealed)
    folder = pc.if_else(sealed, choose(SEALED_FOLDERS, facts.wares), "Singles")
    printed = pc.replace_substring_regex(pc.fill_null(number, ""), r"^[A-Z]{3}(\d)", r"\1")
    printed = pc.replace_substring_regex(printed, "[^0-9A-Za-z]", "")
    tail = pc.if_else(sealed, "", join("-", facts.codes, printed))
    ends = ["", "?utm_source=list", "#offers", "?language=3&isFoil=Y#top", "/"]
    end = choose(ends, by_weight([94, 2, 1, 1, 2], words, 32))
    parts = ("/Products/", folder, "/", url_words(facts.sets), "/", url_words(name), tail, end)
    urls = join("https://market.example/en/", url_words(facts.games), *parts)
    return null_unless(~chance(words, 48, 0.06), urls)


def _dates(facts: _Facts, expansions: int) -> pa.Array:
    """Return when products were added: null for the oldest expansions, one time for most of an expansion.

    Products that enter the price guide during the history were added on the day before the first.
    """
    words, eve = facts.words[3], facts.starts > 0
    days_ago = 20 + (expansions + 1 - facts.expansion) * 5_000 // (expansions + 2)
    second = chance(words, 32, 0.1) * below(words, 48, 65_536)
    unknown = (facts.expansion < expansions // 4) & ~eve
    return timestamps(np.where(eve, -1, -days_ago), np.where(eve, 36_000, second), mask=unknown)
