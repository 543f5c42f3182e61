"""The views of one photo that are compared: as it is, and as if it had been cut or held a little differently."""

import math

import numpy as np

from recognition.recipe import Pixels, average

_WIDTH, _HEIGHT = 378, 528  # larger photos are reduced to this for all but the first view
_SHIFT = 0.02  # of the width and of the height
_TURN = 2.0  # degrees
# right, down: parts of the width and the height; degrees
_MOVES = ((_SHIFT, 0, 0), (-_SHIFT, 0, 0), (0, _SHIFT, 0), (0, -_SHIFT, 0), (0, 0, _TURN), (0, 0, -_TURN))


def views(photo: Pixels) -> list[Pixels]:
    """The photo itself, then shifted by 2 % in four directions, then turned by 2 degrees either way.

    What lies beyond the edge is the edge's colour. Where photos are cut and held badly this finds more of them,
    at the price of more work (docs/fingerprint.md has the measurement).
    """
    height, width = photo.shape[:2]
    small = photo
    if width > _WIDTH or height > _HEIGHT:
        small = average(photo, min(width, _WIDTH), min(height, _HEIGHT))
    return [photo, *(_moved(small, *move) for move in _MOVES)]


def _moved(photo: Pixels, right: float, down: float, degrees: float) -> Pixels:
    height, width = photo.shape[:2]
    y, x = np.ogrid[:height, :width]
    y, x = y - (height - 1) / 2, x - (width - 1) / 2
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    across = np.rint(cos * x - sin * y + (width - 1) / 2 + right * width).astype(np.intp)
    along = np.rint(sin * x + cos * y + (height - 1) / 2 + down * height).astype(np.intp)
    return photo[along.clip(0, height - 1), across.clip(0, width - 1)]
