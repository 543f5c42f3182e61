"""What the keys have used, by the logs of shims and of the nginx of `cardpress edge`."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from generator.clock import Clock
from generator.database import Database, query_fault
from generator.errors import GeneratorError
from generator.storage.stores.open import is_folder, open_store

_Row = dict[str, Any]


def read_usage(locations: Iterable[str], days: int | None, clock: Clock) -> tuple[list[_Row], list[_Row]]:
    """Count what logs say of this many days, today included; a file that several locations hold counts once.

    The first rows have day (UTC), key (its id, or None for requests without a valid key), requests, refused (with a
    status of 400 to 499) and bytes (of bodies); the others how many lines of a file were cut off, or are of other
    programs.
    """
    with closing(Database()) as database:
        names = {path: name for location in locations for path, name in _files(location, database.scratch)}
        database.set(log_files=sorted(names))
        if days is not None:
            database.set(first_day=str(clock().date() - timedelta(days=days - 1)))
        database.run("usage/log_lines")
        try:
            keys, other_lines = (database.answer(f"usage/{name}").to_pylist() for name in ("by_key", "other_lines"))
        except duckdb.Error as error:
            raise query_fault(error, "leave out the log that cannot be read", GeneratorError) from error
    return keys, [row | {"file": names[row["file"]]} for row in other_lines]


def _files(location: str, scratch: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and the name of each log at a location. Those of a bucket are copied into a folder."""
    if is_folder(location) and Path(location).is_file():
        yield str(Path(location).resolve()), location
        return
    store = open_store(location)
    names = set(store.list(""))
    if not names:
        raise GeneratorError(
            f"{location} holds no file: name a folder, an s3:// prefix or a file with logs of shims or edges"
        )
    for name in sorted(names):
        if name.endswith(".gz") and name.removesuffix(".gz") in names:
            continue  # while a file is packed, both are there, and the packed one is not complete
        address = f"{store.location}/{name}"
        path = store.local_path(name)
        if path is None:  # in a bucket; a file that is in two locations has one copy
            path = scratch / f"{sha256(address.encode()).hexdigest()}{Path(name).suffix}"
            path.write_bytes(store.get(name))
        if path.is_file():
            yield str(path.resolve()), address
