"""Reads and replaces single files of a lake, in a folder or at an `s3://` prefix, for imports and fingerprints."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from edge_auth.store.open import is_folder
from generator.errors import IngestError
from generator.lake import journal

_PARTITION = "day="


def encode_parquet(table: pa.Table) -> pa.Buffer:
    """Return a table as the bytes of a Parquet file. The same rows give the same bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, compression="zstd")
    return sink.getvalue()


def decode_parquet(data: pa.Buffer) -> pa.Table:
    """Return the table of a Parquet file."""
    return pq.read_table(pa.BufferReader(data))


class LakeWriter:
    """A lake whose files are read and replaced.

    Every method raises IngestError if the folder or the bucket refuses, or if a file is not what it should be.
    """

    def __init__(self, location: str):
        self.location = location
        self._folder = Path(location).absolute() if is_folder(location) else None
        with self._as_ingest_errors(location):
            if self._folder is None:
                self._files = _bucket(location)
            else:
                self._files = fs.SubTreeFileSystem(str(self._folder), fs.LocalFileSystem())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other imports into the same folder out, because an import reads files and then replaces them."""
        with self._as_ingest_errors(self.location):
            if self._folder is None:
                yield
                return
            self._folder.mkdir(parents=True, exist_ok=True)
            with journal.write_lock(self._folder):
                yield

    def list_tables(self, prefix: str, folder: str = "") -> list[str]:
        """Return the paths of the Parquet files of a folder whose names begin with `prefix`, sorted."""
        with self._as_ingest_errors(folder or self.location):
            entries = self._files.get_file_info(fs.FileSelector(folder, allow_not_found=True))
        files = (entry for entry in entries if entry.type == fs.FileType.File)
        names = (file.path for file in files if _is_table(file.base_name, prefix))
        return sorted(names)

    def list_days(self, table: str) -> list[date]:
        """Return the days for which a daily table has a partition, sorted."""
        with self._as_ingest_errors(table):
            entries = self._files.get_file_info(fs.FileSelector(table, allow_not_found=True))
            names = [entry.base_name for entry in entries if entry.base_name.startswith(_PARTITION)]
            return sorted(date.fromisoformat(name.removeprefix(_PARTITION)) for name in names)

    def read_bytes(self, name: str) -> bytes | None:
        """Return the content of a small file, or None if it does not exist."""
        with self._as_ingest_errors(name):
            if not self._exists(name):
                return None
            with self._files.open_input_stream(name) as stream:
                data: bytes = stream.read()
                return data

    def read_table(self, name: str, schema: pa.Schema) -> pa.Table:
        """Return a Parquet file: the columns of the schema, null where the file lacks them, then its other columns.

        A file that does not exist has no rows.
        """
        with self._as_ingest_errors(name):
            if not self._exists(name):
                return schema.empty_table()
            table = pq.ParquetFile(self._files.open_input_file(name)).read()
            columns = {field.name: _column(table, field) for field in schema}
        return pa.table(columns | {other: table[other] for other in table.schema.names if other not in columns})

    def read_columns(self, name: str, schema: pa.Schema) -> pa.Table:
        """Return required columns of a Parquet file that exists."""
        with self._as_ingest_errors(name):
            file = pq.ParquetFile(self._files.open_input_file(name))
            for column in schema.names:
                if column not in file.schema_arrow.names:
                    raise IngestError(f"{name} in lake {self.location}: no column {column}")
            return file.read(columns=schema.names).select(schema.names).cast(schema)

    def write(self, files: dict[str, pa.Buffer]) -> None:
        """Write files, named by their paths within the lake. Requires `locked`.

        In a folder all of them appear or none, even if the process is killed. In a bucket each appears when it is
        complete, in the order of the argument.
        """
        with self._as_ingest_errors("import"):
            if self._folder is not None:
                journal.write_together(self._folder, files)
                return
            for name, data in files.items():
                with self._files.open_output_stream(name) as stream:
                    stream.write(data)

    def delete(self, name: str) -> None:
        """Delete a file if it exists, and its folder if it is then empty. Requires `locked`."""
        with self._as_ingest_errors(name):
            if self._exists(name):
                self._files.delete_file(name)
            if self._folder is not None:
                with suppress(OSError):  # not empty, or not there
                    (self._folder / name).parent.rmdir()

    def _exists(self, name: str) -> bool:
        return bool(self._files.get_file_info(name).type != fs.FileType.NotFound)

    @contextmanager
    def _as_ingest_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, pa.ArrowException) as error:
            reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
            raise IngestError(f"{name} in lake {self.location}: {reason}") from error


def _is_table(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and name.endswith(".parquet") and not name.startswith(".")


def _bucket(location: str) -> fs.FileSystem:
    """Open `s3://bucket/prefix`. Endpoint, region and credentials come from the AWS_… variables."""
    scheme, _, path = location.partition("://")
    if scheme != "s3" or not path.strip("/"):
        raise IngestError(f"lake {location}: expected a folder or s3://bucket/prefix")
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    # With delayed open a file of up to 5 MB is one plain PUT. The default is an upload in parts.
    bucket = fs.S3FileSystem(endpoint_override=endpoint, allow_delayed_open=True)
    return fs.SubTreeFileSystem(path.strip("/"), bucket)


def _column(table: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    if field.name in table.schema.names:
        return table[field.name].cast(field.type)
    return pa.nulls(len(table), field.type)
