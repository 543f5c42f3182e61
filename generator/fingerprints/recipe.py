"""The recipe `cardpress-1`: computes the fingerprint of a card from its pixels, in whole numbers where possible.

docs/fingerprint.md specifies the recipe for clients in other languages, docs/decisions/recognition.md gives the
reasons. A change of any bit of a fingerprint needs a new `VERSION`.
"""

from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

VERSION = "cardpress-1"
LEFT, TOP, RIGHT, BOTTOM = 8, 11, 92, 50  # the art box, in percent of the card's width and height
SIDE = 32  # cells of the square of perceptual hashes, each way
LOW = 8  # how many of its frequencies they use, each way
COLOURS = 4  # cells of the colour grid, each way
MIN_SIDE_PIXELS, MAX_SIDE_PIXELS = 32, 65_535

Pixels = NDArray[np.uint8]


class Fingerprint(NamedTuple):
    """The fingerprint of a picture: three 64-bit hashes, and 48 bytes, the 4 × 4 grid of RGB by rows."""

    art_p: int
    art_d: int
    card_p: int
    colour: bytes

    def texts(self) -> dict[str, str]:
        """Return the fields as lower-case hex, zero padded to 16 and 96 digits."""
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
    """Return the rows and columns of the artwork. Its edges are rounded to whole pixels, half up."""
    height, width = card.shape[:2]
    return (
        slice((height * TOP + 50) // 100, (height * BOTTOM + 50) // 100),
        slice((width * LEFT + 50) // 100, (width * RIGHT + 50) // 100),
    )


def average(picture: Pixels, columns: int, rows: int) -> Pixels:
    """Divide a picture into equal cells and return the mean of each, rounded half up: (rows, columns, 3), 8 bits.

    A pixel on a border counts by the part of its area that lies in the cell.
    """
    bands = _sums(picture, rows)
    cells = _sums(bands.swapaxes(0, 1), columns).swapaxes(0, 1)
    total = picture.shape[0] * picture.shape[1]
    means: Pixels = ((2 * cells + total) // (2 * total)).astype(np.uint8)
    return means


def _sums(values: NDArray[np.integer[Any]], cells: int) -> NDArray[np.int64]:
    """Return sums over equal cells of the first axis, times `cells` so that parts of a value are whole numbers."""
    length = len(values)
    # For each border: how many whole values lie before it, and which part of the next.
    whole, part = np.divmod(np.arange(cells + 1) * length, cells)
    between = np.stack([values[first:last].sum(0, np.int64) for first, last in pairwise(whole)])
    cut = part[:, None, None] * values[np.minimum(whole, length - 1)].astype(np.int64)
    sums: NDArray[np.int64] = cells * between + cut[1:] - cut[:-1]
    return sums


def grey(picture: Pixels) -> Pixels:
    """Return the brightness by ITU-R 601 in 16-bit whole numbers, like Pillow and ImageHash."""
    red, green, blue = np.moveaxis(picture.astype(np.uint32), -1, 0)
    brightness: Pixels = ((red * 19595 + green * 38470 + blue * 7471 + 32768) >> 16).astype(np.uint8)
    return brightness


def perceptual_hash(square: Pixels) -> int:
    """Return ImageHash's `phash` of a (32, 32) grey square: which of the 64 lowest frequencies exceed their median.

    Unlike ImageHash, frequencies are rounded to 1/1024 first. The frequencies of a symmetric picture are 0, but
    floating point gives noise of either sign, which would decide bits.
    """
    cosines = _cosines()
    frequencies = np.floor(cosines @ square.astype(np.float64) @ cosines.T * 1024 + 0.5)
    return _number(frequencies > np.median(frequencies))


@cache
def _cosines() -> NDArray[np.float64]:
    """Return the lowest rows of the DCT-II of 32 values, scaled like scipy's (twice the sum)."""
    order, place = np.arange(LOW)[:, None], np.arange(SIDE)[None, :]
    cosines: NDArray[np.float64] = 2 * np.cos(np.pi * order * (2 * place + 1) / (2 * SIDE))
    return cosines


def difference_hash(cells: Pixels) -> int:
    """Return ImageHash's `dhash` of (8, 9) grey cells: whether each is brighter than its left neighbour."""
    return _number(cells[:, 1:] > cells[:, :-1])


def _number(bits: NDArray[np.bool_]) -> int:
    """Return 64 bits as a number, by rows, the first bit the most significant."""
    return int.from_bytes(np.packbits(bits).tobytes())
