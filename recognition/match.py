"""Finds the entries nearest to a photo, by the distance that docs/fingerprint.md defines.

distance = differing bits of art_p, art_d and card_p + colour / 2. Colour is the mean difference of the 48 values after
each channel was shifted to the same mean. Equal pictures have distance 0, unrelated ones about 100.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recognition.recipe import Fingerprint, Pixels, fingerprint
from recognition.references import References, arrays
from recognition.views import views

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
