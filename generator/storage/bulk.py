"""Bulk files: the names of the files, the layers that hold them, and the manifest `bulk.json` that lists them.

A file lies in a layer under a longer name of its own: 16 digits of its hash instead of the 12 that clients see.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from generator.storage import layout

if TYPE_CHECKING:
    from generator.storage.layers import Layer

URL_FOLDER = "/api/v1/bulk/"
# The part of the tables without days of their own in the names of the layers.
PART_OF_TABLE = {
    "products": "catalogue",
    "sets": "catalogue",
    "cards": "cards",
    "watchlist": "watchlist",
    "identifiers": "identifiers",
    "market": "market",
    "prices": "prices",
    "catalog": "sql",
}
PRICE_TABLES = ("price_guide", "listings", "filtered")  # a file has a month or a day of them
FILES = "files"  # the manifest's list
NAME_DIGITS = 12  # of a file's SHA-256 in the name that clients see
STORED_DIGITS = 16  # the same in the name of a file of a layer
# By format: the suffix in the store, and the media type.
FORMATS = {
    "parquet": (".parquet", "application/vnd.apache.parquet"),
    "jsonl.gz": (".gz", "application/gzip"),
    "csv.gz": (".gz", "application/gzip"),
    "ducklake": (".ducklake", "application/octet-stream"),
}
SPREADSHEET = "prices"  # the table of format csv.gz, which a tree has plain
SPREADSHEET_KEY = f"{SPREADSHEET}.csv"
CATALOGUE = "catalog"  # the table of the DuckLake catalogue, which names the files of format parquet
LIVE_CATALOGUE = f"{CATALOGUE}.ducklake"  # the name under which clients find the catalogue of the live build


class BulkFile(NamedTuple):
    name: str  # as clients see it
    object: str  # its name in the store
    size: int
    sha256: str
    media_type: str


def file_name(stem: str, format_: str, sha256: str) -> str:
    """Return the name of a file as clients see it, such as `price_guide-2026-01-0123456789ab.parquet`."""
    return f"{stem}-{sha256[:NAME_DIGITS]}.{format_}"


def catalogue_of(files: Mapping[str, BulkFile]) -> BulkFile:
    return next(file for name, file in files.items() if name.startswith(f"{CATALOGUE}-"))


def read_manifest(manifest: bytes, layers: "Mapping[str, Layer]") -> dict[str, BulkFile]:
    """Return the files of a manifest, by name. The layers are those of the build, by name."""
    return {entry["name"]: _located(entry, layers) for entry in json.loads(manifest)[FILES]}


def place_of(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Return the layer that has a file of the manifest, and the first part of the file's name."""
    stem = entry["name"].rpartition("-")[0]
    part = PART_OF_TABLE.get(entry["table"]) or stem.removeprefix(f"{entry['table']}-")
    return layout.sublayer(layout.BULK, part), stem


def _located(entry: dict[str, Any], layers: "Mapping[str, Layer]") -> BulkFile:
    layer, stem = place_of(entry)
    suffix, media_type = FORMATS[entry["format"]]
    stored = f"{layers[layer].folder}{stem}-{entry['sha256'][:STORED_DIGITS]}{suffix}"
    return BulkFile(entry["name"], stored, entry["bytes"], entry["sha256"], media_type)
