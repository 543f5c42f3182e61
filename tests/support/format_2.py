"""Rewrites a build as the version before wrote it: format 2, with the Cards in `catalogue` and `cards` too."""

import hashlib
import json
from struct import Struct
from zlib import crc32

import numpy as np

from edge_auth.builds import layer_names, layout
from edge_auth.builds.builds import Build, open_build
from edge_auth.builds.index import INDEX_NAME, map_table, to_bytes
from edge_auth.builds.layers import Layer
from edge_auth.store.codec import compress, decompress, deflate
from edge_auth.store.folder import FolderStore
from generator.pack.writer import Writer, hash_objects, join_index

_ENTRY, _TRAILER = Struct("<IIII"), Struct("<II")
_HEADER = bytes((0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF)) + Struct("<H2sH").pack(68, b"CP", 64)
_ARRAYS = ("price_guide", "filtered", "listing")


class _Uploads:
    def __init__(self, store: FolderStore):
        self.store = store

    def put(self, name: str, data: bytes, _: str) -> None:
        self.store.put(name, data)


def detail_member(line: bytes, arrays: list[bytes]) -> tuple[bytes, bytes]:
    """A Card with the rows of the open month, as JSON and as a gzip member that is flushed around each array."""
    head, pieces = line[:-1] + b',"history":{"price_guide":[\n', []
    for text, end in zip(arrays, (b'],"filtered":[\n', b'],"listing":[\n', b"]}}\n"), strict=True):
        pieces += [text, b"\n" + end if text else end]
    offset, table, data = len(_HEADER) + 4 * _ENTRY.size, [], []
    for number, text in enumerate((head, *pieces)):
        deflated = deflate(text) if text else b""
        if number == 0 or number % 2:  # the head and the arrays, not the texts after them
            table.append(_ENTRY.pack(offset, len(deflated), len(text), crc32(text)))
        data.append(deflated)
        offset += len(deflated)
    json_ = b"".join((head, *pieces))
    return json_, b"".join((_HEADER, *table, *data, b"\x03\x00", _TRAILER.pack(crc32(json_), len(json_))))


def as_format_2(store: FolderStore, build_id: str) -> str:
    """Write a build of this version again as one of format 2, into the same store. Return its id."""
    build = open_build(store, build_id)
    record = json.loads(json.dumps(build.record))
    lines = _lines(build)
    open_month = layer_names.history_layer(layer_names.OPEN_MONTH)
    for of_layers in (record["layers"], record["objects"], record["bytes"]):
        of_layers[layer_names.CARDS] = of_layers.pop(open_month)  # objects and bytes: about as many
    del record["quarantine"]
    record["layers"][layer_names.CATALOGUE] = _catalogue(store, build, lines)
    record["layers"][layer_names.CARDS] = _cards(store, build, lines)
    id_ = layout.build_id(record["as_of"], {name: layer["digest"] for name, layer in record["layers"].items()})
    record |= {"id": id_, "format": 2}
    store.put(layout.record_name(id_), json.dumps(record).encode())
    return id_


def _lines(build: Build) -> list[bytes]:
    ordinals = np.arange(len(build.catalogue.ids))
    return [bytes(line) for line in build.catalogue.card_lines.lines(ordinals)]


def _write(store: FolderStore, name: str, pattern: str, old: Layer, fill) -> dict:
    digest = hashlib.sha256(f"format 2 of {old.folder}".encode()).hexdigest()[:24]
    writer = Writer(_Uploads(store), None, name, layout.layer_folder(name, digest), pattern)
    fill(writer)
    store.put(writer.folder + INDEX_NAME, join_index(pattern, [writer.output()]))
    return {"digest": digest, "inputs": {}}


def _catalogue(store: FolderStore, build: Build, lines: list[bytes]) -> dict:
    layer = build.layers[layer_names.CATALOGUE]
    text = b"".join(line + b"\n" for line in lines)

    def fill(writer: Writer) -> None:
        for file in layer.index.files:
            stem, _, rest = file.name.partition("-")
            data = store.get(layer.folder + file.name)
            if stem == "columns":
                table = map_table(layer.file("columns"))
                metadata = dict(table.schema.metadata)
                del metadata[b"lines"]
                metadata[b"rows"] = hashlib.sha256(text).hexdigest().encode()
                data = to_bytes(table.drop_columns(["product_digest"]).replace_schema_metadata(metadata))
            writer.add_file(f"{stem}.{rest.partition('.')[2]}", data)
        writer.add_file("rows.gz", compress(text))

    return _write(store, layer_names.CATALOGUE, "", layer, fill)


def _cards(store: FolderStore, build: Build, lines: list[bytes]) -> dict:
    layer = build.periods[layer_names.OPEN_MONTH]

    def fill(writer: Writer) -> None:
        objects = []
        for id_, line in sorted(zip(build.catalogue.ids.tolist(), lines, strict=True)):
            entry = layer.index.find_id(id_)
            history = json.loads(decompress(layer.read_member(entry))) if entry else {name: [] for name in _ARRAYS}
            rows = [b",\n".join(_compact(row) for row in history[name]) for name in _ARRAYS]
            objects.append((id_, *detail_member(line, rows)))
        writer.add(hash_objects(objects))

    return _write(store, layer_names.CARDS, "cards/{}.json", layer, fill)


def _compact(row: dict) -> bytes:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode()
