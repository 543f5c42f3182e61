"""From image files to fingerprints by key: finds the files, shares the work among processes."""

import multiprocessing
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

from recognition.errors import RecognitionError
from recognition.pictures import SUFFIXES, need_pillow, open_picture
from recognition.recipe import Fingerprint, fingerprint

_FEW = 64  # images for which starting processes would take longer than the work
_CHUNK = 16
_NOT_IN_A_KEY = re.compile(r"[^A-Za-z0-9._~!$'()*+,;=:@&-]")  # so that {key} in a URL needs no escapes


class Collected(NamedTuple):
    """Fingerprints by key, and for each image that could not be read why."""

    fingerprints: dict[str, Fingerprint]
    broken: dict[str, str]


def find_images(paths: Iterable[Path]) -> dict[str, Path]:
    """Image files by key, the file's name without its suffix; sorted by key.

    Args:
        paths: files, whatever their suffix, and folders, searched all the way down for files with a known one.

    Raises:
        RecognitionError: two images of one key, a name that no URL can hold as it is, or no image at all.
    """
    found: dict[str, Path] = {}
    for path in (file for given in paths for file in _files(given)):
        if _NOT_IN_A_KEY.search(path.stem):
            raise RecognitionError(
                f"{path}: its name becomes a key in URLs: letters, digits and -._~!$'()*+,;=:@& only"
            )
        other = found.setdefault(path.stem, path)
        if other.resolve() != path.resolve():
            raise RecognitionError(f"{other} and {path} have the same key, {path.stem}: leave one out or rename it")
    if not found:
        raise RecognitionError("no images found; a folder is searched for " + ", ".join(sorted(SUFFIXES)))
    return dict(sorted(found.items()))


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for file in sorted(path.rglob("*")):
        if file.suffix.lower() in SUFFIXES and not file.name.startswith(".") and file.is_file():
            yield file


def collect(images: Mapping[str, Path], workers: int, step: Callable[[int], None]) -> Collected:
    """Fingerprint images.

    Args:
        workers: how many processes; few images are done in this one.
        step: called with 1 after each image.

    Raises:
        RecognitionError: no Pillow, or a process was killed.
    """
    need_pillow()
    collected = Collected({}, {})
    for key, result in zip(images, _results(list(images.values()), workers), strict=True):
        if isinstance(result, Fingerprint):
            collected.fingerprints[key] = result
        else:
            collected.broken[key] = result
        step(1)
    return collected


def _results(paths: list[Path], workers: int) -> Iterator[Fingerprint | str]:
    if workers == 1 or len(paths) <= _FEW:
        yield from map(_result, paths)
        return
    # spawned, not forked: a fork of a process with threads (Arrow's) may hang
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
    try:
        yield from pool.map(_result, paths, chunksize=_CHUNK)
    except BrokenProcessPool as error:
        raise RecognitionError(
            "a worker process was killed, perhaps for want of memory: try fewer --workers"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _result(path: Path) -> Fingerprint | str:
    """A fingerprint, or what is wrong with the file."""
    try:
        return fingerprint(open_picture(path))
    except RecognitionError as error:
        return str(error)
