"""Attaches the DuckLake catalogue of a service, as a user's program does. Run as a process of its own:

    python tests/support/ducklake_reader.py rows FOLDER KEY       every row of every table in every snapshot, as JSON
    python tests/support/ducklake_reader.py FILE FOLDER KEY       the statements of FILE, and the rows of each, as JSON

FOLDER is the address of the bulk files. `tests/bulk-clients.in` names the libraries.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

CLIENTS = Path(os.environ.get("CARDPRESS_TEST_CLIENTS", Path(__file__).parents[2] / ".venv" / "bulk-clients"))
EXTENSION = CLIENTS / "duckdb_extension_ducklake"


def attached(what: str | Path, folder: str, key: str = ""):
    return printed(__file__, str(what), folder, key)


def printed(*program: str):
    """Return the JSON that a program prints, run as a process of its own with the clients."""
    result = subprocess.run(
        [sys.executable, *program],
        env=os.environ | {"PYTHONPATH": str(CLIENTS)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return json.loads(result.stdout)


def connect(folder: str, key: str):
    import duckdb

    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for extension in ("httpfs", "ducklake"):
        [found] = Path(duckdb.__file__).parents[1].rglob(f"{extension}.duckdb_extension")
        connection.execute(f"load '{found}'")
    if folder.startswith("s3://"):
        place = os.environ["AWS_ENDPOINT_URL"].removeprefix("http://")
        names = {"key_id": "AWS_ACCESS_KEY_ID", "secret": "AWS_SECRET_ACCESS_KEY"}
        login = ", ".join(f"{name} '{os.environ[variable]}'" for name, variable in names.items())
        connection.execute(f"create secret (type s3, {login}, endpoint '{place}', url_style 'path', use_ssl false)")
    elif key:
        connection.execute(f"create secret (type http, bearer_token '{key}')")
    connection.execute(f"attach 'ducklake:{folder}/catalog.ducklake' as cards (read_only, data_path '{folder}/')")
    return connection


def every_row(connection) -> dict:
    snapshots = (
        "select snapshot_id, strftime(snapshot_time at time zone 'UTC', '%Y-%m-%d %H:%M:%S') from cards.snapshots()"
    )
    tables = "select table_name from duckdb_tables() where database_name = 'cards' order by 1"
    names = [name for (name,) in connection.execute(tables).fetchall()]
    found = {}
    for number, moment in connection.execute(f"{snapshots} order by 1").fetchall():
        by_time = f"timestamp => '{moment}+00'::timestamptz"
        found[moment] = {name: rows(connection, f"from cards.{name} at (version => {number})") for name in names}
        for name in names:
            [(count,)] = connection.execute(f"select count(*) from cards.{name} at ({by_time})").fetchall()
            assert count == len(found[moment][name])
    assert found[moment] == {name: rows(connection, f"from cards.{name}") for name in names}
    return found


def rows(connection, query: str) -> list[dict]:
    result = connection.execute(query)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def main(what: str, folder: str, key: str = "") -> None:
    connection = connect(folder, key)
    if what == "rows":
        answer = every_row(connection)
    else:
        statements = Path(what).read_text("utf-8").split(";\n")
        answer = [rows(connection, statement) for statement in statements if statement.strip()]
    print(json.dumps(answer, default=str))


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file holds modules with names of libraries
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)
