"""From an image file to the pixels that the recipe reads: the only module that knows Pillow.

Pillow is the extra `fingerprint`: all else runs without it, so it is imported when the first picture is opened.
"""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recognition.errors import RecognitionError
from recognition.recipe import LARGEST, SMALLEST, Pixels

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = frozenset({".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})
_WITH_ALPHA = ("RGBA", "LA", "La", "PA", "RGBa")
_DEEP = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")


def need_pillow() -> None:
    """Raise RecognitionError where Pillow is not installed."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        message = "fingerprints need Pillow, which is not installed: pip install 'cardpress[fingerprint]'"
        raise RecognitionError(message) from error


def open_picture(path: Path) -> Pixels:
    """The pixels of an image file as (height, width, 3) RGB, 8 bits: upright, on white, its first frame.

    Raises:
        RecognitionError: no image that Pillow reads, a broken one, one too small or too large, or no Pillow.
    """
    need_pillow()
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings(), Image.open(path) as image:
            warnings.simplefilter("ignore")  # about files that are odd but readable
            _check_size(path, image.size)
            return _on_white(ImageOps.exif_transpose(image))
    except RecognitionError:
        raise
    except Exception as error:  # on broken files decoders raise whatever comes up in them
        raise RecognitionError(f"{path}: cannot be read as an image: {_reason(error)}") from error


def _check_size(path: Path, size: tuple[int, int]) -> None:
    if min(size) < SMALLEST or max(size) > LARGEST:
        measured = f"{size[0]} × {size[1]} pixels"
        raise RecognitionError(f"{path}: {measured}, where a side must have {SMALLEST} to {LARGEST:,}")


def _on_white(image: "Image") -> Pixels:
    """RGB; what is transparent shows white behind it, each channel rounded half up."""
    if image.mode in _DEEP:
        raise ValueError("more than 8 bits a channel; save it with 8")
    if image.mode not in _WITH_ALPHA and "transparency" not in image.info:
        return np.asarray(image.convert("RGB"))
    pixels = np.asarray(image.convert("RGBA")).astype(np.uint32)
    colour, alpha = pixels[..., :3], pixels[..., 3:]
    return ((colour * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    name = type(error).__name__
    return "no known format" if name == "UnidentifiedImageError" else str(error) or name
