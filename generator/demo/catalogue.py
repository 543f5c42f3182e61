"""The tables about products: `expansions`, `products`, `identifiers`, `fingerprints`.

Products are grouped by expansion. Some are in one that the lake lacks, or in none. The daily tables know
UNKNOWN_PRODUCTS more than `products` has.
"""

import re
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
from generator.demo import vocabulary
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
    field,
    join,
    millionths,
    mix,
    null_where,
    pick,
    timestamps,
    url_words,
)
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
_SITE = "https://market.example/en/"


def make_expansions(seed: int, products: int) -> pa.Table:
    """Make about one expansion for 95 products, but at least 40. Every 17th has no URL. The lake has no `code`."""
    places = np.arange(max(_MIN_COUNT, products // 95))
    words = draw(seed, "expansions", len(places) - len(vocabulary.AWKWARD_SETS))
    turns = (field(words[:1], 32) + 577 * np.arange(len(words))) % len(vocabulary.SET_NAMES)
    awkward_names, awkward_games = (
        pa.array(column, pa.string()) for column in zip(*vocabulary.AWKWARD_SETS, strict=True)
    )
    names = pa.concat_arrays([awkward_names, choose(vocabulary.SET_NAMES, turns)])
    games = pa.concat_arrays([awkward_games, choose(vocabulary.GAMES, by_weight([5, 3, 2, 1], words, 0))])
    urls = join(_SITE, url_words(games), "/Expansions/", url_words(names))
    # The step is coprime to 26 ** 3, so the first 17,576 codes differ.
    code = join(*(choose(list(ascii_uppercase), (places * 7919 + 4242) // unit % 26) for unit in (676, 26, 1)))
    url = null_where(places % 17 == 16, urls)
    return pa.table({"id": 1203 + 7 * places, "name": names, "game": games, "url": url, "code": code})


def _of_expansion(
    column: pa.ChunkedArray, expansion: Integers, unknown: str | int | None = None, none: str | None = None
) -> pa.Array:
    """Return the value of each product's expansion, with these for the unknown expansion and for none."""
    return pa.concat_arrays([*column.chunks, pa.array([unknown, none], column.type)]).take(pa.array(expansion))


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
    """The products by ascending id. The arrays have UNKNOWN_PRODUCTS more entries than the table."""

    table: pa.Table
    expansions: pa.Table
    ids: Integers
    cents: Integers  # the level around which a product's prices move
    is_sealed: Flags
    expansion: Integers  # place in `expansions`; beyond its end: an unknown expansion, or none
    starts: Integers  # number of the first day on which the price guide has the product


def make_catalogue(seed: int, count: int) -> DemoCatalogue:
    """Make `count` products. About 6 % are sealed."""
    expansions = make_expansions(seed, count)
    words = draw(seed, "products", 8 * (count + UNKNOWN_PRODUCTS)).reshape(8, -1)
    ids = 10_000 + np.cumsum(1 + below(words[0], 0, 4))
    odd = np.arange(len(ids)) % _ODD_EVERY == _ODD_AT
    sealed = chance(words[0], 16, _SEALED_SHARE) & ~odd
    # Sizes are heavy-tailed, in a shuffled order, so that awkward expansions have all sizes. 1 % of the products are in
    # an unknown one or in none.
    sets = len(expansions)
    weights = 10**6 // (3 + sets // 50 + np.arange(sets) * 37 % sets)
    weights[_WITHOUT_PRODUCTS] = 0
    edges = np.cumsum(weights)
    place = np.sort(np.searchsorted(edges, (field(words[1], 0, 32) * edges[-1]) >> 32, side="right"))
    outside = np.where(chance(words[1], 32, 0.5), sets, sets + 1)
    expansion = np.where(chance(words[1], 48, 0.01), outside, place)
    starts = np.where(chance(words[3], 0, _LATE_SHARE), 1 + below(words[3], 16, _LATE_DAYS), 0)
    # A single's usual price is by its rarity, even where the lake does not say that.
    first, last = np.array([*vocabulary.RARITY_PRICES, vocabulary.SEALED_PRICES], dtype=np.int64).T
    curve = np.where(sealed, len(vocabulary.RARITY_PRICES), by_weight(vocabulary.RARITY_WEIGHTS, words[2], 32))
    quantiles = first[curve] + (last - first)[curve] * millionths(words[2]) // 1_000_000
    level = by_quantile(_PRICE_CURVE, quantiles)
    columns = _columns(words, odd, sealed, expansion, expansions)
    eve = starts > 0  # they enter the price guide during the history, and were added on the day before the first
    days_ago = 20 + (sets + 1 - expansion) * 5_000 // (sets + 2)
    second = chance(words[3], 32, 0.1) * below(words[3], 48, 65_536)  # one time for most of an expansion
    unknown = (expansion < sets // 4) & ~eve
    added = timestamps(np.where(eve, -1, -days_ago), np.where(eve, 36_000, second), mask=unknown)
    return DemoCatalogue(
        table=pa.table({"id_product": ids, **columns, "date_added": added}).slice(0, count),
        expansions=expansions,
        ids=ids,
        cents=np.where(sealed, 300 + 3 * level, level),
        is_sealed=sealed,
        expansion=expansion,
        starts=starts,
    )


def _columns(words: Words, odd: Flags, sealed: Flags, expansion: Integers, expansions: pa.Table) -> dict[str, pa.Array]:
    sets = _of_expansion(expansions["name"], expansion, "Lost & Found", "Loose Cards")
    codes = _of_expansion(expansions["code"], expansion, "LNF", "XXX")
    games = pc.fill_null(_of_expansion(expansions["game"], expansion), vocabulary.GAMES[0])
    wares, single = below(words[4], 32, len(vocabulary.SEALED)), pa.array(~sealed)
    ware = choose(vocabulary.SEALED, wares)
    # Such as `Ember Court: Mosshare Tin`. Some have two spaces, some end with one.
    plain, gap = join(sets, " ", ware), pick([" ", "  "], words[5], 48)
    starring = join(sets, ": ", pick(vocabulary.CREATURES, words[5], 0), gap, ware)
    sealed_name = pc.choose(pa.array(by_weight([6, 3, 1], words[5], 16)), plain, starring, join(plain, " "))
    name = pc.if_else(single, _single_names(words[4], odd), sealed_name)
    number = null_where(sealed, _numbers(words[6], expansion, codes))
    rarity = choose(vocabulary.RARITIES, by_weight(vocabulary.RARITY_WEIGHTS, words[2], 32))
    rarity = null_where(sealed | chance(words[2], 48, 0.05), rarity)
    image = join(f"/{DRAWING_PREFIX}", drawing_keys(_texts(name, rarity, expansion, expansions)), DRAWING_SUFFIX)
    image = null_where(np.where(sealed, chance(words[7], 0, 0.4), chance(words[7], 0, 0.08)), image)
    category = join(games, " ", pc.if_else(single, "Single", ware))
    folder = pc.if_else(single, "Singles", choose(vocabulary.SEALED_FOLDERS, wares))
    printed = pc.replace_substring_regex(pc.fill_null(number, ""), r"^[A-Z]{3}(\d)", r"\1")
    printed = join("-", codes, pc.replace_substring_regex(printed, "[^0-9A-Za-z]", ""))
    page = join(url_words(name), pc.if_else(single, printed, ""))
    ends = ["", "?utm_source=list", "#offers", "?language=3&isFoil=Y#top", "/"]
    end = choose(ends, by_weight([94, 2, 1, 1, 2], words[5], 32))
    url = join(_SITE, url_words(games), "/Products/", folder, "/", url_words(sets), "/", page, end)
    return {
        "name": name,
        "kind": pc.if_else(single, "single", "sealed"),
        "category": null_where(chance(words[7], 48, 0.01), category),
        "id_expansion": _of_expansion(expansions["id"], expansion, _UNKNOWN_EXPANSION),
        "rarity": rarity,
        "number": number,
        "image": image,
        "image_large": null_where(chance(words[7], 16, 0.05), image),
        "url": null_where(chance(words[5], 48, 0.06), url),
    }


def _single_names(words: Words, odd: Flags) -> pa.Array:
    """Make names such as `Embergrin δ [Cinder Dash | Warm Up]`, `Old Rope`, `Marla's Night Ferry`, and odd ones.

    Some creatures are much more frequent than others and each has few attacks, so many products share a name.
    """
    creature = (field(words, 0) ** 2 * len(vocabulary.CREATURES)) >> 32
    attacks = mix(creature * 4 + below(words, 16, 4))
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
    plain = pc.choose(pa.array(by_weight([30, 40, 8, 12, 10], words, 48)), *forms)
    return pc.if_else(pa.array(odd), choose(vocabulary.ODD_NAMES, turn), plain)


def _numbers(words: Words, expansion: Integers, codes: pa.Array) -> pa.Array:
    """Make collector numbers in the style of each card's expansion: `4`, `004`, `TG12`, `ABC001`. A few are odd."""
    order = np.argsort(expansion, kind="stable")
    place = np.empty_like(expansion)
    place[order] = np.arange(1, len(expansion) + 1) - np.searchsorted(expansion[order], expansion[order])
    plain = pc.cast(pa.array(place), pa.string())
    padded, two = pc.utf8_lpad(plain, 3, "0"), pc.utf8_lpad(plain, 2, "0")
    # The style is a word of the expansion, for any seed, so that neighbouring expansions number cards differently.
    style = by_weight([40, 30, 10, 8, 12], ((expansion * 40_503) & 0xFFFF).astype(np.uint64), 0)
    short = join(pc.utf8_slice_codeunits(codes, 0, 2), " ", plain)
    styled = pc.choose(pa.array(style), plain, padded, join(codes, padded), short, join("TG", two))
    rare = pick(["!", "?", "A", "Z", "ONE", "000", "0", "½", "R/1", "Ⅳ"], words, 32)
    forms = join(plain, pick(["a", "b", "A"], words, 32)), join("TG", plain), rare
    odd = pc.choose(pa.array(by_weight([5, 2, 2], words, 16)), *forms)
    return null_where(chance(words, 48, 0.08), pc.if_else(pa.array(chance(words, 0, 0.04)), odd, styled))


def _texts(name: pa.Array, rarity: pa.Array, expansion: Integers, expansions: pa.Table) -> Texts:
    """Return the texts that drawings are made from, as a build reads them: no set and game if the set is unknown."""
    sets, games = (_of_expansion(expansions[field], expansion) for field in ("name", "game"))
    return Texts(name, sets, rarity, games)


# The table `identifiers`: some products have no id of a catalogue, some have two, and products of one card share an id.

_FIRST_ID, _FIRST_SECOND_ID = 400_000, 9_000_000


def make_identifiers(seed: int, catalogue: DemoCatalogue) -> pa.Table:
    """Make the ids that other catalogues have for products. One row names a product that the catalogue lacks."""
    products = catalogue.table
    words = draw(seed, "identifiers", len(products))
    ids = products["id_product"].combine_chunks()
    codes = _of_expansion(catalogue.expansions["code"], catalogue.expansion[: len(products)])
    number = pc.replace_substring_regex(products["number"].combine_chunks(), "[^0-9A-Za-z]", "")
    first, second = _FIRST_ID + np.cumsum(1 + below(words, 0, 3)), _FIRST_SECOND_ID + np.arange(len(products))
    has_first = chance(words, 16, 0.92)
    columns = [
        ("tcgdex", ids, pc.ascii_lower(join(codes, "-", number))),
        ("tcgplayer", ids, pa.array(first, mask=~has_first).cast(pa.string())),
        ("tcgplayer", ids, pa.array(second, mask=~(has_first & chance(words, 32, 0.05))).cast(pa.string())),
        ("tcgplayer", pa.array(catalogue.ids[-1:]), pa.array([str(_FIRST_ID)])),
    ]
    rows = [
        pa.table({"id_product": id_, "scheme": [scheme] * len(id_), "value": value}) for scheme, id_, value in columns
    ]
    return pa.concat_tables(rows).filter(pc.field("value").is_valid())


# The table `fingerprints`, with the pictures that a build of the lake draws.

_MAX_ENTRIES = 150_000  # computing them takes a minute for every 60,000
RECIPE = {"version": VERSION, "image_url": f"/{DRAWING_PREFIX}{{key}}{DRAWING_SUFFIX}"}


def make_fingerprints(catalogue: DemoCatalogue) -> pa.Table:
    """Make one row for each picture of a single, by its key. In a large lake the last pictures have none."""
    products = catalogue.table
    rows = np.flatnonzero(~catalogue.is_sealed[: len(products)] & products["image"].is_valid().to_numpy())
    shown = products.take(pa.array(rows)).combine_chunks()
    name, rarity = (shown[field].combine_chunks() for field in ("name", "rarity"))
    texts = _texts(name, rarity, catalogue.expansion[rows], catalogue.expansions)
    pictures = pa.table({"key": drawing_keys(texts), "id": shown["id_product"], "row": np.arange(len(rows))})
    found = pictures.group_by("key", use_threads=False).aggregate([("row", "min"), ("id", "list")])
    found = found.sort_by("key").slice(0, _MAX_ENTRIES)
    first, keys = found["row_min"].to_numpy(), found["key"].to_pylist()
    hashes = _fingerprints({name: column[first] for name, column in numbers(texts).items()})
    products_of = dict(zip(keys, found["id_list"].to_pylist(), strict=True))
    return table_rows(dict(zip(keys, hashes, strict=True)), products_of)


# The fingerprints of drawings of singles, many at once. The shapes of `single.svg` are sampled at points. Text is left
# out: it is small, and fonts differ between machines. So a fingerprint is that of the picture in a browser up to a few
# bits, like that of a good photo.

Values = NDArray[np.float32]
_CARD = (0, 0, 252, 352)  # left, top, right, bottom
_ART = (20, 39, 232, 176)  # the recipe's art box of such a picture
_POINTS = 64  # samples each way
_CARDS_AT_ONCE = 64
_HSL = re.compile(r"hsl\((.+),(.+)%,(.+)%\)")
_SVG = "{http://www.w3.org/2000/svg}"


def _fingerprints(numbers: Mapping[str, Numbers]) -> list[Fingerprint]:
    found: list[Fingerprint] = []
    for start in range(0, len(numbers["sunX"]), _CARDS_AT_ONCE):
        some = {name: column[start : start + _CARDS_AT_ONCE] for name, column in numbers.items()}
        art, card = _sampled(some, _ART), _sampled(some, _CARD)
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


def _sampled(numbers: Mapping[str, Numbers], box: tuple[int, int, int, int]) -> Pixels:
    """Return samples of a part of each drawing: (points, points, cards, 3)."""
    left, top, right, bottom = box
    middles = (np.arange(_POINTS, dtype=np.float32) + np.float32(0.5)) / np.float32(_POINTS)
    x, y = (left + middles * (right - left))[None, None, :], (top + middles * (bottom - top))[None, :, None]
    count = len(numbers["sunX"])
    last = np.zeros((count, _POINTS, _POINTS), np.uint8)  # which shape is painted last at a point; 0 for none
    colours = [np.full((1, 3), 255, np.float32)]
    for number, (shape, clip) in enumerate(_shapes(), 1):
        visible = (x > clip[0]) & (x < clip[2]) & (y > clip[1]) & (y < clip[3])
        values = {name: _value(text, numbers) for name, text in shape.attrib.items() if name != "fill"}
        np.copyto(last, number, where=visible & _inside(values, x, y))
        colours.append(_colour(shape.attrib["fill"], numbers))
    palette = np.stack([np.broadcast_to(colour, (count, 3)) for colour in colours], axis=1).astype(np.uint8)
    return np.moveaxis(palette[np.arange(count)[:, None, None], last], 0, 2)


@cache
def _shapes() -> list[tuple[ElementTree.Element, tuple[int, int, int, int]]]:
    """Return the rectangles and ellipses of the template in the order of painting, each with the box that clips it."""
    root = ElementTree.fromstring(template("single"))
    in_art = set(root.iterfind(f"{_SVG}svg/*"))
    shapes = (element for element in root.iter() if element.tag in (f"{_SVG}rect", f"{_SVG}ellipse"))
    return [(shape, _ART if shape in in_art else _CARD) for shape in shapes]


def _value(text: str, numbers: Mapping[str, Numbers]) -> Values:
    """Return an attribute as (cards, 1, 1), or (1, 1, 1) if it is the same for all."""
    column = numbers[text[1:-1]] if text.startswith("{") else np.array([float(text)])
    return column.astype(np.float32)[:, None, None]


def _inside(values: Mapping[str, Values], x: Values, y: Values) -> NDArray[np.bool_]:
    """Return which points a shape covers: (cards or 1, points, points)."""
    if "cx" in values:
        across, down = (x - values["cx"]) / values["rx"], (y - values["cy"]) / values["ry"]
        return np.asarray(across * across + down * down < 1)
    left, top = values.get("x", np.float32(0)), values.get("y", np.float32(0))
    return np.asarray((x > left) & (x < left + values["width"]) & (y > top) & (y < top + values["height"]))


def _colour(fill: str, numbers: Mapping[str, Numbers]) -> Values:
    """Return a colour as (cards, 3), or (1, 3) if it is the same for all."""
    found = _HSL.fullmatch(fill)
    if not found:
        digits = fill[1:] if len(fill) == 7 else "".join(2 * digit for digit in fill[1:])
        return np.frombuffer(bytes.fromhex(digits), np.uint8).astype(np.float32)[None, :]
    hue, *percents = (_value(text, numbers)[:, 0] for text in found.groups())
    saturation, light = (percent / np.float32(100) for percent in percents)
    place = (np.array([0, 8, 4], np.float32) + hue / 30) % 12
    colour = light - saturation * np.minimum(light, 1 - light) * np.clip(np.minimum(place - 3, 9 - place), -1, 1)
    return np.asarray(np.floor(255 * colour + 0.5), np.float32)
