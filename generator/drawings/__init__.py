"""Pictures of cards as SVG documents: `single.svg` and `sealed.svg` with a product's whole numbers and texts.

Everything follows from hashes of its name, set, rarity and game.
"""

import re
import struct
from bisect import bisect
from collections.abc import Iterator
from colorsys import hls_to_rgb
from functools import cache
from hashlib import shake_128
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, fromstring

import numpy as np
from numpy.typing import NDArray

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ufffe\uffff]")


class Texts(NamedTuple):
    """The texts of a product that its drawing is made from."""

    name: str
    set: str
    rarity: str
    game: str


def drawing_key(texts: Texts) -> str:
    """Return the key of a drawing: 16 hex digits. Products with the same four texts share one."""
    return shake_128("\n".join(texts).encode()).hexdigest(8)


def svg(texts: Texts, *, sealed: bool) -> str:
    """Return the drawing of a single or of a sealed product."""
    labels = {name: _label(text, 26) for name, text in texts._asdict().items()}
    labels["name"] = _label(re.sub(r" *\[.*", "", texts.name), 20)
    return template("sealed" if sealed else "single").format(**_numbers(texts), **labels)


@cache
def template(name: str) -> str:
    """Return the template `single` or `sealed`, without line breaks."""
    return files(__name__).joinpath(f"{name}.svg").read_text("utf-8").replace("\n", "")


def _label(text: str, most: int) -> str:
    """Return a text short enough for its line, and escaped for XML."""
    text = _UNPRINTABLE.sub("", text)
    return escape(text if len(text) <= most else text[: most - 1] + "…", quote=False)


def _words(text: str) -> Iterator[int]:
    """Return random numbers of 16 bits that follow from a text, more than a drawing takes."""
    return iter(struct.unpack("<40H", shake_128(text.encode()).digest(80)))


def _numbers(texts: Texts) -> dict[str, int]:
    words, game, set_ = _words("\n".join(texts)), _words(texts.game), _words(texts.set)
    rarity = _words(re.sub("[^a-z]", "", texts.rarity.lower()))  # however it is spelt

    def pick(low: int, many: int, source: Iterator[int] = words) -> int:
        """Return a number from `low` to `low + many - 1`. Each call takes the next word of its source."""
        return low + next(source) % many

    game_hue, set_hue = pick(0, 360, game), pick(0, 360, set_)
    found = {"gameHue": game_hue, "innerLight": pick(70, 22, game)}
    found |= {"setHue": set_hue, "stripLight": pick(68, 20, set_)}
    found |= {"frameHue": pick(0, 360, rarity), "frameLight": pick(30, 40, rarity)}

    hue, turn, top, low = (set_hue + pick(0, 60)) % 360, pick(0, 26), pick(24, 62), pick(24, 62)
    for band in range(5):
        found[f"skyHue{band}"] = (hue + band * turn) % 360
        found[f"skyLight{band}"] = top * (4 - band) + low * band >> 2
    found |= {"sunX": pick(36, 180), "sunY": pick(54, 66), "sunR": pick(10, 24)}
    found |= {"sunHue": (hue + 150 + pick(0, 60)) % 360, "sunLight": 22 if top > 54 else 92}

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
    found |= {"earWide": ear_wide, "earTall": ear_tall, "tailX": x - wide if lean > 15 else x + wide, "tailR": tail}
    found |= {"tailY": y + (tall >> 1), "furHue": (game_hue + 60 + pick(0, 240)) % 360, "furLight": light}
    found |= {"earLight": light - 10, "bellyLight": light + 18, "eyeTall": pick(4, 4), "mouthWide": pick(2, 6)}
    found |= {"eyeLeft": head_x - (head >> 1), "eyeRight": head_x + (head >> 1), "mouthY": head_y + (head * 5 >> 3)}
    return found | {f"line{at}": pick(60, 130) for at in range(5)}


def painted(drawing: str) -> NDArray[np.uint8]:
    """Return a drawing in a quarter of its size, without its texts: they are small, and fonts differ."""
    document = fromstring(drawing)
    width, height = _integers(document, "width", "height")
    x, y = np.arange(2, width, 4), np.arange(2, height, 4)
    picture = np.full((len(y), len(x), 1), 0xFFFFFF, "<u4")
    _paint(document, picture[..., 0], x, y)
    return np.ascontiguousarray(picture.view(np.uint8)[..., :3])


def _paint(document: Element, picture: NDArray[np.uint32], x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
    """Paint rectangles, ellipses and inner documents on the pixels whose middles are at `x` and `y`."""
    for shape in document:
        kind = shape.tag.rpartition("}")[2]
        if kind == "text":
            continue
        if kind == "ellipse":
            middle, level, rx, ry = _integers(shape, "cx", "cy", "rx", "ry")
            left, top, width, height = middle - rx, level - ry, 2 * rx, 2 * ry
        else:
            left, top, width, height = _integers(shape, "x", "y", "width", "height")
        columns = slice(bisect(x, left), bisect(x, left + width))
        rows = slice(bisect(y, top), bisect(y, top + height))
        box, across, down = picture[rows, columns], x[columns], y[rows]
        if kind == "svg":
            _paint(shape, box, across, down)
            continue
        inside: Any = ...
        if kind == "ellipse":
            inside = ((across - middle) * ry) ** 2 + ((down[:, None] - level) * rx) ** 2 < (rx * ry) ** 2
        hue, saturation, light = map(int, re.findall("[0-9]+", shape.attrib["fill"]))  # hsl(210,18%,13%)
        red, green, blue = [round(255 * part) for part in hls_to_rgb(hue / 360, light / 100, saturation / 100)]
        box[inside] = red | green << 8 | blue << 16


def _integers(shape: Element, *names: str) -> list[int]:
    return [int(shape.get(name, 0)) for name in names]
