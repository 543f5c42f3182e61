"""The lake tables that an import keeps (contract section 1): their places and columns, reading and writing.

An import writes one file of its own per table, or per table and day, and never one that others made. The same
code serves a lake in a folder and one at an `s3://` prefix.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from edge_auth.contract.store.open import is_folder
from generator.errors import IngestError
from generator.lake import journal

TIMESTAMP = pa.timestamp("us")  # UTC, without a zone
FIGURES = ("low", "avg", "trend", "avg1", "avg7", "avg30")


@dataclass(frozen=True)
class LakeTable:
    """A table file of the import's own, one row per key.

    `owned` columns are what the import says; the others are filled by somebody else and carried along.
    The other files whose name begins with `prefix`, in the same folder, are the rest of the same table.
    """

    name: str
    prefix: str
    key: str
    schema: pa.Schema
    owned: tuple[str, ...]


PRODUCTS = LakeTable(
    name="products-cardmarket.parquet",
    prefix="products",
    key="id_product",
    schema=pa.schema(
        [
            ("id_product", pa.int64()),
            ("name", pa.string()),
            ("kind", pa.string()),
            ("category", pa.string()),
            ("id_expansion", pa.int64()),
            ("rarity", pa.string()),
            ("number", pa.string()),
            ("image", pa.string()),
            ("image_large", pa.string()),
            ("url", pa.string()),
            ("date_added", TIMESTAMP),
            ("created_at", TIMESTAMP),
        ]
    ),
    owned=("id_product", "name", "kind", "category", "id_expansion", "date_added", "created_at"),
)

EXPANSIONS = LakeTable(
    name="expansions-cardmarket.parquet",
    prefix="expansions",
    key="id",
    schema=pa.schema(
        [
            ("id", pa.int64()),
            ("name", pa.string()),
            ("game", pa.string()),
            ("url", pa.string()),
            ("created_at", TIMESTAMP),
        ]
    ),
    owned=("id", "name", "created_at"),
)

_GUIDE_SCHEMA = pa.schema(
    [("id_product", pa.int64())]
    + [(figure + suffix, pa.float64()) for suffix in ("", "_holo") for figure in FIGURES]
    + [("created_at", TIMESTAMP)]
)


def price_guide(day: date) -> LakeTable:
    """The import's file of one day of the price guide, all games in it."""
    name = f"price_guide/day={day.isoformat()}/cardmarket.parquet"
    return LakeTable(name, "", "id_product", _GUIDE_SCHEMA, tuple(_GUIDE_SCHEMA.names))


def owned_schema(table: LakeTable) -> pa.Schema:
    """The part of a table's schema that the import itself fills."""
    return pa.schema([table.schema.field(name) for name in table.owned])


def encode(table: pa.Table) -> pa.Buffer:
    """A table as the bytes of a Parquet file: the same rows give the same bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, compression="zstd")
    return sink.getvalue()


def decode(data: pa.Buffer) -> pa.Table:
    """The table that `encode` was given."""
    return pq.read_table(pa.BufferReader(data))


class LakeWriter:
    """A lake as an import sees it; every method raises IngestError where the folder or the bucket refuses."""

    def __init__(self, location: str):
        self.location = location
        self.folder = Path(location).absolute() if is_folder(location) else None
        with self._translated(location):
            if self.folder is None:
                self.files = _bucket(location)
            else:
                self.files = fs.SubTreeFileSystem(str(self.folder), fs.LocalFileSystem())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other imports into the same folder out, for each reads what it then replaces."""
        with self._translated(self.location):
            if self.folder is None:
                yield
                return
            self.folder.mkdir(parents=True, exist_ok=True)
            with journal.alone(self.folder):
                yield

    def read(self, table: LakeTable) -> pa.Table:
        """The import's own file, empty where there is none: the table's columns, then any others in it."""
        with self._translated(table.name):
            if self.files.get_file_info(table.name).type == fs.FileType.NotFound:
                return table.schema.empty_table()
            found = pq.ParquetFile(self.files.open_input_file(table.name)).read()
            known = {field.name: _column(found, field) for field in table.schema}
        return pa.table(known | {name: found[name] for name in found.schema.names if name not in known})

    def keys_elsewhere(self, table: LakeTable) -> pa.ChunkedArray:
        """The keys that other files of the same table have."""
        return self.columns_elsewhere(table, pa.schema([(table.key, pa.int64())]))[table.key]

    def columns_elsewhere(self, table: LakeTable, schema: pa.Schema) -> pa.Table:
        """What other files of the same table have in these columns, all of them required ones; no row has a null."""
        folder, _, own = table.name.rpartition("/")
        with self._translated(folder or self.location):
            found = self.files.get_file_info(fs.FileSelector(folder, allow_not_found=True))
        others = sorted(
            info.path
            for info in found
            if info.base_name.startswith(table.prefix)
            and info.base_name.endswith(".parquet")
            and not info.base_name.startswith(".")
            and info.base_name != own
        )
        return pa.concat_tables([schema.empty_table(), *(self._columns(name, schema) for name in others)])

    def _columns(self, name: str, schema: pa.Schema) -> pa.Table:
        with self._translated(name):
            found = pq.ParquetFile(self.files.open_input_file(name))
            for column in schema.names:
                if column not in found.schema_arrow.names:
                    raise IngestError(f"{name} in lake {self.location}: no column {column}")
            return found.read(columns=schema.names).select(schema.names).cast(schema).drop_null()

    def put(self, files: dict[str, pa.Buffer]) -> None:
        """Put files in place, named by their paths within the lake. Only within `locked`.

        In a folder all of them appear or none, whenever the process dies. Object stores show each when it is complete.
        """
        with self._translated("import"):
            if self.folder is not None:
                journal.put(self.folder, files)
                return
            for name, data in files.items():
                with self.files.open_output_stream(name) as stream:
                    stream.write(data)

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
            raise IngestError(f"{name} in lake {self.location}: {reason}") from error


def _bucket(location: str) -> fs.FileSystem:
    """An `s3://bucket/prefix`; endpoint, region and credentials are those of the AWS_… variables."""
    scheme, _, path = location.partition("://")
    if scheme != "s3" or not path.strip("/"):
        raise IngestError(f"lake {location}: expected a folder or s3://bucket/prefix")
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    # Delayed: one plain PUT per file of up to 5 MB, where the default is an upload in parts.
    bucket = fs.S3FileSystem(endpoint_override=endpoint, allow_delayed_open=True)
    return fs.SubTreeFileSystem(path.strip("/"), bucket)


def _column(table: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    if field.name in table.schema.names:
        return table[field.name].cast(field.type)
    return pa.nulls(len(table), field.type)
