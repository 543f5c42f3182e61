"""Objects out of packs, in ranges: neighbours in a pack are read and inflated together, never a row at a time."""

import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from isal import igzip, isal_zlib

from edge_auth.contract import names
from edge_auth.contract.builds import Layer
from edge_auth.contract.catalogue import Catalogue
from edge_auth.contract.index import INDEX_NAME, Entry, map_table
from edge_auth.errors import StoreError

BLOCK_BYTES = 4 * 1024 * 1024
_CARDS_AT_ONCE = 3000
_CARD_KEYS = "rows/{}.json"
_BAD_GZIP = (OSError, EOFError, isal_zlib.error)
_GZIP_MEMBER = 31


def index_table(layer: Layer) -> tuple[str, pa.Table]:
    """A layer's index as it lies in the store: its pattern, and the table of its objects, sorted by key.

    Raises:
        StoreError: it cannot be read.
    """
    pattern = layer.index.pattern  # which tells of an index that is missing or broken
    return pattern, map_table(layer.local(INDEX_NAME)).replace_schema_metadata(None)


def listed(layer: Layer) -> tuple[str, pa.Table]:
    """What a layer holds, its Cards where those are lines of a file: pattern of the keys, and key and json_sha256.

    Raises:
        StoreError: it cannot be read.
    """
    if layer.name != names.CATALOGUE:
        return index_table(layer)
    catalogue = Catalogue(layer)
    return _CARD_KEYS, pa.table({"key": catalogue.ids, "json_sha256": catalogue.digests})


def cards(layer: Layer, ids: np.ndarray) -> Iterator[pa.Table]:
    """The Cards of products of a catalogue, as tables of `json`, each of some megabytes.

    Raises:
        StoreError: they cannot be read.
    """
    catalogue = Catalogue(layer)
    order = np.argsort(catalogue.ids)
    ordinals = order[np.searchsorted(catalogue.ids, ids, sorter=order)]
    for start in range(0, len(ordinals), _CARDS_AT_ONCE):
        yield pa.table({"json": pa.array(catalogue.rows.lines(ordinals[start : start + _CARDS_AT_ONCE]), pa.string())})


def objects(layer: Layer, members: pa.Table) -> Iterator[pa.Table]:
    """The wanted objects of a layer, as tables of `key` and `json`, each of some megabytes.

    Args:
        members: all objects of the layer in the order of its packs: pack, offset, length, json_size, key, wanted.

    Raises:
        StoreError: a pack cannot be read, or is not what the index says.
    """
    wanted = members["wanted"].to_numpy()
    for first, end in _blocks(members):
        hits = np.flatnonzero(wanted[first:end])
        if len(hits):
            last = first + int(hits[-1])
            first += int(hits[0])
            yield _block(layer, members.slice(first, last - first + 1))


def _blocks(members: pa.Table) -> Iterator[tuple[int, int]]:
    """Places of the members where one block of a pack begins and ends."""
    pack, offset = members["pack"].to_numpy(), members["offset"].to_numpy()
    changes = (np.diff(pack) != 0) | (np.diff(offset // BLOCK_BYTES) != 0)
    return itertools.pairwise([0, *(np.flatnonzero(changes) + 1).tolist(), len(members)])


def _block(layer: Layer, members: pa.Table) -> pa.Table:
    name = layer.index.packs[members["pack"][0].as_py()].name
    start, sizes = members["offset"][0].as_py(), members["json_size"].to_numpy()
    end = members["offset"][-1].as_py() + members["length"][-1].as_py()
    try:
        text = igzip.decompress(layer.store.get(layer.folder + name, start, end - start))
    except _BAD_GZIP as error:
        raise StoreError(f"{layer.folder}{name} at {start}: {error}") from error
    offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    if len(text) != offsets[-1]:
        raise StoreError(f"{layer.folder}{name} at {start}: {len(text)} bytes of JSON, the index says {offsets[-1]}")
    return pa.table({"key": members["key"], "json": _strings(text, offsets)}).filter(members["wanted"])


def lines(layer: Layer, entry: Entry) -> Iterator[pa.Table]:
    """The lines of one object that may be large, as tables of `line`, each of some megabytes.

    Raises:
        StoreError: it cannot be read, or is no gzip member of whole lines.
    """
    inflate, rest = isal_zlib.decompressobj(wbits=_GZIP_MEMBER), b""
    for start in range(0, entry.length, BLOCK_BYTES):
        length = min(BLOCK_BYTES, entry.length - start)
        data = layer.store.get(layer.folder + entry.pack, entry.offset + start, length)
        try:
            text = rest + inflate.decompress(data)
        except isal_zlib.error as error:
            raise StoreError(f"{layer.folder}{entry.pack} at {entry.offset}: {error}") from error
        cut = text.rfind(b"\n") + 1
        text, rest = text[:cut], text[cut:]
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
        yield pa.table({"line": _strings(text, np.concatenate(([0], ends)).astype(np.int64))})
    if rest or not inflate.eof:
        raise StoreError(f"{layer.folder}{entry.pack} at {entry.offset}: the object ends too early")


def _strings(text: bytes, offsets: np.ndarray) -> pa.Array:
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(text))
