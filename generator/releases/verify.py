"""Re-reading a build: every file and every object of it against the hashes that were recorded.

`visible_damage` is what a listing shows, for those who are about to reuse a layer; `damage` reads everything.
"""

import hashlib
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from edge_auth.contract.builds import Build
from edge_auth.contract.codec import decompress, sha256
from edge_auth.contract.index import INDEX_NAME, Entry, LayerFile
from edge_auth.contract.layers import Layer
from edge_auth.errors import StoreError
from generator.errors import BuildError
from generator.progress import Progress
from generator.threads import in_order

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
            tasks += [(layer, number) for number in _numbers(layer)]
        except StoreError as error:
            broken.append(str(error))
    with ThreadPoolExecutor(THREADS) as pool, progress.bar("verify", len(tasks)) as bar:
        for found in in_order(pool, THREADS, lambda task: _broken(*task), tasks):
            broken += found
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
    return visible_damage(layer) or next(_all_damage(layer), None)


def checked_file(layer: Layer, stem: str) -> Path:
    """Path of a file of a layer that another layer is made from, after comparing it with its hash.

    Raises:
        BuildError: it is not what was written.
        StoreError: the layer has no such file.
    """
    path = layer.file(stem)
    for file in layer.index.files:
        if file.name.startswith(f"{stem}-"):
            for problem in _problems(layer, file, path.read_bytes()):
                raise BuildError(f"{problem}: `cardpress build --repair` makes damaged layers anew")
    return path


def _all_damage(layer: Layer) -> Iterator[str]:
    try:
        yield from _broken_index(layer)
    except StoreError as error:
        yield str(error)
    for number in _numbers(layer):
        yield from _broken(layer, number)


def _broken_index(layer: Layer) -> list[str]:
    """The index as it lies in the store, where what is mapped is a copy of it."""
    name = layer.folder + INDEX_NAME
    same = layer.store.get(name) == layer.local(INDEX_NAME).read_bytes()
    return [] if same else [f"{name} is not what was written"]


def _numbers(layer: Layer) -> range:
    """Numbers of a layer's packs, and negative ones of its files."""
    return range(-len(layer.index.files), len(layer.index.packs))


def _broken(layer: Layer, number: int) -> list[str]:
    """What is wrong with a pack of a layer and its objects, or, by a negative number, with a file."""
    file = layer.index.packs[number] if number >= 0 else layer.index.files[number]
    try:
        data = layer.store.get(layer.folder + file.name)
    except StoreError as error:
        return [str(error)]
    return [*_problems(layer, file, data), *(_broken_objects(layer, number, data) if number >= 0 else ())]


def _problems(layer: Layer, file: LayerFile, data: bytes) -> list[str]:
    name = layer.folder + file.name
    if len(data) != file.size:
        return [f"{name} has {len(data)} bytes, not {file.size}"]
    return [] if hashlib.sha256(data).hexdigest() == file.sha256 else [f"{name} is not what was written"]


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
