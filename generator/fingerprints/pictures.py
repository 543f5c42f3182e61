"""Reads image files as the pixels that the recipe needs. Only this module uses Pillow.

Pillow is in the extra `fingerprint`. The rest of the product runs without it, so it is imported when needed.
"""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from generator.errors import RecognitionError
from generator.fingerprints.recipe import MAX_SIDE_PIXELS, MIN_SIDE_PIXELS, Pixels

if TYPE_CHECKING:
    from PIL.Image import Image

# Pillow's names of the formats that are read. Other decoders of Pillow start programs (EPS) or are rarely used.
_FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
SUFFIXES = frozenset({".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})
_MODES_WITH_ALPHA = ("RGBA", "LA", "La", "PA", "RGBa")
_MODES_OVER_8_BITS = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")


class ImageLimits(NamedTuple):
    """How large an image may be. A small file may hold many pixels, and a pixel takes up to 50 bytes of memory."""

    file_bytes: int = 32 << 20
    pixels: int = 25_000_000


DEFAULT_LIMITS = ImageLimits()


def require_pillow() -> None:
    """Raise RecognitionError if Pillow is not installed."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        message = "fingerprints need Pillow, which is not installed: pip install 'pillow>=12.1'"
        raise RecognitionError(message) from error


def open_picture(path: Path, limits: ImageLimits = DEFAULT_LIMITS) -> Pixels:
    """Return the first frame of an image file as (height, width, 3) RGB, 8 bits, upright and on white."""
    require_pillow()
    from PIL import Image, ImageOps

    try:
        if (size := path.stat().st_size) > limits.file_bytes:
            most = f"{limits.file_bytes / 1e6:,.0f}: --max-image-mb"
            raise RecognitionError(f"{path}: {size / 1e6:,.0f} MB, more than {most}")
        Image.init()
        formats = [name for name in _FORMATS if name in Image.OPEN]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of unusual files that it can read
            with Image.open(path, formats=formats) as image:
                _check_size(path, image.size, limits)
                return _on_white(ImageOps.exif_transpose(image))
    except RecognitionError:
        raise
    except Exception as error:  # decoders raise errors of many types on broken files
        raise RecognitionError(f"{path}: cannot be read as an image: {_reason(error)}") from error


def _check_size(path: Path, size: tuple[int, int], limits: ImageLimits) -> None:
    measured = f"{path}: {size[0]} × {size[1]} pixels"
    if min(size) < MIN_SIDE_PIXELS or max(size) > MAX_SIDE_PIXELS:
        raise RecognitionError(f"{measured}, but a side must have {MIN_SIDE_PIXELS} to {MAX_SIDE_PIXELS:,}")
    if size[0] * size[1] > limits.pixels:
        raise RecognitionError(f"{measured}, more than {limits.pixels / 1e6:g} megapixels: --max-megapixels")


def _on_white(image: "Image") -> Pixels:
    """Return RGB with transparent parts laid on white, each channel rounded half up."""
    if image.mode in _MODES_OVER_8_BITS:
        raise ValueError("more than 8 bits a channel; save it with 8")
    if image.mode not in _MODES_WITH_ALPHA and "transparency" not in image.info:
        return np.asarray(image.convert("RGB"))
    pixels = np.asarray(image.convert("RGBA")).astype(np.uint32)
    colour, alpha = pixels[..., :3], pixels[..., 3:]
    return ((colour * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    name = type(error).__name__
    return "no known format" if name == "UnidentifiedImageError" else str(error) or name
