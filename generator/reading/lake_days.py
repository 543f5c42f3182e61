"""The day files of a lake: what each holds, when it was written, and what builds make of it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.builds.builds import open_build, read_pointer
from edge_auth.store.interface import Store
from generator.clock import from_unix_time, timestamp
from generator.errors import LakeError
from generator.lake.files import FileKey, LakeFiles
from generator.lake.lake import hash_day_files
from generator.lake.quarantine import files_read, read_quarantine
from generator.terminal import Progress

READ, NEW = "read", "new"


@dataclass(frozen=True)
class DayFile:
    """A file of a daily table; its verdict is `held`, `accepted` or `dropped`, or else READ by the live build, or NEW.

    Its source is its name without suffix: `cardmarket` and `monitor` are of imports.
    """

    table: str
    day: str
    rows: int
    source: str
    imported: str
    verdict: str
    sha256: str


def day_files(location: str, store: Store, tables: Collection[str], progress: Progress) -> Iterator[DayFile]:
    """Yield the day files of some tables of a lake, by table, day and name."""
    backend = LakeFiles(location)
    files = [file for file in hash_day_files(location, backend, progress) if file.table in tables]
    verdicts = _verdicts(store, {FileKey(file.table, str(file.day), file.sha256) for file in files})
    for table in tables:
        for file in backend.fetch(table, [file for file in files if file.table == table]):
            key = FileKey(table, str(file.day), file.sha256)
            source, written = PurePosixPath(file.name).stem, timestamp(from_unix_time(backend.modified(file.name)))
            yield DayFile(table, key.day, _rows(file.path), source, written, verdicts[key], file.sha256)


def _verdicts(store: Store, files: set[FileKey]) -> dict[FileKey, str]:
    pointer, _ = read_pointer(store)
    unread = files - files_read(open_build(store, pointer.build)) if pointer else files
    decided = {file.key: file.verdict for file in read_quarantine(store)}
    return {file: decided.get(file, NEW if file in unread else READ) for file in files}


def _rows(path: str) -> int:
    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError) as error:
        raise LakeError(f"{path} cannot be read as Parquet: {error}") from error
