"""Views of a photo: the photo itself, and slightly shifted and turned copies."""

import math

import numpy as np

from recognition.recipe import Pixels, average

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
