"""The days of a lake: what their files hold and what builds make of them, and days whose prices lie apart."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from generator import settings
from generator.clock import from_unix_time, timestamp
from generator.compare.comparison import bulk_entries, bulk_file, prices_database
from generator.database import sql_literal
from generator.errors import LakeError
from generator.lake.files import FileKey, LakeFiles
from generator.lake.lake import table_files
from generator.lake.quarantine import ACCEPTED, DROPPED, HELD, files_read, original_of, read_quarantine
from generator.storage.builds import Build, open_build, read_pointer
from generator.storage.stores.interface import Store
from generator.terminal import Progress
from generator.threads import USUAL

READ, NEW = "read", "new"
_GUIDE = "price_guide"


def day_files(location: str, store: Store, tables: Collection[str], progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield the day files of some tables of a lake, by table, day and name.

    The verdict on the file, or on a game in it, is `held`, `accepted` or `dropped`, or else READ by the live build, or
    NEW. The source is the name of the file without suffix: `cardmarket` and `monitor` are of imports.
    """
    backend = LakeFiles(location)
    with backend.read_lock():
        listed = [file for file in table_files(location, backend) if file.table in tables]
        files = list(backend.with_hashes(listed, progress))
    pointer, _ = read_pointer(store)
    live = open_build(store, pointer.build) if pointer else None
    read = {original_of(live.record, key) for key in files_read(live)} if live else set()
    decisions = sorted(read_quarantine(store), key=lambda file: (ACCEPTED, DROPPED, HELD).index(file.verdict))
    decided = {file.key.whole: file.verdict for file in decisions}  # of several games of a file, the last of these
    for table in tables:
        for file in backend.fetch(table, [file for file in files if file.table == table]):
            key = FileKey(table, str(file.day), file.sha256)
            yield {
                "table": table,
                "day": key.day,
                "rows": _rows(file.path),
                "source": PurePosixPath(file.name).stem,
                "imported": timestamp(from_unix_time(backend.modified(file.name))),
                "verdict": decided.get(key, READ if key in read else NEW),
                "sha256": file.sha256,
            }


def _rows(path: str) -> int:
    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError) as error:
        raise LakeError(f"{path} cannot be read as Parquet: {error}") from error


def outlying_line(day: Mapping[str, Any], location: str) -> str:
    """Return an outlying day as one line, with the command that withdraws it."""
    columns = ", ".join(f"{column} x {ratio:.3g}" for column, ratio in day["columns"].items())
    named = f"the {day['part']} {day['name']}" if day["name"] else "the products without a game"
    return (
        f"{day['day']} {_GUIDE}: half of the prices of {named} ({day['prices']:,}) are apart from the days around it: "
        f"{columns}: `cardpress quarantine drop {day['day']} --store {location}`"
    )


def outlying_days(build: Build) -> list[dict[str, Any]]:
    """Return the days on which half of the prices of a game or set are many times those of the days around them.

    The oldest come first; a game hides its sets of the same day. `columns` has the middle ratios to the day before,
    `prices` the most that were compared in one of them.
    """
    places = [bulk_file(build, entry) for entry in bulk_entries(build) if entry["table"] == _GUIDE]
    if not places:
        return []
    listed = ", ".join(sql_literal(layer.file(stem)) for layer, stem in places)
    with prices_database(build, USUAL) as db:
        db.set(enough_prices=settings.ENOUGH_PRICES)
        db.connection.execute(f"create view guide_history as from read_parquet([{listed}])")
        db.run("report/outlying_days")
        rows = db.table("from outlying_days").to_pylist()
    return [row | {"columns": dict(row["columns"])} for row in rows]
