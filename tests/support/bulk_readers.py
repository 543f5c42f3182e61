"""Reads the prices of one product from served bulk files, as a user's program does. Run as a process of its own:

    python tests/support/bulk_readers.py READER KEY ID URL...

It prints the rows as JSON, sorted by day: [day, low, trend]. `tests/bulk-clients.in` names the libraries.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

COLUMNS = ["day", "low", "trend"]
BLOCK_BYTES = 64 << 10  # fsspec would fetch blocks of 5 MB


def with_duckdb(key: str, id_: int, urls: list[str]) -> Iterable[tuple]:
    import duckdb

    [extension] = Path(duckdb.__file__).parents[1].rglob("httpfs.duckdb_extension")
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"load '{extension}'")
    connection.execute(f"create secret (type http, bearer_token '{key}')")
    query = "select day, low, trend from read_parquet($1) where id_product = $2 order by day"
    return connection.execute(query, [urls, id_]).fetchall()


def with_pyarrow(key: str, id_: int, urls: list[str]) -> Iterable[tuple]:
    import pyarrow.parquet as pq

    for file in opened(key, urls):
        table = pq.read_table(file, columns=COLUMNS, filters=[("id_product", "=", id_)])
        yield from zip(*table.to_pydict().values(), strict=True)


def with_pandas(key: str, id_: int, urls: list[str]) -> Iterable[tuple]:
    import pandas

    for file in opened(key, urls):
        frame = pandas.read_parquet(file, columns=COLUMNS, filters=[("id_product", "=", id_)])
        yield from frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)


def opened(key: str, urls: list[str]) -> Iterator[BinaryIO]:
    """Open files over HTTP with fsspec, which fetches the ranges that are read."""
    import fsspec

    files = fsspec.filesystem("http", headers={"Authorization": f"Bearer {key}"}, block_size=BLOCK_BYTES)
    for url in urls:
        with files.open(url) as file:
            yield file


READERS: dict[str, Callable[[str, int, list[str]], Iterable[tuple]]] = {
    "duckdb": with_duckdb,
    "pyarrow": with_pyarrow,
    "pandas": with_pandas,
}


def main(reader: str, key: str, id_: str, *urls: str) -> None:
    rows = READERS[reader](key, int(id_), list(urls))
    print(json.dumps(sorted([str(day), *values] for day, *values in rows)))


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file holds modules with names of libraries
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # a thread of Arrow that waits for Python at the interpreter's end can abort the process
