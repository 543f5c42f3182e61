"""The tables about products: `expansions`, `products`, `identifiers`, `fingerprints`.

Products are grouped by expansion. Some are in one that the lake lacks, or in none. The daily tables know
UNKNOWN_PRODUCTS more than `products` has.
"""

from collections.abc import Mapping
from functools import cache
from string import ascii_uppercase
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from edge_auth.builds.layout import DRAWING_PREFIX, DRAWING_SUFFIX
from generator.demo import draw, vocabulary
from generator.demo.draw import Flags, Integers, Words, below, chance, choose, field, join, pick, timestamps, url_words
from generator.drawings import Numbers, Texts, drawing_keys, numbers, template
from generator.fingerprints.recipe import (
    COLOURS,
    LOW,
    SIDE,
    VERSION,
    Fingerprint,
    Pixels,
    average,
    difference_hash,
    grey,
    perceptual_hash,
)
from generator.fingerprints.table import table_rows

# The table `expansions`: awkward names first, then as many plain ones as the catalogue needs.

_WITHOUT_PRODUCTS = len(vocabulary.AWKWARD_SETS) - 1
_MIN_COUNT = 40
_UNKNOWN_EXPANSION = 999_001
# The homes of products that are in an expansion which the lake lacks, and in none.
_OUTSIDE = [{"id": _UNKNOWN_EXPANSION, "name": "Lost & Found", "code": "LNF"}, {"name": "Loose Cards", "code": "XXX"}]
_SITE = "https://market.example/en/"


def make_expansions(seed: int, products: int) -> pa.Table:
    """Make about one expansion for 95 products, but at least 40. Every 17th has no URL. The lake has no `code`."""
    places = np.arange(max(_MIN_COUNT, products // 95))
    words = draw.words(seed, "expansions", len(places) - len(vocabulary.AWKWARD_SETS))
    turns = (field(words[:1], 32) + 577 * np.arange(len(words))) % len(vocabulary.SET_NAMES)
    awkward_names, awkward_games = (
        pa.array(column, pa.string()) for column in zip(*vocabulary.AWKWARD_SETS, strict=True)
    )
    names = pa.concat_arrays([awkward_names, choose(vocabulary.SET_NAMES, turns)])
    games = pa.concat_arrays([awkward_games, choose(vocabulary.GAMES, draw.by_weight([5, 3, 2, 1], words, 0))])
    urls = join(_SITE, url_words(games), "/Expansions/", url_words(names))
    # The step is coprime to 26 ** 3, so the first 17,576 codes differ.
    code = join(*(choose(list(ascii_uppercase), (places * 7919 + 4242) // unit % 26) for unit in (676, 26, 1)))
    url = pc.if_else(places % 17 == 16, None, urls)
    return pa.table({"id": 1203 + 7 * places, "name": names, "game": games, "url": url, "code": code})


def _in_lake(home: pa.RecordBatch) -> pa.Array:
    return pc.not_equal(home["id"], _UNKNOWN_EXPANSION)  # null, like the id, for a product without an expansion


# The table `products`, and the facts about products that the daily tables need.

UNKNOWN_PRODUCTS = 2
_ODD_EVERY, _ODD_AT = 29, 7
_SEALED_SHARE, _LATE_SHARE, _LATE_DAYS = 0.06, 0.03, 120
# Points of the price distribution: a number of products in a million, and their maximum price in cents.
_PRICE_CURVE = [
    (0, 2), (230_000, 3), (320_000, 12), (500_000, 70), (750_000, 430), (900_000, 2_200), (990_000, 31_000),
    (999_000, 220_000), (1_000_000, 1_100_000),
]  # fmt: skip


class DemoCatalogue(NamedTuple):
    """The products by ascending id. The columns have UNKNOWN_PRODUCTS more entries than the table."""

    table: pa.Table
    expansions: pa.Table
    ids: Integers
    cents: Integers  # the level around which a product's prices move
    is_sealed: Flags
    expansion: Integers  # place in `expansions`; beyond its end: an unknown expansion, or none
    home: pa.RecordBatch  # the expansion's columns
    texts: Texts  # that the drawing is made from, as a build reads them
    starts: Integers  # number of the first day on which the price guide has the product


def make_catalogue(seed: int, count: int) -> DemoCatalogue:
    """Make `count` products. About 6 % are sealed."""
    expansions = make_expansions(seed, count)
    words = draw.words(seed, "products", 8 * (count + UNKNOWN_PRODUCTS)).reshape(8, -1)
    ids = 10_000 + np.cumsum(1 + below(words[0], 0, 4))
    odd = np.arange(len(ids)) % _ODD_EVERY == _ODD_AT
    sealed = chance(words[0], 16, _SEALED_SHARE) & ~odd
    # Sizes are heavy-tailed, in a shuffled order, so that awkward expansions have all sizes. 1 % of the products are in
    # an unknown one or in none.
    sets = len(expansions)
    weights = 10**6 // (3 + sets // 50 + np.arange(sets) * 37 % sets)
    weights[_WITHOUT_PRODUCTS] = 0
    place = np.sort(draw.by_weight(weights, words[1], 0, 32))
    outside = np.where(chance(words[1], 32, 0.5), sets, sets + 1)
    expansion = np.where(chance(words[1], 48, 0.01), outside, place)
    starts = np.where(chance(words[3], 0, _LATE_SHARE), 1 + below(words[3], 16, _LATE_DAYS), 0)
    # A single's usual price is by its rarity, even where the lake does not say that.
    first, last = np.array([*vocabulary.RARITY_PRICES, vocabulary.SEALED_PRICES], dtype=np.int64).T
    curve = np.where(sealed, len(vocabulary.RARITY_PRICES), draw.by_weight(vocabulary.RARITY_WEIGHTS, words[2], 32))
    quantiles = first[curve] + (last - first)[curve] * below(words[2], 0, 1_000_000, 32) // 1_000_000
    level = draw.by_quantile(_PRICE_CURVE, quantiles)
    homes = pa.concat_tables([expansions, pa.Table.from_pylist(_OUTSIDE, expansions.schema)]).combine_chunks()
    home = homes.to_batches()[0].take(pa.array(expansion))
    columns, texts = _columns(words, odd, sealed, expansion, home)
    eve = starts > 0  # they enter the price guide during the history, and were added on the day before the first
    days_ago = 20 + (sets + 1 - expansion) * 5_000 // (sets + 2)
    second = chance(words[3], 32, 0.1) * below(words[3], 48, 65_536)  # one time for most of an expansion
    unknown = (expansion < sets // 4) & ~eve
    added = timestamps(np.where(eve, -1, -days_ago), np.where(eve, 36_000, second), mask=unknown)
    return DemoCatalogue(
        table=pa.table({"id_product": ids, **columns, "date_added": added}).slice(0, count),
        expansions=expansions.drop_columns("code"),
        ids=ids,
        cents=np.where(sealed, 300 + 3 * level, level),
        is_sealed=sealed,
        expansion=expansion,
        home=home,
        texts=texts,
        starts=starts,
    )


def _columns(
    words: Words, odd: Flags, sealed: Flags, expansion: Integers, home: pa.RecordBatch
) -> tuple[dict[str, pa.Array], Texts]:
    sets, codes, games = home["name"], home["code"], pc.fill_null(home["game"], vocabulary.GAMES[0])
    wares, single = below(words[4], 32, len(vocabulary.SEALED)), ~sealed
    ware = choose(vocabulary.SEALED, wares)
    # Such as `Ember Court: Mosshare Tin`. Some have two spaces, some end with one.
    plain, gap = join(sets, " ", ware), pick([" ", "  "], words[5], 48)
    starring = join(sets, ": ", pick(vocabulary.CREATURES, words[5], 0), gap, ware)
    sealed_name = pc.choose(draw.by_weight([6, 3, 1], words[5], 16), plain, starring, join(plain, " "))
    name = pc.if_else(single, _single_names(words[4], odd), sealed_name)
    number = pc.if_else(single, _numbers(words[6], expansion, codes), None)
    rarity = choose(vocabulary.RARITIES, draw.by_weight(vocabulary.RARITY_WEIGHTS, words[2], 32))
    rarity = pc.if_else(sealed | chance(words[2], 48, 0.05), None, rarity)
    texts = Texts(name, pc.if_else(_in_lake(home), sets, None), rarity, home["game"])
    image = join(f"/{DRAWING_PREFIX}", drawing_keys(texts), DRAWING_SUFFIX)
    image = pc.if_else(chance(words[7], 0, 0.08) | sealed & chance(words[7], 0, 0.4), None, image)
    category = join(games, " ", pc.if_else(single, "Single", ware))
    folder = pc.if_else(single, "Singles", choose(vocabulary.SEALED_FOLDERS, wares))
    printed = pc.replace_substring_regex(pc.fill_null(number, ""), r"^[A-Z]{3}(\d)", r"\1")
    printed = join("-", codes, pc.replace_substring_regex(printed, "[^0-9A-Za-z]", ""))
    page = join(url_words(name), pc.if_else(single, printed, ""))
    ends = ["", "?utm_source=list", "#offers", "?language=3&isFoil=Y#top", "/"]
    end = choose(ends, draw.by_weight([94, 2, 1, 1, 2], words[5], 32))
    url = join(_SITE, url_words(games), "/Products/", folder, "/", url_words(sets), "/", page, end)
    return {
        "name": name,
        "kind": pc.if_else(single, "single", "sealed"),
        "category": pc.if_else(chance(words[7], 48, 0.01), None, category),
        "id_expansion": home["id"],
        "rarity": rarity,
        "number": number,
        "image": image,
        "image_large": pc.if_else(chance(words[7], 16, 0.05), None, image),
        "url": pc.if_else(chance(words[5], 48, 0.06), None, url),
    }, texts


def _single_names(words: Words, odd: Flags) -> pa.Array:
    """Make names such as `Embergrin δ [Cinder Dash | Warm Up]`, `Old Rope`, `Marla's Night Ferry`, and odd ones.

    Some creatures are much more frequent than others and each has few attacks, so many products share a name.
    """
    creature = (field(words, 0) ** 2 * len(vocabulary.CREATURES)) >> 32
    attacks = draw.mix(creature * 4 + below(words, 16, 4))
    base, item = choose(vocabulary.CREATURES, creature), pick(vocabulary.ITEMS, words, 32)
    first, second = (pick(vocabulary.MOVES, attacks, at) for at in (0, 16))
    forms = (
        join(base, " [", first, "]"),
        join(base, " [", first, " | ", second, "]"),
        join(base, pick(vocabulary.MARKS, attacks, 32), " [", first, " | ", second, "]"),
        item,
        join(pick(vocabulary.PEOPLE, attacks, 48), " ", item),
    )
    turn = np.arange(len(words)) // _ODD_EVERY % len(vocabulary.ODD_NAMES)
    plain = pc.choose(draw.by_weight([30, 40, 8, 12, 10], words, 48), *forms)
    return pc.if_else(odd, choose(vocabulary.ODD_NAMES, turn), plain)


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

_FIRST_ID, _FIRST_SECOND_ID = 400_000, 9_000_000


def make_identifiers(seed: int, catalogue: DemoCatalogue) -> pa.Table:
    """Make the ids that other catalogues have for products. One row names a product that the catalogue lacks."""
    products = catalogue.table
    words = draw.words(seed, "identifiers", len(products))
    codes = pc.if_else(_in_lake(catalogue.home), catalogue.home["code"], None).slice(0, len(products))
    number = pc.replace_substring_regex(products["number"], "[^0-9A-Za-z]", "")
    first, second = _FIRST_ID + np.cumsum(1 + below(words, 0, 3)), _FIRST_SECOND_ID + np.arange(len(products))
    has_first = chance(words, 16, 0.92)
    has_second = has_first & chance(words, 32, 0.05)
    rows = [
        ("tcgdex", products["id_product"], pc.ascii_lower(join(codes, "-", number))),
        ("tcgplayer", products["id_product"].filter(has_first), pa.array(first[has_first]).cast(pa.string())),
        ("tcgplayer", products["id_product"].filter(has_second), pa.array(second[has_second]).cast(pa.string())),
        ("tcgplayer", catalogue.ids[-1:], [str(_FIRST_ID)]),
    ]
    tables = [
        pa.table({"id_product": ids, "scheme": pa.repeat(scheme, len(ids)), "value": value})
        for scheme, ids, value in rows
    ]
    return pa.concat_tables(tables).filter(pc.field("value").is_valid())


# The table `fingerprints`, with the pictures that a build of the lake draws.

_MAX_ENTRIES = 150_000  # computing them takes a minute for every 60,000
RECIPE = {"version": VERSION, "image_url": f"/{DRAWING_PREFIX}{{key}}{DRAWING_SUFFIX}"}


def make_fingerprints(catalogue: DemoCatalogue) -> pa.Table:
    """Make one row for each picture of a single, by its key. In a large lake the last pictures have none."""
    rows = pa.table({"image": catalogue.table["image"], "id": catalogue.table["id_product"]})
    rows = rows.append_column("row", [np.arange(len(rows))]).filter(~catalogue.is_sealed[: len(rows)])
    found = rows.filter(pc.field("image").is_valid()).group_by("image", use_threads=False)
    pictures = found.aggregate([("row", "min"), ("id", "list")]).sort_by("image").slice(0, _MAX_ENTRIES)
    texts = Texts(*(column.take(pictures["row_min"].combine_chunks()) for column in catalogue.texts))
    keys = drawing_keys(texts).to_pylist()
    hashes, products = _fingerprints(numbers(texts)), pictures["id_list"].to_pylist()
    return table_rows(dict(zip(keys, hashes, strict=True)), dict(zip(keys, products, strict=True)))


# The fingerprints of drawings of singles, many at once. The shapes of `single.svg` are sampled at points. Text is left
# out: it is small, and fonts differ between machines. So a fingerprint is that of the picture in a browser up to a few
# bits, like that of a good photo.

Values = NDArray[np.float32]  # one per card, (cards, 1, 1), or one for all
_CARD = (0, 0, 252, 352)  # left, top, right, bottom
_ART = (20, 39, 232, 176)  # the recipe's art box of such a picture
_POINTS = 64  # samples each way
_CARDS_AT_ONCE = 64
_SVG = "{http://www.w3.org/2000/svg}"


def _fingerprints(numbers: Mapping[str, Numbers]) -> list[Fingerprint]:
    found: list[Fingerprint] = []
    for start in range(0, len(numbers["sunX"]), _CARDS_AT_ONCE):
        some = slice(start, start + _CARDS_AT_ONCE)
        values = {name: column[some, None, None].astype(np.float32) for name, column in numbers.items()}
        art, card = _sampled(values, _ART), _sampled(values, _CARD)
        colours, art_d = _cells(art, COLOURS, COLOURS), grey(_cells(art, LOW + 1, LOW))
        art_p, card_p = (grey(_cells(picture, SIDE, SIDE)) for picture in (art, card))
        found += [
            Fingerprint(
                art_p=perceptual_hash(art_p[..., at]),
                art_d=difference_hash(art_d[..., at]),
                card_p=perceptual_hash(card_p[..., at]),
                colour=colours[..., at, :].tobytes(),
            )
            for at in range(colours.shape[2])
        ]
    return found


def _cells(pictures: Pixels, columns: int, rows: int) -> Pixels:
    """Return the means of equal cells: (rows, columns, cards, 3)."""
    return average(pictures.reshape(_POINTS, _POINTS, -1), columns, rows).reshape(rows, columns, -1, 3)


def _sampled(numbers: Mapping[str, Values], box: tuple[int, int, int, int]) -> Pixels:
    """Return samples of a part of each drawing: (points, points, cards, 3)."""
    left, top, right, bottom = box
    middles = (np.arange(_POINTS, dtype=np.float32) + np.float32(0.5)) / np.float32(_POINTS)
    x, y = (left + middles * (right - left))[None, :], (top + middles * (bottom - top))[:, None]
    in_art = (x > _ART[0]) & (x < _ART[2]) & (y > _ART[1]) & (y < _ART[3])
    count = len(numbers["sunX"])
    last = np.zeros((count, _POINTS, _POINTS), np.uint8)  # which shape is painted last at a point; 0 for none
    palette = np.full((count, 1 + len(_shapes()), 3), 255, np.uint8)
    for number, (shape, is_clipped) in enumerate(_shapes(), 1):
        value = {name: _value(text, numbers) for name, text in shape.items() if name != "fill"}
        if "cx" in value:
            across, down = (x - value["cx"]) / value["rx"], (y - value["cy"]) / value["ry"]
            inside = across * across + down * down < 1
        else:
            from_left, from_top = x - value.get("x", 0), y - value.get("y", 0)
            inside = (from_left > 0) & (from_left < value["width"]) & (from_top > 0) & (from_top < value["height"])
        np.copyto(last, number, where=inside & in_art if is_clipped else inside)
        palette[:, number] = _colour(shape["fill"], numbers)
    return np.moveaxis(palette[np.arange(count)[:, None, None], last], 0, 2)


@cache
def _shapes() -> list[tuple[dict[str, str], bool]]:
    """Return the rectangles and ellipses of the template as they are painted, and whether the art box clips them."""
    root = ElementTree.fromstring(template("single"))
    in_art = set(root.iterfind(f"{_SVG}svg/*"))
    shapes = (element for element in root.iter() if element.tag in (f"{_SVG}rect", f"{_SVG}ellipse"))
    return [(shape.attrib, shape in in_art) for shape in shapes]


def _value(text: str, numbers: Mapping[str, Values]) -> Values | np.float32:
    return numbers[text[1:-1]] if text.startswith("{") else np.float32(text)


def _colour(fill: str, numbers: Mapping[str, Values]) -> Values | Pixels:
    """Return a colour as (cards, 3), or (3,) if it is the same for all."""
    if fill.startswith("#"):
        digits = fill[1:] if len(fill) == 7 else "".join(2 * digit for digit in fill[1:])
        return np.frombuffer(bytes.fromhex(digits), np.uint8)
    parts = (_value(text.rstrip("%"), numbers) for text in fill[4:-1].split(","))  # of hsl(…)
    hue, saturation, light = (np.asarray(part).reshape(-1, 1) for part in parts)
    saturation, light = saturation / np.float32(100), light / np.float32(100)
    place = (np.array([0, 8, 4], np.float32) + hue / 30) % 12
    colour = light - saturation * np.minimum(light, 1 - light) * np.clip(np.minimum(place - 3, 9 - place), -1, 1)
    return np.asarray(np.floor(255 * colour + 0.5), np.float32)
