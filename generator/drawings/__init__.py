"""Pictures of cards as SVG documents: `single.svg` and `sealed.svg` with a product's whole numbers and texts.

Everything follows from a hash of its name, set, rarity and game, in 32-bit integers.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import count
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Hashes = NDArray[np.uint32]
Numbers = NDArray[np.int64]

_START, _PRIME = np.uint32(2_166_136_261), np.uint32(16_777_619)  # FNV-1a
_SECOND_START = np.uint32(0x9747B28C)
_STEP = 0x9E3779B9
_TITLE_CHARACTERS, _LINE_CHARACTERS = 20, 26
_UNPRINTABLE = "[\\x00-\\x1f\\x7f\ufffe\uffff]"
_PLACE = re.compile(r"\{(\w+)\}")  # of a number or a text in a template


class Texts(NamedTuple):
    """The texts of some products, one column each. Null counts as empty."""

    name: pa.Array
    set: pa.Array
    rarity: pa.Array
    game: pa.Array

    def given(self) -> "Texts":
        return Texts(*(pc.fill_null(column.cast(pa.string()), "") for column in self))

    def hashes(self, start: np.uint32 = _START) -> Hashes:
        name, set_, rarity, game = self.given()
        return hash_texts(pc.binary_join_element_wise(game, set_, rarity, name, "\n"), start)


def drawing_keys(texts: Texts) -> pa.Array:
    """Return the key of each drawing: 16 hex digits. Products with the same four texts share one."""
    number = texts.hashes().astype(np.uint64) << np.uint64(32) | texts.hashes(_SECOND_START)
    digits = number.astype(">u8").tobytes().hex()
    return pa.array([digits[at : at + 16] for at in range(0, len(digits), 16)], pa.string())


def svgs(texts: Texts, sealed: pa.Array) -> pa.Array:
    """Return the drawing of each product, by whether it is sealed."""
    values = {name: pa.array(column).cast(pa.string()) for name, column in numbers(texts).items()} | labels(texts)
    return pc.if_else(sealed, _fill("sealed", values), _fill("single", values))


def _fill(name: str, values: Mapping[str, pa.Array]) -> pa.Array:
    parts = _PLACE.split(template(name))  # text and names in turn
    columns = [values[part] if at % 2 else part for at, part in enumerate(parts)]
    return pc.binary_join_element_wise(*columns, "")


@cache
def template(name: str) -> str:
    """Return the template `single` or `sealed`, without line breaks."""
    return files(__name__).joinpath(f"{name}.svg").read_text("utf-8").replace("\n", "")


def numbers(texts: Texts) -> dict[str, Numbers]:
    """Return the numbers of the templates by name, one per product."""
    given, own, words = texts.given(), texts.hashes(), count(1)
    game, set_ = hash_texts(given.game), hash_texts(given.set)
    rarity = hash_texts(pc.replace_substring_regex(pc.utf8_lower(given.rarity), "[^a-z]", ""))

    def pick(low: int, many: int) -> Numbers:
        """Return numbers from `low` to `low + many - 1`. Each call takes the next word of the hash."""
        return np.asarray(low + mixed(own, next(words)) % many)

    game_hue, set_hue = mixed(game, 0) % 360, mixed(set_, 0) % 360
    found = {"gameHue": game_hue, "innerLight": 70 + mixed(game, 1) % 22}
    found |= {"setHue": set_hue, "stripLight": 68 + mixed(set_, 1) % 20}
    found |= {"frameHue": mixed(rarity, 0) % 360, "frameLight": 30 + mixed(rarity, 1) % 40}

    hue, turn, top, low = (set_hue + pick(0, 60)) % 360, pick(0, 26), pick(24, 62), pick(24, 62)
    for band in range(5):
        found[f"skyHue{band}"] = (hue + band * turn) % 360
        found[f"skyLight{band}"] = top * (4 - band) + low * band >> 2
    found |= {"sunX": pick(36, 180), "sunY": pick(54, 66), "sunR": pick(10, 24)}
    found |= {"sunHue": (hue + 150 + pick(0, 60)) % 360, "sunLight": np.where(top > 54, 22, 92)}

    found |= {"hillX": pick(20, 100), "hillWide": pick(50, 70), "hillTall": pick(16, 58), "hillLight": pick(18, 50)}
    found |= {"ridgeX": pick(130, 100), "ridgeWide": pick(50, 70), "ridgeTall": pick(12, 46)}
    found |= {"ridgeLight": pick(18, 50), "hillHue": (game_hue + pick(0, 70)) % 360}

    x, wide, tall, head, lean = pick(72, 108), pick(22, 24), pick(22, 20), pick(15, 13), pick(0, 31)
    ear_wide, ear_tall, tail, light = pick(4, 8), pick(6, 20), pick(5, 10), pick(28, 48)
    y = 178 - tall - pick(0, 20)
    head_x, head_y = x - 15 + lean, y - tall - (head >> 1)
    found |= {"bodyX": x, "bodyY": y, "bodyWide": wide, "bodyTall": tall, "headX": head_x, "headY": head_y}
    found |= {"headR": head, "bellyY": y + (tall >> 2), "bellyWide": wide * 5 >> 3, "bellyTall": tall * 5 >> 3}
    found |= {"earLeft": head_x - (head * 3 >> 2), "earRight": head_x + (head * 3 >> 2), "earY": head_y - head}
    found |= {"earWide": ear_wide, "earTall": ear_tall, "tailX": x + np.where(lean > 15, -wide, wide), "tailR": tail}
    found |= {"tailY": y + (tall >> 1), "furHue": (game_hue + 60 + pick(0, 240)) % 360, "furLight": light}
    found |= {"earLight": light - 10, "bellyLight": light + 18, "eyeTall": pick(4, 4), "mouthWide": pick(2, 6)}
    found |= {"eyeLeft": head_x - (head >> 1), "eyeRight": head_x + (head >> 1), "mouthY": head_y + (head * 5 >> 3)}
    return found | {f"line{at}": pick(60, 130) for at in range(5)}


def labels(texts: Texts) -> dict[str, pa.Array]:
    """Return the texts of the templates by name, short enough for their lines and escaped for XML."""
    given = texts.given()
    title = pc.replace_substring_regex(given.name, r" *\[.*", "")
    lines = {name: _label(column, _LINE_CHARACTERS) for name, column in given._asdict().items()}
    return lines | {"name": _label(title, _TITLE_CHARACTERS)}


def _label(texts: pa.Array, most: int) -> pa.Array:
    text = pc.replace_substring_regex(texts, _UNPRINTABLE, "")
    long = pc.greater(pc.utf8_length(text), most)
    text = pc.if_else(long, pc.binary_join_element_wise(pc.utf8_slice_codeunits(text, 0, most - 1), "…", ""), text)
    for letter, escape in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = pc.replace_substring(text, letter, escape)
    return text


def hash_texts(texts: pa.Array, start: np.uint32 = _START) -> Hashes:
    """Return FNV-1a of the UTF-8 of each text: one step for each byte of the longest one."""
    hashes = np.full(len(texts), start, np.uint32)
    lengths = pc.binary_length(texts).to_numpy()
    width = max(int(lengths.max(initial=0)), 1)
    padded = np.array(texts.cast(pa.binary()).to_numpy(zero_copy_only=False), f"S{width}")
    letters = padded.view(np.uint8).reshape(len(texts), width)
    for at in range(width):
        hashes = np.where(at < lengths, (hashes ^ letters[:, at]) * _PRIME, hashes)
    return hashes


def mixed(hashes: Hashes, number: int) -> Numbers:
    """Return the random word `number` of each hash, 24 bits."""
    words = hashes + np.array(number * _STEP & 0xFFFFFFFF, np.uint32)
    words ^= words >> np.uint32(16)
    words *= np.uint32(0x7FEB352D)
    words ^= words >> np.uint32(15)
    words *= np.uint32(0x846CA68B)
    return (words ^ words >> np.uint32(16)).astype(np.int64) >> 8
