"""The fingerprints of drawings of singles, for many drawings at once.

The shapes of `single.svg` are sampled at points. Text is left out: it is small, and fonts differ between machines.
So a fingerprint is that of the picture in a browser up to a few bits, like that of a good photo.
"""

import re
from collections.abc import Mapping
from functools import cache
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from generator.drawings.design import Numbers, template
from generator.fingerprints.recipe import (
    COLOURS,
    LOW,
    SIDE,
    Fingerprint,
    Pixels,
    average,
    difference_hash,
    grey,
    perceptual_hash,
)

Box = tuple[int, int, int, int]  # left, top, right, bottom
_CARD: Box = (0, 0, 252, 352)
_ART: Box = (20, 39, 232, 176)  # the recipe's art box of such a picture
_POINTS = 64  # samples each way
_CARDS_AT_ONCE = 64
_HSL = re.compile(r"hsl\((.+),(.+)%,(.+)%\)")
_SVG = "{http://www.w3.org/2000/svg}"

Values = NDArray[np.float32]


def fingerprints(numbers: Mapping[str, Numbers]) -> list[Fingerprint]:
    """Return the fingerprints of drawings, from the numbers of their design."""
    starts = range(0, len(numbers["sunX"]), _CARDS_AT_ONCE)
    parts = ({name: column[at : at + _CARDS_AT_ONCE] for name, column in numbers.items()} for at in starts)
    return [found for part in parts for found in _some(part)]


def _some(numbers: Mapping[str, Numbers]) -> list[Fingerprint]:
    art, card = _sampled(numbers, _ART), _sampled(numbers, _CARD)
    art_p, art_d, card_p = (grey(_cells(picture, columns, rows)) for picture, columns, rows in
                            ((art, SIDE, SIDE), (art, LOW + 1, LOW), (card, SIDE, SIDE)))  # fmt: skip
    colour = _cells(art, COLOURS, COLOURS)
    return [
        Fingerprint(
            art_p=perceptual_hash(art_p[..., at]),
            art_d=difference_hash(art_d[..., at]),
            card_p=perceptual_hash(card_p[..., at]),
            colour=colour[..., at, :].tobytes(),
        )
        for at in range(colour.shape[2])
    ]


def _cells(pictures: Pixels, columns: int, rows: int) -> Pixels:
    """Return the means of equal cells: (rows, columns, cards, 3)."""
    return average(pictures.reshape(_POINTS, _POINTS, -1), columns, rows).reshape(rows, columns, -1, 3)


def _sampled(numbers: Mapping[str, Numbers], box: Box) -> Pixels:
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
def _shapes() -> list[tuple[ElementTree.Element, Box]]:
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
    if found := _HSL.fullmatch(fill):
        hue, saturation, light = (_value(text, numbers)[:, 0] for text in found.groups())
        return _rgb(hue, saturation / np.float32(100), light / np.float32(100))
    digits = fill[1:] if len(fill) == 7 else "".join(2 * digit for digit in fill[1:])
    return np.frombuffer(bytes.fromhex(digits), np.uint8).astype(np.float32)[None, :]


def _rgb(hue: Values, saturation: Values, light: Values) -> Values:
    place = (np.array([0, 8, 4], np.float32) + hue / 30) % 12
    colour = light - saturation * np.minimum(light, 1 - light) * np.clip(np.minimum(place - 3, 9 - place), -1, 1)
    return np.asarray(np.floor(255 * colour + 0.5), np.float32)
