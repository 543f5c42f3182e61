"""FastAPI (uvicorn, uvloop) and PostgreSQL 15 with pg_trgm, both on the server's core; the data fits into memory."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.csv as pc
import pyarrow.parquet as pq

from bench.crawl import TABLES
from bench.peers import sql
from bench.peers.encoding import encoded
from bench.peers.peer import Peer

if TYPE_CHECKING:
    from fastapi import FastAPI

BIN = Path(os.environ.get("PG_BIN", "/usr/lib/postgresql/15/bin"))
_DIALECT = sql.Dialect("%({})s", "strpos(name_key, {}) > 0", nulls_last=True)
_TRIGRAM = sql.Dialect("%({})s", "name_key like {}", nulls_last=True)
_SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "1GB",
    "effective_cache_size": "8GB",
    "work_mem": "64MB",
    "maintenance_work_mem": "512MB",
    "random_page_cost": "1.1",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "autovacuum": "off",
    "fsync": "off",
}
_TYPES = {"id": "bigint", "offers": "bigint", "available": "bigint", "available_foil": "bigint", "newest_key": "bigint"}
_TEXTS = {"kind", "rarity", "number", "name_key", "number_key", "json", "day"}
_POOL_CONNECTIONS = 8


class FastapiPostgres(Peer):
    """FastAPI with a PostgreSQL database."""

    name = "FastAPI + PostgreSQL"
    offers = frozenset({"lists", "deep", "words", "details"})
    encodings = ("identity", "gzip")

    def lacks(self) -> str | None:
        if not (BIN / "postgres").exists():
            return "apt-get install postgresql-15"
        return None if find_spec("psycopg") and find_spec("fastapi") else "pip install 'cardpress[bench]'"

    def prepare(self) -> None:
        if not (self.data.folder / "pg.done").exists():
            _fill(self.data.folder)

    def command(self, port: int) -> list[str]:
        return [sys.executable, "-m", "bench.peers.fastapi_postgres", str(self.data.folder), str(port)]

    def files(self) -> Path:
        return self.data.folder / "pg"


def create(folder: str) -> "FastAPI":
    """Return the application. Its libraries are imported here, since they are optional."""
    from fastapi import FastAPI, Request, Response
    from psycopg_pool import AsyncConnectionPool

    detail = sql.detail_sql(_array, _DIALECT.marker)
    settings = {"prepare_threshold": None, "autocommit": True}
    pool = AsyncConnectionPool(
        _address(folder), kwargs=settings, min_size=_POOL_CONNECTIONS, max_size=_POOL_CONNECTIONS, open=False
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await pool.open(wait=True)
        yield
        await pool.close()

    app = FastAPI(lifespan=lifespan)

    def answer(request: Request, body: str | bytes) -> Response:
        data, headers = encoded(body, request.headers.get("Accept-Encoding"))
        return Response(data, media_type="application/json", headers=headers)

    async def cards(request: Request) -> Response:
        query = sql.list_query(request.query_params)
        values = query.parameters() | {f"w{n}": _pattern(word) for n, word in enumerate(query.words)}
        async with pool.connection() as connection:
            rows = await (await connection.execute(sql.list_sql(query, _TRIGRAM), values)).fetchall()
        return answer(request, sql.list_body([row[0] for row in rows], query))

    async def card(id_: int, request: Request) -> Response:
        values = {"id": id_, "since": sql.since(folder, request.query_params.get("days"))}
        async with pool.connection() as connection:
            row = await (await connection.execute(detail, values)).fetchone()
        return answer(request, sql.detail_body(*row))

    app.add_api_route("/api/v1/cards", cards)
    app.add_api_route("/api/v1/cards/{id_}", card)
    return app


def _pattern(word: str) -> str:
    return "%" + "".join("\\" + c if c in "\\%_" else c for c in word) + "%"


def _array(_: str, columns: tuple[str, ...]) -> str:
    fields = ", ".join(f"'{name}', {name}" for name in columns)
    return f"json_agg(json_build_object({fields}) order by day)::text"


def _address(folder: str | Path) -> str:
    return f"host={Path(folder) / 'socket'} dbname=postgres user={_owner()}"


def _owner() -> str:
    """Return the user that runs PostgreSQL, which refuses to run as root; Debian's package has a user for it."""
    return "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name


def _as_owner(command: list[str]) -> list[str]:
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", *command][
        0 if os.getuid() == 0 else 6 :
    ]


def _postgres(folder: Path) -> subprocess.Popen[bytes]:
    options = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    command = [str(BIN / "postgres"), "-D", str(folder / "pg"), "-k", str(folder / "socket"), *options]
    process = subprocess.Popen(_as_owner(command), cwd=folder)
    ready = [str(BIN / "pg_isready"), "-q", "-h", str(folder / "socket"), "-U", _owner(), "-d", "postgres"]
    while subprocess.run(ready).returncode and process.poll() is None:
        time.sleep(0.1)
    return process


def _fill(folder: Path) -> None:
    import psycopg

    for name in ("pg", "socket"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
        if os.getuid() == 0:
            shutil.chown(folder / name, "postgres", "postgres")
    (folder / "pg").chmod(0o700)
    initdb = [str(BIN / "initdb"), "-D", str(folder / "pg"), "--locale=C", "--encoding=UTF8", "-A", "trust", "-N"]
    subprocess.run(_as_owner(initdb), cwd=folder, check=True, stdout=subprocess.DEVNULL)
    process = _postgres(folder)
    try:
        with psycopg.connect(_address(folder), autocommit=True) as connection:
            for table in ("cards", *TABLES):
                _copy(connection, table, folder / f"{table}.parquet")
            connection.execute("create extension pg_trgm")
            connection.execute("create index names on cards using gin (name_key gin_trgm_ops)")
            for statement in sql.index_sql(_DIALECT):
                connection.execute(statement)
            connection.execute("vacuum analyze")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
    (folder / "pg.done").touch()


def _copy(connection: Any, table: str, file: Path) -> None:
    rows = pq.read_table(file)
    columns = [f"{name} {'text' if name in _TEXTS else _TYPES.get(name, 'float8')}" for name in rows.column_names]
    key = "primary key (id)" if table == "cards" else "primary key (id, day)"
    connection.execute(f"create table {table} ({', '.join(columns)}, {key})")
    with connection.cursor().copy(f"copy {table} from stdin (format csv)") as copy:
        pc.write_csv(rows, _Sink(copy), pc.WriteOptions(include_header=False))


class _Sink:
    """A file that writes into a COPY."""

    closed = False

    def __init__(self, copy: Any):
        self._copy = copy

    def write(self, data: bytes) -> int:
        self._copy.write(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def main(folder: str, port: str) -> None:
    """Serve until SIGTERM, with the database as a child process."""
    import uvicorn

    database = _postgres(Path(folder))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # uvicorn raises the signal again after it has stopped
    try:
        uvicorn.run(create(folder), port=int(port), loop="uvloop", http="httptools", access_log=False)
    finally:
        database.send_signal(signal.SIGINT)
        database.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
