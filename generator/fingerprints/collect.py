"""Finds image files and computes their fingerprints in several processes."""

import multiprocessing
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import NamedTuple

from generator.errors import RecognitionError
from generator.fingerprints.pictures import DEFAULT_LIMITS, SUFFIXES, ImageLimits, open_picture, require_pillow
from generator.fingerprints.recipe import Fingerprint, fingerprint

_MAX_IN_ONE_PROCESS = 64  # so few images take less time than starting processes
_IMAGES_PER_CHUNK = 16
_NOT_IN_A_KEY = re.compile(r"[^A-Za-z0-9._~!$'()*+,;=:@&-]")  # a key needs no escapes in a URL


class Collected(NamedTuple):
    """Fingerprints by key, and the reason for each image that could not be read, by key."""

    fingerprints: dict[str, Fingerprint]
    broken: dict[str, str]


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
) -> Collected:
    """Compute the fingerprints of images, of many in several processes. `step` is called with 1 after each."""
    require_pillow()
    collected = Collected({}, {})
    for key, result in zip(images, _results(list(images.values()), workers, partial(_result, limits)), strict=True):
        if isinstance(result, Fingerprint):
            collected.fingerprints[key] = result
        else:
            collected.broken[key] = result
        step(1)
    return collected


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
