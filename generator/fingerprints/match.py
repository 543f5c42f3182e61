"""Finds the entries nearest to a photo, by the distance that docs/fingerprint.md defines.

distance = differing bits of art_p, art_d and card_p + colour / 2. Colour is the mean difference of the 48 values after
each channel was shifted to the same mean. Equal pictures have distance 0, unrelated ones about 100.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.fingerprints.recipe import Fingerprint, Pixels, average, fingerprint
from generator.fingerprints.references import References, arrays

_MAX_WIDTH, _MAX_HEIGHT = 378, 528  # pixels of all views but the first
_SHIFT = 0.02  # part of the width or height
_TURN_DEGREES = 2.0
# shift to the right (part of the width), shift down (part of the height), degrees
_MOVES = (
    (_SHIFT, 0, 0),
    (-_SHIFT, 0, 0),
    (0, _SHIFT, 0),
    (0, -_SHIFT, 0),
    (0, 0, _TURN_DEGREES),
    (0, 0, -_TURN_DEGREES),
)


def views(photo: Pixels) -> list[Pixels]:
    """Return the photo, four copies shifted by 2 %, and two turned by 2 degrees.

    Pixels beyond the edge have the colour of the edge. With several views more badly cut or turned photos are found,
    but matching takes longer (docs/fingerprint.md has the measurement).
    """
    height, width = photo.shape[:2]
    small = photo
    if width > _MAX_WIDTH or height > _MAX_HEIGHT:
        small = average(photo, min(width, _MAX_WIDTH), min(height, _MAX_HEIGHT))
    return [photo, *(_moved(small, *move) for move in _MOVES)]


def _moved(photo: Pixels, right: float, down: float, degrees: float) -> Pixels:
    height, width = photo.shape[:2]
    y, x = np.ogrid[:height, :width]
    y, x = y - (height - 1) / 2, x - (width - 1) / 2
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    across = np.rint(cos * x - sin * y + (width - 1) / 2 + right * width).astype(np.intp)
    along = np.rint(sin * x + cos * y + (height - 1) / 2 + down * height).astype(np.intp)
    moved: Pixels = photo[along.clip(0, height - 1), across.clip(0, width - 1)]
    return moved


_COLOUR_UNIT = 16 * 48  # divides the sum over 48 differences, each × 16, into their mean
_COLOUR_WEIGHT = 0.5


class Match(NamedTuple):
    """An entry, and its distance from the nearest view of the photo."""

    key: str
    distance: float
    products: Sequence[int]
    image: str


def match_photo(photo: Pixels, references: References, top: int) -> list[Match]:
    """Return the `top` nearest entries, nearest first. Entries at the same distance are sorted by key.

    Args:
        photo: (height, width, 3) RGB, 8 bits, upright and roughly cut to the card.
    """
    return nearest([fingerprint(view) for view in views(photo)], references, top)


def nearest(fingerprints: Sequence[Fingerprint], references: References, top: int) -> list[Match]:
    """Return the entries nearest to any of several fingerprints of one photo."""
    smallest = distances(fingerprints, references).min(0)
    places = np.argsort(smallest, kind="stable")[:top]  # stable: entries are sorted by key
    return [
        Match(
            references.keys[place],
            float(smallest[place]),
            references.products[place],
            references.image_url.replace("{key}", references.keys[place]),
        )
        for place in places
    ]


def distances(fingerprints: Sequence[Fingerprint], references: References) -> NDArray[np.float64]:
    """Return the distances from each of n fingerprints to each entry: (n, entries)."""
    hashes, colours = arrays(fingerprints)
    return np.stack([_distances(*pair, references) for pair in zip(hashes.T, colours, strict=True)])


def _distances(hashes: NDArray[np.uint64], colour: NDArray[np.int16], references: References) -> NDArray[np.float64]:
    bits = np.bitwise_count(references.hashes ^ hashes[:, None]).sum(0, dtype=np.int64)
    colours = np.abs(references.colours - colour).sum(1, dtype=np.int64)
    total: NDArray[np.float64] = bits + colours / _COLOUR_UNIT * _COLOUR_WEIGHT
    return total
