"""Reads a build again and compares every file and object with its recorded hash.

`visible_damage` only looks at a listing of a layer's folder; `damage` reads the whole layer.

A night makes and verifies only new layers, so it reads the others in rotation (`Rotation`). `private/last-reads.json`
names when each layer was last read. Each night reads those that were not read for the longest time, until it has read
its share of all bytes. So everything is read within some days, and no night reads much.

`verify` raises BuildError, `checked_file` DamageError. Otherwise a store that fails raises StoreError.
"""

import hashlib
import itertools
import json
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np

from generator.clock import Clock, parse_timestamp, timestamp
from generator.errors import BuildError, DamageError
from generator.storage import layout
from generator.storage.builds import Build
from generator.storage.catalogue import DIGEST_BYTES
from generator.storage.errors import MissingObject, StoreError
from generator.storage.layers import INDEX_NAME, Entry, Layer, StoredFile
from generator.storage.stores.codec import decompress, sha256
from generator.storage.stores.interface import Store, read_json
from generator.terminal import Progress
from generator.threads import in_order

_THREADS = 4  # each holds a pack in memory
# Nights that follow each other faster than this read nothing again.
_SHORTEST_INTERVAL = timedelta(hours=12)

_Part = tuple[Layer, StoredFile, int | None]  # a pack has a number


class VerifiedTotals(NamedTuple):
    """How many objects and bytes were verified."""

    objects: int
    bytes: int


def verify(build: Build, progress: Progress, only: Collection[str] | None = None) -> VerifiedTotals:
    """Read every pack, file and object of a build, or of some layers, and compare it with its recorded hash.

    BuildError names the first one that is missing or differs, and counts the others.
    """
    layers = {name: layer for name, layer in build.layers.items() if only is None or name in only}
    broken: list[str] = []
    parts: list[_Part] = []
    for name, layer in list(layers.items()):
        try:
            broken += _broken_index(layer)
            parts += _parts(layer)
        except StoreError as error:
            broken.append(str(error))
            del layers[name]
    with ThreadPoolExecutor(_THREADS) as pool, progress.bar("verify", len(parts)) as bar:
        for found in in_order(pool, _THREADS, lambda part: _broken(*part), parts):
            broken += found
            bar.update(1)
    if not broken and layout.CATALOGUE in layers:
        broken += _broken_list_pages(build)
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise BuildError(
            f"build {build.id} is damaged: {broken[0]}{more}; "
            f"`cardpress build --as-of {build.as_of} --repair` from the same lake builds damaged layers again"
        )
    return VerifiedTotals(sum(len(layer.index) for layer in layers.values()), sum(map(stored_bytes, layers.values())))


def visible_damage(layer: Layer) -> str | None:
    """Return what a listing shows to be wrong with a layer (no index, a missing pack, a wrong size), or None."""
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
            defect = "is missing" if size is None else f"has {size} bytes, not {file.size}"
            return f"{layer.folder}{file.name} {defect}"
    return None


def damage(layer: Layer) -> str | None:
    """Read every file and object of a layer and return the first thing that is wrong, or None."""
    if visible := visible_damage(layer):
        return visible
    try:
        found = itertools.chain.from_iterable(itertools.starmap(_broken, _parts(layer)))
        return next(itertools.chain(_broken_index(layer), found), None)
    except StoreError as error:
        return str(error)


def checked_file(layer: Layer, stem: str) -> Path:
    """Compare a file of a layer with its hash and return its path, for a layer that is made from it."""
    file, path = layer.entry_of(stem), layer.file(stem)
    for problem in _problems(layer, file, path.read_bytes()):
        raise DamageError(f"{problem}: `cardpress build --repair` builds damaged layers again")
    return path


def _broken_index(layer: Layer) -> list[str]:
    """Compare the index in the store with its mapped local copy, and return what is wrong."""
    name = layer.folder + INDEX_NAME
    same = layer.store.get(name) == layer.local(INDEX_NAME).read_bytes()
    return [] if same else [f"{name} differs from its local copy"]


def _parts(layer: Layer) -> list[_Part]:
    index = layer.index
    return [*((layer, file, None) for file in index.files), *((layer, pack, n) for n, pack in enumerate(index.packs))]


def _broken(layer: Layer, file: StoredFile, pack: int | None) -> list[str]:
    """Return what is wrong with a file, or with a pack and its objects."""
    try:
        data = layer.store.get(layer.folder + file.name)
    except StoreError as error:
        return [str(error)]
    return [*_problems(layer, file, data), *(() if pack is None else _broken_objects(layer, pack, data))]


def _broken_list_pages(build: Build) -> list[str]:
    """Return what is wrong with what list pages are cut from: the rankings, and the lines of the Cards."""
    try:
        catalogue, folder = build.catalogue, build.layers[layout.CATALOGUE].folder
        ordinals = np.arange(len(catalogue.ids))
        broken = [
            f"the ranking by {sort} in {folder} does not hold every product once"
            for sort, order in catalogue.order.items()
            if not np.array_equal(np.sort(order), ordinals)
        ]
        lines = zip(catalogue.ids.tolist(), catalogue.card_lines.lines(ordinals), catalogue.digests, strict=True)
        broken += [
            f"the line of id_product {id_} in {folder} differs from its recorded hash"
            for id_, line, digest in lines
            if sha256(bytes(line) + b"\n")[:DIGEST_BYTES] != digest.as_py()
        ]
    except StoreError as error:
        return [str(error)]
    return broken


def _problems(layer: Layer, file: StoredFile, data: bytes) -> list[str]:
    name = layer.folder + file.name
    if len(data) != file.size:
        return [f"{name} has {len(data)} bytes, not {file.size}"]
    return [] if hashlib.sha256(data).hexdigest() == file.sha256 else [f"{name} differs from its recorded hash"]


def _broken_objects(layer: Layer, number: int, pack: bytes) -> list[str]:
    entries = ((position, layer.index.entry(position)) for position in layer.index.in_pack(number).tolist())
    return [
        f"{layer.index.key(position)} in {layer.folder}{entry.pack} differs from its recorded hash"
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


class Rotation:
    """The layers that one night reads again. Within `days` days everything is read, if a night runs every day."""

    def __init__(self, store: Store, days: int, clock: Clock):
        self.store, self.days, self.clock = store, days, clock
        self.read: list[str] = []
        self.bytes = 0
        self._times = _last_reads(store)

    def damaged(self, layers: list[Layer]) -> dict[str, str]:
        """Read the layers whose turn it is. Return what is wrong, by the layers' names."""
        broken = {}
        for layer in self._due(layers):
            self.read.append(layer.name)
            self.bytes += stored_bytes(layer) + 1
            if defect := damage(layer):
                broken[layer.name] = defect
        return broken

    def save(self, layers: Iterable[Layer], verified: Iterable[str]) -> None:
        """Record that layers of a build were read now: those of the rotation, and others that were verified."""
        now, read = timestamp(self.clock()), {*self.read, *verified}
        times = {
            layer.folder: now if layer.name in read else self._times[layer.folder]
            for layer in layers
            if layer.name in read or layer.folder in self._times
        }
        last = {"": now} if self.read else {"": self._times[""]} if "" in self._times else {}
        data = json.dumps(last | times, indent=1).encode() + b"\n"
        self.store.put(layout.LAST_READS, data)

    def _due(self, layers: list[Layer]) -> Iterator[Layer]:
        """Yield the layers to read, those that were not read for the longest time first."""
        budget = sum(stored_bytes(layer) + 1 for layer in layers) * self._elapsed_days() / self.days
        for layer in sorted(layers, key=lambda layer: (self._times.get(layer.folder, ""), layer.folder)):
            if budget <= 0:
                return
            budget -= stored_bytes(layer) + 1
            yield layer

    def _elapsed_days(self) -> int:
        """Return the days since the last rotation, rounded; 0 if it has just been."""
        if "" not in self._times:
            return 1
        elapsed = self.clock() - parse_timestamp(self._times[""])
        if timedelta() <= elapsed < _SHORTEST_INTERVAL:
            return 0
        return min(self.days, max(1, round(elapsed / timedelta(days=1))))


def stored_bytes(layer: Layer) -> int:
    """Return the size of the packs and files of a layer."""
    return sum(file.size for file in (*layer.index.packs, *layer.index.files))


def _last_reads(store: Store) -> dict[str, str]:
    """Return when each layer was last read, by folder; under '' when a night last read any of them again."""
    try:
        times = read_json(store, layout.LAST_READS)
        return {str(folder): timestamp(parse_timestamp(time)) for folder, time in times.items()}
    except (MissingObject, ValueError, TypeError, AttributeError):  # damaged
        return {}
