"""Reads objects out of packs in blocks: neighbours in a pack are read and decompressed together."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from isal import igzip, isal_zlib

from edge_auth.builds import layer_names, object_keys
from edge_auth.builds.builds import Build
from edge_auth.builds.bulk import FILES
from edge_auth.builds.index import INDEX_NAME, Entry, map_table
from edge_auth.builds.layers import Layer
from edge_auth.errors import DamagedObject

BLOCK_BYTES = 4 * 1024 * 1024
_CARD_KEYS = "rows/{}.json"
_ISAL_ERROR: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # isal's stubs declare an instance
_GZIP_ERRORS = (OSError, EOFError, _ISAL_ERROR)
_GZIP_WBITS = 31  # zlib's window size for a gzip member

HashedKeys = tuple[str, pa.Table]  # the pattern of keys, and a table with at least `key` and `json_sha256`
_Array = np.ndarray[Any, np.dtype[Any]]


def index_table(layer: Layer) -> tuple[str, pa.Table]:
    """Return the key pattern of a layer's index and the table of its objects, sorted by key.

    Raises:
        StoreError: The index cannot be read.
    """
    pattern = layer.index.pattern  # raises StoreError if the index is missing or broken
    return pattern, map_table(layer.local(INDEX_NAME)).replace_schema_metadata(None)


def object_hashes(build: Build, name: str) -> HashedKeys:
    """Return the keys and hashes of the objects of a layer.

    For the catalogue these are its Cards, which are lines of a bulk file. For the manifest these are the bulk files.

    Raises:
        StoreError: The layer cannot be read.
    """
    if name == layer_names.BULK:
        return "", _bulk_files(build.layers[name])
    if name != layer_names.CATALOGUE:
        return index_table(build.layers[name])
    catalogue = build.catalogue
    return _CARD_KEYS, pa.table({"key": catalogue.ids, "json_sha256": catalogue.digests})


def _bulk_files(layer: Layer) -> pa.Table:
    entry = layer.index.find(object_keys.BULK_KEY)
    files = json.loads(layer.read(entry))[FILES] if entry else []
    hashes = pa.array([bytes.fromhex(file["sha256"]) for file in files], pa.binary())
    keys = pa.array([object_keys.bulk_file(file["name"]) for file in files], pa.string())
    return pa.table({"key": keys, "json_sha256": hashes})


def page_hashes(build: Build) -> HashedKeys:
    """Return the keys and hashes of the list pages of a build.

    Raises:
        StoreError: The catalogue cannot be read.
    """
    keys = list(build.list_pages.all_keys())
    hashes = pa.array([build.list_pages.digest(key) for key in keys], pa.binary())
    return "", pa.table({"key": pa.array(keys, pa.string()), "json_sha256": hashes})


def read_objects(layer: Layer, members: pa.Table) -> Iterator[pa.Table]:
    """Yield the wanted objects of a layer, as tables of `key` and `json` of some megabytes each.

    Args:
        members: All objects of the layer in the order of its packs: pack, offset, length, json_size, key, wanted.

    Raises:
        StoreError: A pack cannot be read, or does not match the index.
    """
    wanted = members["wanted"].to_numpy()
    for first, end in _blocks(members):
        hits = np.flatnonzero(wanted[first:end])
        if len(hits):
            last = first + int(hits[-1])
            first += int(hits[0])
            yield _read_block(layer, members.slice(first, last - first + 1))


def _blocks(members: pa.Table) -> Iterator[tuple[int, int]]:
    """Yield the first row and the end row of each block of a pack."""
    pack, offset = members["pack"].to_numpy(), members["offset"].to_numpy()
    changes = (np.diff(pack) != 0) | (np.diff(offset // BLOCK_BYTES) != 0)
    return itertools.pairwise([0, *(np.flatnonzero(changes) + 1).tolist(), len(members)])


def _read_block(layer: Layer, members: pa.Table) -> pa.Table:
    name = layer.index.packs[members["pack"][0].as_py()].name
    start, sizes = members["offset"][0].as_py(), members["json_size"].to_numpy()
    end = members["offset"][-1].as_py() + members["length"][-1].as_py()
    try:
        data = layer.store.get(layer.folder + name, start, end - start)
        text = igzip.decompress(data)  # type: ignore[no-untyped-call]  # isal's stubs lack the types
    except _GZIP_ERRORS as error:
        raise DamagedObject(f"{layer.folder}{name} at {start}: {error}") from error
    offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    if len(text) != offsets[-1]:
        raise DamagedObject(f"{layer.folder}{name} at {start}: {len(text)} bytes of JSON, the index says {offsets[-1]}")
    return pa.table({"key": members["key"], "json": _strings(text, offsets)}).filter(members["wanted"])


def read_lines(layer: Layer, entry: Entry) -> Iterator[pa.Table]:
    """Yield the lines of one object that may be large, as tables of `line` of some megabytes each.

    Raises:
        StoreError: The object cannot be read, or is not a gzip member of whole lines.
    """
    decompressor, rest = isal_zlib.decompressobj(wbits=_GZIP_WBITS), b""
    for start in range(0, entry.length, BLOCK_BYTES):
        length = min(BLOCK_BYTES, entry.length - start)
        data = layer.store.get(layer.folder + entry.pack, entry.offset + start, length)
        try:
            text = rest + decompressor.decompress(data)
        except _GZIP_ERRORS as error:
            raise DamagedObject(f"{layer.folder}{entry.pack} at {entry.offset}: {error}") from error
        cut = text.rfind(b"\n") + 1
        text, rest = text[:cut], text[cut:]
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
        yield pa.table({"line": _strings(text, np.concatenate(([0], ends)).astype(np.int64))})
    if rest or not decompressor.eof:
        raise DamagedObject(f"{layer.folder}{entry.pack} at {entry.offset}: the object ends too early")


def _strings(text: bytes, offsets: _Array) -> pa.Array:
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(text))
