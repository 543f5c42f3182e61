"""Reads and replaces single files of a lake, in a folder or at an `s3://` prefix, for imports and fingerprints."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq

from generator.errors import IngestError, message_of
from generator.lake.files import write_lock, write_together
from generator.lake.tables import arrow_schema
from generator.storage.errors import StoreError
from generator.storage.stores.disk import make_folder
from generator.storage.stores.open import open_store

NOTHING = pa.py_buffer(b"")  # the content of a file that is to be deleted
_PARTITION = "day="


def encode_parquet(table: pa.Table) -> pa.Buffer:
    """Return a table as the bytes of a Parquet file. The same rows give the same bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, compression="zstd")
    return sink.getvalue()


def decode_parquet(data: pa.Buffer) -> pa.Table:
    """Return the table of a Parquet file."""
    return pq.read_table(pa.BufferReader(data))


def with_columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the columns of a schema, null where a table lacks them, without its others."""
    names, rows = table.schema.names, len(table)
    columns = (table[one.name].cast(one.type) if one.name in names else pa.nulls(rows, one.type) for one in schema)
    return pa.table(list(columns), schema=schema)


class LakeWriter:
    """A lake whose files are read and replaced. Every method raises IngestError if that is refused."""

    def __init__(self, location: str):
        self.location = location
        try:
            self._store = open_store(location, what="lake", swaps=False)
        except StoreError as error:
            raise IngestError(str(error)) from error
        self._folder = self._store.local_path("")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other imports into the same folder out, because an import reads files and then replaces them."""
        with self._as_ingest_errors(self.location):
            if self._folder is None:
                yield
                return
            make_folder(self._folder)
            with write_lock(self._folder):
                yield

    def list_tables(self, prefix: str, folder: str = "") -> list[str]:
        """Return the paths of the Parquet files of a folder whose names begin with `prefix`, sorted."""
        with self._as_ingest_errors(folder or self.location):
            found = [file.name for file in self._store.entries(f"{folder}/" if folder else "", deep=False)]
        bases = {name: name.rpartition("/")[2] for name in found if name.endswith(".parquet")}
        return sorted(name for name, base in bases.items() if base.startswith(prefix) and not base.startswith("."))

    def list_days(self, table: str) -> list[date]:
        """Return the days for which a daily table has a partition, sorted."""
        with self._as_ingest_errors(table):
            found = self._store.entries(f"{table}/", deep=False)
            names = [child.name.removeprefix(f"{table}/").rstrip("/") for child in found]
            days = [name.removeprefix(_PARTITION) for name in names if name.startswith(_PARTITION)]
            return sorted(map(date.fromisoformat, days))

    def read_bytes(self, name: str) -> bytes | None:
        """Return the content of a small file, or None if it does not exist."""
        with self._as_ingest_errors(name):
            found = self._store.get_versioned(name, most=None)
        return found.data if found else None

    def read_table(self, name: str, schema: pa.Schema) -> pa.Table:
        """Return a Parquet file, or no rows: the columns of the schema, null where it lacks them, then its others."""
        data = self.read_bytes(name)
        if data is None:
            return schema.empty_table()
        with self._as_ingest_errors(name):
            table = pq.ParquetFile(pa.BufferReader(data)).read()
            found = with_columns(table, schema)
        for other in [name for name in table.schema.names if name not in schema.names]:
            found = found.append_column(other, table[other])
        return found

    def read_all(self, table: str, schema: pa.Schema | None = None) -> pa.Table:
        """Return the rows of all files of a table that is not daily: these columns, or all that are declared."""
        schema = schema or arrow_schema(table)
        tables = [self.read_table(path, schema).select(schema.names) for path in self.list_tables(table)]
        return pa.concat_tables([schema.empty_table(), *tables])

    def read_columns(self, name: str, schema: pa.Schema) -> pa.Table:
        """Return required columns of a Parquet file that exists."""
        with self._as_ingest_errors(name):
            path = self._store.local_path(name)
            file = pq.ParquetFile(path or pa.BufferReader(self._store.get(name)))
            for column in schema.names:
                if column not in file.schema_arrow.names:
                    raise IngestError(f"{name} in lake {self.location}: no column {column}")
            return file.read(columns=schema.names).select(schema.names).cast(schema)

    def write(self, files: dict[str, pa.Buffer]) -> None:
        """Write files, named by their paths within the lake, and delete those of no content. Requires `locked`.

        In a folder all of them change or none, even if the process is killed. In a bucket each changes when it is
        complete, in the order of the argument.
        """
        with self._as_ingest_errors("import"):
            if self._folder is not None:
                write_together(self._folder, files)
                return
            for name, data in files.items():
                if data.size:
                    self._store.put(name, data.to_pybytes())
                else:
                    self._store.delete([name])

    @contextmanager
    def _as_ingest_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            raise IngestError(f"lake: {error}") from error
        except (OSError, ValueError, pa.ArrowException) as error:
            if isinstance(error, OSError) and error.filename is not None:
                raise IngestError(f"lake: {message_of(error)}") from error
            reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
            raise IngestError(f"{name} in lake {self.location}: {reason}") from error
