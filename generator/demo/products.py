"""The tables about products: `expansions`, `products`, `identifiers`, `fingerprints`.

Products are grouped by expansion. Some are in one that the lake lacks, or in none. The daily tables know
UNKNOWN_PRODUCTS more than `products` has.
"""

from string import ascii_uppercase
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo import draw, name_parts
from generator.demo.draw import Flags, Integers, Words, below, chance, choose, field, join, pick, timestamps, url_words
from generator.drawings import Texts, drawing_key, painted, svg
from generator.fingerprints import recipe
from generator.fingerprints.table import table_rows
from generator.storage.layout import DRAWING_PREFIX, DRAWING_SUFFIX

# The table `expansions`: awkward names first, then as many plain ones as the catalogue needs.

_WITHOUT_PRODUCTS = len(name_parts.AWKWARD_SETS) - 1
_UNKNOWN_EXPANSION = 999_001
# The homes of products that are in an expansion which the lake lacks, and in none.
_OUTSIDE = [{"id": _UNKNOWN_EXPANSION, "name": "Lost & Found", "code": "LNF"}, {"name": "Loose Cards", "code": "XXX"}]
_SITE = "https://market.example/en/"
_URL_ENDS = ["", "?utm_source=list", "#offers", "?language=3&isFoil=Y#top", "/"]


def make_expansions(seed: int, products: int) -> pa.Table:
    """Make about one expansion for 95 products, but at least 40. Every 17th has no URL. The lake has no `code`."""
    places = np.arange(max(40, products // 95))
    words = draw.words(seed, "expansions", len(places) - len(name_parts.AWKWARD_SETS))
    turns = (field(words[:1], 32) + 577 * np.arange(len(words))) % len(name_parts.SET_NAMES)
    plain = zip(turns, draw.by_weight([5, 3, 2, 1], words, 0), strict=True)
    sets = [*name_parts.AWKWARD_SETS, *((name_parts.SET_NAMES[name], name_parts.GAMES[game]) for name, game in plain)]
    names, games = (pa.array(column, pa.string()) for column in zip(*sets, strict=True))
    url = join(_SITE, url_words(games), "/Expansions/", url_words(names))
    url = pc.if_else(places % 17 == 16, None, url)
    # The step is coprime to 26 ** 3, so the first 17,576 codes differ.
    code = join(*(choose(list(ascii_uppercase), (places * 7919 + 4242) // unit % 26) for unit in (676, 26, 1)))
    return pa.table({"id": 1203 + 7 * places, "name": names, "game": games, "url": url, "code": code})


# The table `products`, and the facts about products that the daily tables need.

UNKNOWN_PRODUCTS = 2
_ODD_EVERY, _ODD_AT = 29, 7
_SEALED_SHARE, _LATE_SHARE, _LATE_DAYS = 0.06, 0.03, 120


class DemoCatalogue(NamedTuple):
    """The products by ascending id. The columns have UNKNOWN_PRODUCTS more entries than the table."""

    table: pa.Table
    expansions: pa.Table
    ids: Integers
    cents: Integers  # the level around which a product's prices move
    is_sealed: Flags
    expansion: Integers  # place in `expansions`; beyond its end: an unknown expansion, or none
    home: pa.RecordBatch  # the expansion's columns
    texts: list[Texts]  # that the drawings are made from, as a build reads them
    starts: Integers  # number of the first day on which the price guide has the product


def make_catalogue(seed: int, count: int) -> DemoCatalogue:
    """Make `count` products. About 6 % are sealed."""
    expansions = make_expansions(seed, count)
    words = draw.words(seed, "products", 8 * (count + UNKNOWN_PRODUCTS)).reshape(8, -1)
    ids = 10_000 + np.cumsum(1 + below(words[0], 0, 4))
    is_odd = np.arange(len(ids)) % _ODD_EVERY == _ODD_AT
    is_sealed = chance(words[0], 16, _SEALED_SHARE) & ~is_odd
    expansion = _places(words[1], len(expansions))
    homes = pa.concat_tables([expansions, pa.Table.from_pylist(_OUTSIDE, expansions.schema)])
    home = homes.combine_chunks().to_batches()[0].take(pa.array(expansion))
    starts = np.where(chance(words[3], 0, _LATE_SHARE), 1 + below(words[3], 16, _LATE_DAYS), 0)
    # A single's usual price is by its rarity, even where the lake does not say that. Few cost the least.
    shares, tops = np.array(list(name_parts.RARITIES.values())).T
    rarities = draw.by_weight(shares, words[2], 32)
    dearest = np.where(is_sealed, 60_000, tops[rarities])
    columns, texts = _columns(words, is_odd, is_sealed, rarities, expansion, home)
    columns["date_added"] = _dates_added(words[3], expansion, len(expansions), starts)
    return DemoCatalogue(
        table=pa.table({"id_product": ids, **columns}).slice(0, count),
        expansions=expansions.drop_columns("code"),
        ids=ids,
        cents=dearest // 40 + draw.heavy_tail(words[2], dearest),
        is_sealed=is_sealed,
        expansion=expansion,
        home=home,
        texts=texts,
        starts=starts,
    )


def _places(words: Words, sets: int) -> Integers:
    """Return the place of each product's expansion. 1 % of the products are in an unknown one or in none.

    Sizes are heavy-tailed, in a shuffled order, so that awkward expansions have all sizes.
    """
    weights = 10**6 // (3 + sets // 50 + np.arange(sets) * 37 % sets)
    weights[_WITHOUT_PRODUCTS] = 0
    inside = np.sort(draw.by_weight(weights, words, 0, 32))
    outside = np.where(chance(words, 32, 0.5), sets, sets + 1)
    return np.where(chance(words, 48, 0.01), outside, inside)


def _dates_added(words: Words, expansion: Integers, sets: int, starts: Integers) -> pa.Array:
    """Return when each product was added: with its expansion, or on the day before the history of the late ones."""
    is_late = starts > 0
    days_ago = 20 + (sets + 1 - expansion) * 5_000 // (sets + 2)
    second = chance(words, 32, 0.1) * below(words, 48, 65_536)  # one time for most of an expansion
    is_unknown = (expansion < sets // 4) & ~is_late
    return timestamps(np.where(is_late, -1, -days_ago), np.where(is_late, 36_000, second), mask=is_unknown)


def _columns(
    words: Words, is_odd: Flags, is_sealed: Flags, rarities: Integers, expansion: Integers, home: pa.RecordBatch
) -> tuple[dict[str, pa.Array], list[Texts]]:
    """Return the columns of the table but the ids and dates, and the texts that the drawings show."""
    sets, games = home["name"], pc.fill_null(home["game"], name_parts.GAMES[0])
    is_single = ~is_sealed
    wares = below(words[4], 32, len(name_parts.SEALED))
    ware = choose(name_parts.SEALED, wares)
    name = pc.if_else(is_single, _single_names(words[4], is_odd), _sealed_names(words[5], sets, ware))
    number = pc.if_else(is_single, _numbers(words[6], expansion, home["code"]), None)
    rarity = choose(list(name_parts.RARITIES), rarities, is_sealed | chance(words[2], 48, 0.05))
    texts = _drawn_texts(name, rarity, home)
    drawn = pa.array([f"/{DRAWING_PREFIX}{drawing_key(card)}{DRAWING_SUFFIX}" for card in texts])
    image = pc.if_else(chance(words[7], 0, 0.08) | is_sealed & chance(words[7], 0, 0.4), None, drawn)
    category = join(games, " ", pc.if_else(is_single, "Single", ware))
    folder = pc.if_else(is_single, "Singles", choose(name_parts.SEALED_FOLDERS, wares))
    page = join(url_words(name), pc.if_else(is_single, _number_in_url(number, home["code"]), ""))
    end = choose(_URL_ENDS, draw.by_weight([94, 2, 1, 1, 2], words[5], 32))
    url = join(_SITE, url_words(games), "/Products/", folder, "/", url_words(sets), "/", page, end)
    return {
        "name": name,
        "kind": pc.if_else(is_single, "single", "sealed"),
        "category": pc.if_else(chance(words[7], 48, 0.01), None, category),
        "id_expansion": home["id"],
        "rarity": rarity,
        "number": number,
        "image": image,
        "image_large": pc.if_else(chance(words[7], 16, 0.05), None, image),
        "url": pc.if_else(chance(words[5], 48, 0.06), None, url),
    }, texts


def _sealed_names(words: Words, sets: pa.Array, ware: pa.Array) -> pa.Array:
    """Make names such as `Ember Court: Mosshare Tin`. Some have two spaces, some end with one."""
    plain = join(sets, " ", ware)
    starring = join(sets, ": ", pick(name_parts.CREATURES, words, 0), pick([" ", "  "], words, 48), ware)
    return pc.choose(draw.by_weight([6, 3, 1], words, 16), plain, starring, join(plain, " "))


def _drawn_texts(name: pa.Array, rarity: pa.Array, home: pa.RecordBatch) -> list[Texts]:
    set_name = pc.if_else(pc.less(home["id"], _UNKNOWN_EXPANSION), home["name"], None)
    columns = [pc.fill_null(column, "").to_pylist() for column in (name, set_name, rarity, home["game"])]
    return [Texts(*row) for row in zip(*columns, strict=True)]


def _number_in_url(number: pa.Array, codes: pa.Array) -> pa.Array:
    printed = pc.replace_substring_regex(pc.fill_null(number, ""), r"^[A-Z]{3}(\d)", r"\1")
    return join("-", codes, pc.replace_substring_regex(printed, "[^0-9A-Za-z]", ""))


def _single_names(words: Words, odd: Flags) -> pa.Array:
    """Make names such as `Embergrin δ [Cinder Dash | Warm Up]`, `Old Rope`, `Marla's Night Ferry`, and odd ones.

    Some creatures are much more frequent than others and each has few attacks, so many products share a name.
    """
    creature = (field(words, 0) ** 2 * len(name_parts.CREATURES)) >> 32
    attacks = draw.mix(creature * 4 + below(words, 16, 4))
    base, item = choose(name_parts.CREATURES, creature), pick(name_parts.ITEMS, words, 32)
    first, second = (pick(name_parts.MOVES, attacks, at) for at in (0, 16))
    forms = (
        join(base, " [", first, "]"),
        join(base, " [", first, " | ", second, "]"),
        join(base, pick(name_parts.MARKS, attacks, 32), " [", first, " | ", second, "]"),
        item,
        join(pick(name_parts.PEOPLE, attacks, 48), " ", item),
    )
    turn = np.arange(len(words)) // _ODD_EVERY % len(name_parts.ODD_NAMES)
    plain = pc.choose(draw.by_weight([30, 40, 8, 12, 10], words, 48), *forms)
    return pc.if_else(odd, choose(name_parts.ODD_NAMES, turn), plain)


def _numbers(words: Words, expansion: Integers, codes: pa.Array) -> pa.Array:
    """Make collector numbers in the style of each card's expansion: `4`, `004`, `TG12`, `ABC001`. A few are odd."""
    order = np.argsort(expansion, kind="stable")
    place = np.empty_like(expansion)
    place[order] = np.arange(1, len(expansion) + 1) - np.searchsorted(expansion[order], expansion[order])
    plain = pc.cast(pa.array(place), pa.string())
    padded, two = pc.utf8_lpad(plain, 3, "0"), pc.utf8_lpad(plain, 2, "0")
    # The style is a word of the expansion, for any seed, so that neighbouring expansions number cards differently.
    style = draw.by_weight([40, 30, 10, 8, 12], ((expansion * 40_503) & 0xFFFF).astype(np.uint64), 0)
    short = join(pc.utf8_slice_codeunits(codes, 0, 2), " ", plain)
    styled = pc.choose(style, plain, padded, join(codes, padded), short, join("TG", two))
    rare = pick(["!", "?", "A", "Z", "ONE", "000", "0", "½", "R/1", "Ⅳ"], words, 32)
    forms = join(plain, pick(["a", "b", "A"], words, 32)), join("TG", plain), rare
    odd = pc.choose(draw.by_weight([5, 2, 2], words, 16), *forms)
    return pc.if_else(chance(words, 48, 0.08), None, pc.if_else(chance(words, 0, 0.04), odd, styled))


# The table `identifiers`: some products have no id of a catalogue, some have two, and products of one card share an id.

_FIRST_ID = 400_000


def make_identifiers(seed: int, catalogue: DemoCatalogue) -> pa.Table:
    """Make the ids that other catalogues have for products. One row names a product that the catalogue lacks."""
    ids, numbers = (catalogue.table[name] for name in ("id_product", "number"))
    words = draw.words(seed, "identifiers", len(ids))
    in_lake = catalogue.expansion < len(catalogue.expansions)
    codes = pc.if_else(in_lake, catalogue.home["code"], None).slice(0, len(ids))
    number = pc.replace_substring_regex(numbers, "[^0-9A-Za-z]", "")
    first = pa.array(_FIRST_ID + np.cumsum(1 + below(words, 0, 3)), mask=~chance(words, 16, 0.92))
    second = pc.if_else(chance(words, 32, 0.05), pc.add(first, 8_600_000), None)
    values = [("tcgdex", pc.ascii_lower(join(codes, "-", number))), ("tcgplayer", first), ("tcgplayer", second)]
    tables = [
        pa.table({"id_product": ids, "scheme": pa.repeat(scheme, len(ids)), "value": value.cast(pa.string())})
        for scheme, value in values
    ]
    unknown = pa.table({"id_product": catalogue.ids[-1:], "scheme": ["tcgplayer"], "value": [str(_FIRST_ID)]})
    return pa.concat_tables([*tables, unknown]).filter(pc.field("value").is_valid())


# The table `fingerprints`, with the pictures that a build of the lake draws.

_MAX_ENTRIES = 150_000  # computing them takes a minute for every 50,000
RECIPE = {"version": recipe.VERSION, "image_url": f"/{DRAWING_PREFIX}{{key}}{DRAWING_SUFFIX}"}


def make_fingerprints(catalogue: DemoCatalogue) -> pa.Table:
    """Make one row for each picture of a single, by its key. In a large lake the last pictures have none.

    They are those of the pictures in a browser up to a few bits, like those of good photos.
    """
    products: dict[Texts, list[int]] = {}
    drawn = catalogue.table["image"].is_valid().to_numpy() & ~catalogue.is_sealed[: len(catalogue.table)]
    for row in np.flatnonzero(drawn).tolist():
        products.setdefault(catalogue.texts[row], []).append(catalogue.ids[row])
    drawings = dict(sorted((drawing_key(texts), texts) for texts in products)[:_MAX_ENTRIES])
    hashes = {key: recipe.fingerprint(painted(svg(texts, sealed=False))) for key, texts in drawings.items()}
    return table_rows(hashes, {key: products[texts] for key, texts in drawings.items()})
