"""Re-reading a build: every file and every object of it against the hashes that were recorded."""

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from edge_auth.contract.builds import Build, Layer
from edge_auth.contract.codec import decompress, sha256
from edge_auth.contract.index import LayerFile
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
            f"build {build.id} is damaged: {broken[0]}{more}; `cardpress build` makes what is missing anew"
        )
    return Verified(objects, size)


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
