"""The fingerprints of drawings of singles, for many drawings at once.

The shapes of `single.svg` are sampled at points. Text is left out: it is small, and fonts differ between machines.
So a fingerprint is that of the picture in a browser up to a few bits, like that of a good photo.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from generator.drawings.design import Numbers, template
from generator.fingerprints.recipe import COLOURS, LOW, SIDE

WIDTH, HEIGHT = 252, 352
_ART = (20, 39, 232, 176)  # left, top, right, bottom: the recipe's art box of such a picture
_SAMPLES_PER_SIDE = 64  # samples each way
_CARDS_AT_ONCE = 64
_HSL = re.compile(r"hsl\((.+),(.+)%,(.+)%\)")
_NAMESPACE = "{http://www.w3.org/2000/svg}"

Values = NDArray[np.float32]
Flags = NDArray[np.bool_]
Box = tuple[int, int, int, int]
_ZERO: Values = np.zeros((1, 1, 1), np.float32)


class Hashes(NamedTuple):
    """Fingerprints in columns: three hashes of 64 bits, and (cards, 48) bytes of colours."""

    art_p: NDArray[np.uint64]
    art_d: NDArray[np.uint64]
    card_p: NDArray[np.uint64]
    colour: NDArray[np.uint8]


def fingerprints(numbers: Mapping[str, Numbers]) -> Hashes:
    """Return the fingerprints of drawings of singles.

    Args:
        numbers: The numbers of their design, by name.
    """
    count = len(numbers["sunX"])
    parts = [_some({name: column[at : at + _CARDS_AT_ONCE] for name, column in numbers.items()})
             for at in range(0, max(count, 1), _CARDS_AT_ONCE)]  # fmt: skip
    return Hashes(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _some(numbers: Mapping[str, Numbers]) -> Hashes:
    art, card = sampled(numbers, _ART), sampled(numbers, (0, 0, WIDTH, HEIGHT))
    return Hashes(
        art_p=_perceptual(_grey(_average(art, SIDE, SIDE))),
        art_d=_difference(_grey(_average(art, LOW + 1, LOW))),
        card_p=_perceptual(_grey(_average(card, SIDE, SIDE))),
        colour=_average(art, COLOURS, COLOURS).astype(np.uint8).reshape(-1, COLOURS * COLOURS * 3),
    )


def sampled(numbers: Mapping[str, Numbers], box: Box, points: int = _SAMPLES_PER_SIDE) -> Values:
    """Return drawings as (cards, points, points, 3) samples of a part of the picture, RGB from 0 to 255."""
    left, top, right, bottom = box
    middles = (np.arange(points, dtype=np.float32) + np.float32(0.5)) / np.float32(points)
    x, y = (left + middles * (right - left))[None, None, :], (top + middles * (bottom - top))[None, :, None]
    count = len(numbers["sunX"])
    top_shape = np.zeros((count, points, points), np.uint8)  # which shape is painted last at a point; 0 for none
    for number, (shape, attributes, clip) in enumerate(_shapes(), 1):
        values = {name: _value(text, numbers) for name, text in attributes.items() if name != "fill"}
        columns, rows = (x > clip[0]) & (x < clip[2]), (y > clip[1]) & (y < clip[3])
        np.copyto(top_shape, number, where=_inside(shape, values, x, y, columns, rows))
    colours = [np.full((1, 3), 255, np.float32), *(_colour(shape[1]["fill"], numbers) for shape in _shapes())]
    palette = np.stack([np.broadcast_to(colour, (count, 3)) for colour in colours], axis=1)
    pictures: Values = palette[np.arange(count)[:, None, None], top_shape]
    return pictures


@cache
def _shapes() -> list[tuple[str, dict[str, str], Box]]:
    """Return the rectangles and ellipses of the template in the order of painting, each with the box that clips it."""
    return list(_shapes_below(ElementTree.fromstring(template("single")), (0, 0, WIDTH, HEIGHT)))


def _shapes_below(parent: ElementTree.Element, clip: Box) -> Iterator[tuple[str, dict[str, str], Box]]:
    for element in parent:
        shape = element.tag.removeprefix(_NAMESPACE)
        if shape == "svg":
            yield from _shapes_below(element, _ART)
        elif shape in ("rect", "ellipse"):
            yield shape, dict(element.attrib), clip


def _value(text: str, numbers: Mapping[str, Numbers]) -> Values:
    """Return an attribute as (cards, 1, 1), or (1, 1, 1) if it is the same for all."""
    column = numbers[text[1:-1]] if text.startswith("{") else np.array([float(text)])
    return column.astype(np.float32)[:, None, None]


def _inside(shape: str, values: Mapping[str, Values], x: Values, y: Values, columns: Flags, rows: Flags) -> Flags:
    """Return which points a shape covers: (cards or 1, points, points).

    Args:
        columns, rows: Which columns and rows of points its clip allows.
    """
    if shape == "ellipse":
        across, down = (x - values["cx"]) / values["rx"], (y - values["cy"]) / values["ry"]
        across, down = np.where(columns, across * across, 2), np.where(rows, down * down, 2)
        return np.asarray(across + down < 1)
    left, top = values.get("x", _ZERO), values.get("y", _ZERO)
    columns = columns & (x > left) & (x < left + values["width"])
    rows = rows & (y > top) & (y < top + values["height"])
    return np.asarray(columns & rows)


def _colour(fill: str, numbers: Mapping[str, Numbers]) -> Values:
    """Return a colour as (cards, 3), or (1, 3) if it is the same for all."""
    if found := _HSL.fullmatch(fill):
        hue, saturation, light = (_value(text, numbers)[:, 0, 0] for text in found.groups())
        return _rgb(hue, saturation / np.float32(100), light / np.float32(100))
    digits = fill[1:] if len(fill) == 7 else "".join(2 * digit for digit in fill[1:])
    return np.frombuffer(bytes.fromhex(digits), np.uint8).astype(np.float32)[None, :]


def _rgb(hue: Values, saturation: Values, light: Values) -> Values:
    """Return colours of the CSS function hsl() as RGB."""
    place = (np.array([0, 8, 4], np.float32) + hue[:, None] / 30) % 12
    reach = (saturation * np.minimum(light, 1 - light))[:, None]
    colour = light[:, None] - reach * np.clip(np.minimum(place - 3, 9 - place), -1, 1)
    rounded: Values = np.floor(255 * colour + 0.5).astype(np.float32)
    return rounded


def _average(pictures: Values, columns: int, rows: int) -> Values:
    """Return the means of equal cells, rounded: (cards, rows, columns, 3)."""
    bands = _shares(rows) @ pictures.reshape(len(pictures), _SAMPLES_PER_SIDE, _SAMPLES_PER_SIDE * 3)
    sums = _shares(columns) @ bands.reshape(len(pictures), rows, _SAMPLES_PER_SIDE, 3)
    rounded: Values = (2 * sums + _SAMPLES_PER_SIDE**2) // (2 * _SAMPLES_PER_SIDE**2)
    return rounded


@cache
def _shares(cells: int) -> Values:
    """Return which part of each sample lies in each cell, times `cells`: (cells, samples).

    These are whole numbers, and sums of pixels stay below 2**24. So every processor gives the same means.
    """
    edges = np.arange(cells + 1) * _SAMPLES_PER_SIDE / cells
    samples = np.arange(_SAMPLES_PER_SIDE)
    overlap = np.minimum(samples + 1, edges[1:, None]) - np.maximum(samples, edges[:-1, None])
    shares: Values = np.rint(np.clip(overlap, 0, 1) * cells).astype(np.float32)
    return shares


def _grey(cells: Values) -> NDArray[np.int64]:
    whole = cells.astype(np.int64)
    grey: NDArray[np.int64] = (whole @ np.array([19595, 38470, 7471]) + 32768) >> 16
    return grey


def _perceptual(squares: NDArray[np.int64]) -> NDArray[np.uint64]:
    order, place = np.arange(LOW)[:, None], np.arange(SIDE)[None, :]
    cosines = 2 * np.cos(np.pi * order * (2 * place + 1) / (2 * SIDE))
    frequencies = np.floor(cosines @ squares @ cosines.T * 1024 + 0.5).reshape(len(squares), LOW * LOW)
    return _packed(frequencies > np.median(frequencies, axis=1, keepdims=True))


def _difference(cells: NDArray[np.int64]) -> NDArray[np.uint64]:
    return _packed((cells[:, :, 1:] > cells[:, :, :-1]).reshape(len(cells), LOW * LOW))


def _packed(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    return np.packbits(bits, axis=1).view(">u8")[:, 0].astype(np.uint64)
