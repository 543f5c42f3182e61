"""Re-reading a build: every file and every object of it against the hashes that were recorded."""

import hashlib
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from edge_auth.contract.builds import Build, Layer
from edge_auth.contract.codec import decompress, sha256
from edge_auth.contract.index import INDEX_NAME, Entry
from edge_auth.errors import StoreError
from generator.errors import BuildError
from generator.packs import in_order
from generator.progress import Progress

THREADS = 4  # each holds a pack in memory


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
    tasks: list[tuple[Layer, int]] = []
    for layer in (layer for name, layer in build.layers.items() if only is None or name in only):
        try:
            broken += _broken_index(layer)
            objects += len(layer.index)
            size += sum(file.size for file in (*layer.index.packs, *layer.index.files))
            tasks += [(layer, number) for number in range(-len(layer.index.files), len(layer.index.packs))]
        except StoreError as error:
            broken.append(str(error))
    with ThreadPoolExecutor(THREADS) as pool, progress.bar("verify", len(tasks)) as bar:
        for found in in_order(pool, THREADS, lambda task: _broken(*task), tasks):
            broken += found
            bar.update(1)
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise BuildError(
            f"build {build.id} is damaged: {broken[0]}{more}; `cardpress build` makes what is missing anew"
        )
    return Verified(objects, size)


def _broken_index(layer: Layer) -> list[str]:
    """The index as it lies in the store, where what is mapped is a copy of it."""
    name = layer.folder + INDEX_NAME
    same = layer.store.get(name) == layer.local(INDEX_NAME).read_bytes()
    return [] if same else [f"{name} is not what was written"]


def _broken(layer: Layer, number: int) -> list[str]:
    """What is wrong with a pack of a layer and its objects, or, by a negative number, with a file."""
    file = layer.index.packs[number] if number >= 0 else layer.index.files[number]
    name = layer.folder + file.name
    try:
        data = layer.store.get(name)
    except StoreError as error:
        return [str(error)]
    broken = _broken_objects(layer, number, data) if number >= 0 else []
    if len(data) != file.size:
        return [f"{name} has {len(data)} bytes, not {file.size}", *broken]
    same = hashlib.sha256(data).hexdigest() == file.sha256
    return broken if same else [f"{name} is not what was written", *broken]


def _broken_objects(layer: Layer, number: int, pack: bytes) -> list[str]:
    entries = ((position, layer.index.entry(position)) for position in layer.index.in_pack(number).tolist())
    return [
        f"{layer.index.key(position)} in {layer.folder}{entry.pack} is not what was written"
        for position, entry in entries
        if not _is_good(entry, pack[entry.offset : entry.offset + entry.length])
    ]


def _is_good(entry: Entry, stored: bytes) -> bool:
    try:
        data = decompress(stored)
    except OSError:
        return False
    sizes = len(data) == entry.json_size
    return sizes and sha256(stored) == entry.stored_sha256 and sha256(data) == entry.json_sha256
