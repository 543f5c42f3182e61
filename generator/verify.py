"""Re-reading a build: every file and every object of it against the hashes that were recorded.

`visible_damage` is what a listing shows, for those who are about to reuse a layer; `damage` reads everything.
"""

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from edge_auth.contract.builds import Build, Layer
from edge_auth.contract.codec import decompress, sha256
from edge_auth.contract.index import INDEX_NAME, LayerFile
from edge_auth.errors import StoreError
from generator.errors import BuildError
from generator.progress import Progress


@dataclass(frozen=True)
class Verified:
    """How much was read and found good."""

    objects: int
    bytes: int


def verify(build: Build, progress: Progress, only: Collection[str] | None = None) -> Verified:
    """Read every pack, file and object of a build and compare it with what was recorded.

    Args:
        only: names of the layers to read; None for all.

    Raises:
        BuildError: something is missing or differs; the message names the first such object, and how many there are.
    """
    broken: list[str] = []
    objects = size = 0
    layers = [layer for name, layer in build.layers.items() if only is None or name in only]
    with progress.bar("verify", len(layers)) as bar:
        for layer in layers:
            try:
                index = layer.index
            except StoreError as error:
                broken.append(str(error))
            else:
                broken += _broken_files(layer)
                broken += _broken_objects(layer)
                objects += len(index)
                size += sum(file.size for file in (*index.packs, *index.files))
            bar.update(1)
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise BuildError(
            f"build {build.id} is damaged: {broken[0]}{more}; "
            f"`cardpress build --as-of {build.as_of} --repair` from the same lake makes damaged layers anew"
        )
    return Verified(objects, size)


def visible_damage(layer: Layer) -> str | None:
    """What is wrong with a layer by a listing of its folder: no index, a pack missing or of another size."""
    sizes = {entry.name: entry.size for entry in layer.store.entries(layer.folder)}
    if layer.folder + INDEX_NAME not in sizes:
        return f"{layer.folder} has no index"
    try:
        named = (*layer.index.packs, *layer.index.files)
    except StoreError as error:
        return str(error)
    for file in named:
        size = sizes.get(layer.folder + file.name)
        if size != file.size:
            found = "is missing" if size is None else f"has {size} bytes, not {file.size}"
            return f"{layer.folder}{file.name} {found}"
    return None


def damage(layer: Layer) -> str | None:
    """What is wrong with a layer, after reading every file and object of it; the first such thing."""
    return visible_damage(layer) or next(chain(_broken_files(layer), _broken_objects(layer)), None)


def checked_file(layer: Layer, stem: str) -> Path:
    """Path of a file of a layer that another layer is made from, after comparing it with its hash.

    Raises:
        BuildError: it is not what was written.
        StoreError: the layer has no such file.
    """
    path = layer.file(stem)
    for file in layer.index.files:
        problem = file_problem(layer, file) if file.name.startswith(f"{stem}-") else None
        if problem:
            raise BuildError(f"{problem}: `cardpress build --repair` makes damaged layers anew")
    return path


def _broken_files(layer: Layer) -> Iterator[str]:
    for file in (*layer.index.packs, *layer.index.files):
        problem = file_problem(layer, file)
        if problem:
            yield problem


def file_problem(layer: Layer, file: LayerFile) -> str | None:
    """What is wrong with a pack or file of a layer, or None."""
    name = layer.folder + file.name
    try:
        data = layer.store.get(name)
    except StoreError as error:
        return str(error)
    if len(data) != file.size:
        return f"{name} has {len(data)} bytes, not {file.size}"
    return None if hashlib.sha256(data).hexdigest() == file.sha256 else f"{name} is not what was written"


def _broken_objects(layer: Layer) -> Iterator[str]:
    for position in range(len(layer.index)):
        entry = layer.index.entry(position)
        try:
            data = decompress(layer.stored(entry))
            good = len(data) == entry.json_size and sha256(data) == entry.json_sha256
        except (StoreError, OSError, EOFError, ValueError):
            good = False
        if not good:
            yield f"{layer.index.key(position)} in {layer.folder}{entry.pack} is not what was written"
