"""The recipe `cardpress-1`: from the pixels of a card to its fingerprint, in whole numbers wherever it can be.

docs/fingerprint.md says the same in words, step by step, for those who write another client;
docs/decisions/fingerprint-recipe.md says why. Whatever changes a bit of a fingerprint needs a new `VERSION`.
"""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

VERSION = "cardpress-1"
LEFT, TOP, RIGHT, BOTTOM = 8, 11, 92, 50  # the art box, in percent of the card's width and height
SIDE = 32  # the square that perceptual hashes look at
LOW = 8  # how many of its frequencies they keep, each way
COLOURS = 4  # cells of the colour grid, each way
SMALLEST, LARGEST = 32, 65_535  # pixels a side

Pixels = NDArray[np.uint8]


class Fingerprint(NamedTuple):
    """What is kept of a picture: three 64-bit hashes, and 48 bytes, the 4 × 4 grid of RGB by rows."""

    art_p: int
    art_d: int
    card_p: int
    colour: bytes

    def texts(self) -> dict[str, str]:
        """The columns of the lake's table: lower-case hex, zero padded to 16 and 96 digits."""
        hashes = {name: f"{getattr(self, name):016x}" for name in ("art_p", "art_d", "card_p")}
        return hashes | {"colour": self.colour.hex()}


def fingerprint(card: Pixels) -> Fingerprint:
    """Fingerprint a card.

    Args:
        card: (height, width, 3) RGB, 8 bits, upright and cut to the card; a side from 32 to 65,535 pixels.
    """
    art = card[art_box(card)]
    return Fingerprint(
        art_p=perceptual_hash(grey(average(art, SIDE, SIDE))),
        art_d=difference_hash(grey(average(art, LOW + 1, LOW))),
        card_p=perceptual_hash(grey(average(card, SIDE, SIDE))),
        colour=average(art, COLOURS, COLOURS).tobytes(),
    )


def art_box(card: Pixels) -> tuple[slice, slice]:
    """Rows and columns of the artwork: its edges rounded to whole pixels, half up."""
    height, width = card.shape[:2]
    return (
        slice((height * TOP + 50) // 100, (height * BOTTOM + 50) // 100),
        slice((width * LEFT + 50) // 100, (width * RIGHT + 50) // 100),
    )


def average(picture: Pixels, columns: int, rows: int) -> Pixels:
    """Divide a picture into equal cells; the mean of each, over parts of pixels too, rounded half up.

    Returns:
        (rows, columns, 3), 8 bits.
    """
    bands = _sums(picture, rows)
    cells = _sums(bands.swapaxes(0, 1), columns).swapaxes(0, 1)
    total = picture.shape[0] * picture.shape[1]
    return ((2 * cells + total) // (2 * total)).astype(np.uint8)


def _sums(values: NDArray, cells: int) -> NDArray[np.int64]:
    """Sums over equal cells of the first axis, `cells` times over so that parts of a value stay whole numbers."""
    length = len(values)
    whole, part = np.divmod(np.arange(cells + 1) * length, cells)  # a border: so many values, and so much of the next
    between = np.stack([values[first:last].sum(0, np.int64) for first, last in pairwise(whole)])
    cut = part[:, None, None] * values[np.minimum(whole, length - 1)].astype(np.int64)
    return cells * between + cut[1:] - cut[:-1]


def grey(picture: Pixels) -> Pixels:
    """Brightness by ITU-R 601 in 16-bit whole numbers, as Pillow and ImageHash have it."""
    red, green, blue = np.moveaxis(picture.astype(np.uint32), -1, 0)
    return ((red * 19595 + green * 38470 + blue * 7471 + 32768) >> 16).astype(np.uint8)


def perceptual_hash(square: Pixels) -> int:
    """ImageHash's `phash` of a (32, 32) grey square: which of the 64 lowest frequencies exceed their median.

    The one step more is that frequencies are rounded to 1/1024 first. Those of a symmetric picture are 0 and
    come out of any computation as noise of either sign, which would decide about bits.
    """
    cosines = _cosines()
    frequencies = np.floor(cosines @ square.astype(np.float64) @ cosines.T * 1024 + 0.5)
    return _number(frequencies > np.median(frequencies))


@cache
def _cosines() -> NDArray[np.float64]:
    """The lowest rows of the DCT-II of 32 values, in the scale of scipy's (twice the sum)."""
    order, place = np.arange(LOW)[:, None], np.arange(SIDE)[None, :]
    return 2 * np.cos(np.pi * order * (2 * place + 1) / (2 * SIDE))


def difference_hash(cells: Pixels) -> int:
    """ImageHash's `dhash` of (8, 9) grey cells: whether each is brighter than the one to its left."""
    return _number(cells[:, 1:] > cells[:, :-1])


def _number(bits: NDArray[np.bool_]) -> int:
    """64 bits by rows, the first the most significant."""
    return int.from_bytes(np.packbits(bits).tobytes())
