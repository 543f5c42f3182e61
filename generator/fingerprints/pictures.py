"""Reads image files as the pixels that the recipe needs, and computes the fingerprints of many in several processes.

Only this module uses Pillow, which is in the extra `fingerprint`. The rest of the product runs without it, so it is
imported when needed.
"""

import multiprocessing
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from generator.errors import RecognitionError
from generator.fingerprints.recipe import MAX_SIDE_PIXELS, MIN_SIDE_PIXELS, Fingerprint, Pixels, fingerprint

if TYPE_CHECKING:
    from PIL.Image import Image

# Pillow's names of the formats that are read. Other decoders of Pillow start programs (EPS) or are rarely used.
_FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
SUFFIXES = frozenset({".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})
_MODES_WITH_ALPHA = ("RGBA", "LA", "La", "PA", "RGBa")
_MODES_OVER_8_BITS = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")
_MAX_IN_ONE_PROCESS = 64  # so few images take less time than starting processes
_IMAGES_PER_CHUNK = 16
_NOT_IN_A_KEY = re.compile(r"[^A-Za-z0-9._~!$'()*+,;=:@&-]")  # a key needs no escapes in a URL


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


def find_images(paths: Iterable[Path]) -> dict[str, Path]:
    """Return image files by key, the name without the suffix. In folders, files with a known suffix count."""
    images: dict[str, Path] = {}
    for path in (file for root in paths for file in _files(root)):
        if _NOT_IN_A_KEY.search(path.stem):
            raise RecognitionError(
                f"{path}: its name becomes a key in URLs: letters, digits and -._~!$'()*+,;=:@& only"
            )
        other = images.setdefault(path.stem, path)
        if other.resolve() != path.resolve():
            raise RecognitionError(f"{other} and {path} have the same key, {path.stem}: leave one out or rename it")
    if not images:
        raise RecognitionError("no images found; a folder is searched for " + ", ".join(sorted(SUFFIXES)))
    return dict(sorted(images.items()))


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for file in sorted(path.rglob("*")):
        if file.suffix.lower() in SUFFIXES and not file.name.startswith(".") and file.is_file():
            yield file


def collect(
    images: Mapping[str, Path], workers: int, step: Callable[[int], None], limits: ImageLimits = DEFAULT_LIMITS
) -> tuple[dict[str, Fingerprint], dict[str, str]]:
    """Compute the fingerprints of images, of many in several processes. `step` is called with 1 after each.

    Return the fingerprints by key, and by key the reason for each image that could not be read.
    """
    fingerprints, broken = dict[str, Fingerprint](), dict[str, str]()
    for key, result in zip(images, _results(list(images.values()), workers, partial(_result, limits)), strict=True):
        if isinstance(result, Fingerprint):
            fingerprints[key] = result
        else:
            broken[key] = result
        step(1)
    return fingerprints, broken


def _results(
    paths: list[Path], workers: int, result: Callable[[Path], Fingerprint | str]
) -> Iterator[Fingerprint | str]:
    if workers == 1 or len(paths) <= _MAX_IN_ONE_PROCESS:
        yield from map(result, paths)
        return
    # Spawned, not forked: a fork of a process that has threads, such as Arrow's, may hang.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
    try:
        yield from pool.map(result, paths, chunksize=_IMAGES_PER_CHUNK)
    except BrokenProcessPool as error:
        raise RecognitionError(
            "a worker process was killed, perhaps because memory ran out: try fewer --workers"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _result(limits: ImageLimits, path: Path) -> Fingerprint | str:
    """Return the fingerprint of a file, or the reason why it cannot be read."""
    try:
        return fingerprint(open_picture(path, limits))
    except RecognitionError as error:
        return str(error)
