"""The entries nearest to a photo, by the distance that docs/fingerprint.md defines.

distance = differing bits of art_p + of art_d + of card_p + colour / 2, where colour is the mean difference of the
48 values after each channel was moved to the same mean. 0 for equal pictures, around 100 for two unrelated ones.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recognition.recipe import Fingerprint, Pixels, fingerprint
from recognition.references import References, arrays
from recognition.views import views

_COLOUR_UNIT = 16 * 48  # of the sum over 48 differences, each × 16
_COLOUR_WEIGHT = 0.5


class Match(NamedTuple):
    """An entry and how far it is from the photo: from the nearest of its views."""

    key: str
    distance: float
    products: Sequence[int]
    image: str


def match(photo: Pixels, references: References, top: int) -> list[Match]:
    """The nearest entries, nearest first; at the same distance by key.

    Args:
        photo: (height, width, 3) RGB, 8 bits, upright and cut to the card as well as may be.
    """
    return nearest([fingerprint(view) for view in views(photo)], references, top)


def nearest(fingerprints: Sequence[Fingerprint], references: References, top: int) -> list[Match]:
    """The entries nearest to any of several fingerprints of one photo."""
    far = distances(fingerprints, references).min(0)
    places = np.argsort(far, kind="stable")[:top]  # stable: entries are sorted by key
    return [
        Match(
            references.keys[place],
            float(far[place]),
            references.products[place],
            references.image_url.replace("{key}", references.keys[place]),
        )
        for place in places
    ]


def distances(fingerprints: Sequence[Fingerprint], references: References) -> NDArray[np.float64]:
    """From each of n fingerprints to each of the entries: (n, entries)."""
    hashes, colours = arrays(fingerprints)
    return np.stack([_distances(*one, references) for one in zip(hashes.T, colours, strict=True)])


def _distances(hashes: NDArray[np.uint64], colour: NDArray[np.int16], references: References) -> NDArray[np.float64]:
    bits = np.bitwise_count(references.hashes ^ hashes[:, None]).sum(0, dtype=np.int64)
    colours = np.abs(references.colours - colour).sum(1, dtype=np.int64)
    return bits + colours / _COLOUR_UNIT * _COLOUR_WEIGHT
