"""DuckDB attaches the catalogue of the bulk files by one address: every row of every table in every snapshot."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import pytest

from generator.demo.lake import write_demo
from tests.support.commands import build, issue, run
from tests.support.ducklake_reader import EXTENSION, attached
from tests.support.nginx import Nginx
from tests.support.oracle import Oracle, bulk
from tests.support.programs import needs
from tests.support.s3_servers import S3Server
from tests.support.service import ROOT, Client, Service

needs_extension = pytest.mark.skipif(not EXTENSION.is_dir(), reason=f"no {EXTENSION} (make bulk-clients)")
BULK = "/api/v1/bulk"
LIVE = f"{BULK}/catalog.ducklake"
PRICES = ("price_guide", "listings", "filtered")

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def bulk_client(fixed_service: Service, fixed_store: Path) -> Client:
    return fixed_service.client(issue(fixed_store, name="sql", rate_limit=100_000))


@pytest.fixture(scope="module")
def entry(bulk_client: Client) -> dict[str, Any]:
    [entry] = [file for file in bulk_client.get(BULK).json["files"] if file["table"] == "catalog"]
    return entry


def files_of(table: str, rows: Rows, as_of: date) -> Iterable[Rows]:
    """The rows of each file of a table: a month or, in the month of the as-of day, a day; or all."""
    if table not in PRICES:
        return [rows]
    span = lambda row: (row["day"].year, row["day"].month, row["day"].day if is_open(row["day"]) else 0)  # noqa: E731
    is_open = lambda day: (day.year, day.month) == (as_of.year, as_of.month)  # noqa: E731
    return [list(some) for _, some in groupby(sorted(rows, key=span), key=span)]


def snapshots_of(oracle: Oracle, as_of: date) -> dict[str, dict[str, Rows]]:
    """Every snapshot by its time, with the rows of its tables."""
    files = [
        (table, max((row["day"] for row in some), default=None) if some and "day" in some[0] else None, some)
        for table in bulk.COLUMNS
        for some in files_of(table, bulk.rows(oracle.lake, table), as_of)
    ]
    return {
        f"{end} 00:00:00": {
            table: [
                row for name, last, some in files if name == table and (last is None or last <= end) for row in some
            ]
            for table in bulk.COLUMNS
        }
        for end in sorted({last for _, last, _ in files if last})
    }


def comparable(rows: Rows) -> list[str]:
    return sorted(json.dumps(row, default=str) for row in rows)


def check_every_row(found: dict[str, dict[str, Rows]], oracle: Oracle, as_of: date) -> None:
    expected = snapshots_of(oracle, as_of)
    assert list(found) == list(expected) and len(found) > 3
    for moment, tables in expected.items():
        assert set(found[moment]) == {name for name, rows in tables.items() if rows or name in found[moment]}
        for name, rows in tables.items():
            assert comparable(found[moment].get(name, [])) == comparable(rows), (moment, name)


@needs_extension
def test_every_row_of_every_snapshot(bulk_client: Client, fixed_oracle: Oracle, live_build: str) -> None:
    found = attached("rows", f"http://127.0.0.1:{bulk_client.port}{BULK}", bulk_client.key)
    check_every_row(found, fixed_oracle, date.fromisoformat(live_build[:10]))


def test_the_catalogue_is_a_bulk_file(bulk_client: Client, entry: dict[str, Any]) -> None:
    others = [file for file in bulk_client.get(BULK).json["files"] if file["format"] == "parquet"]
    assert entry["format"] == "ducklake" and entry["name"] == f"catalog-{entry['sha256'][:12]}.ducklake"
    assert entry["records"] == sum(file["records"] for file in others)
    assert (entry["columns"], entry["sorted_by"], entry["first_day"], entry["last_day"]) == ([], [], None, None)
    named, live = bulk_client.get(entry["url"]), bulk_client.get(LIVE)
    assert named.body == live.body and len(live.body) == entry["bytes"] < 1_000_000
    assert hashlib.sha256(live.body).hexdigest() == entry["sha256"]
    assert named["Content-Type"] == live["Content-Type"] == "application/octet-stream"
    assert named["ETag"] == live["ETag"] and live["Accept-Ranges"] == "bytes"
    assert named["Cache-Control"] == "private, max-age=31536000, immutable"
    assert live["Cache-Control"] == "private, no-cache" and live["Vary"] == "Authorization, X-API-Key"
    assert live["X-RateLimit-Limit"] == "1000000" and live["Content-Encoding"] is None


def test_requests_for_parts_of_the_live_catalogue(bulk_client: Client, entry: dict[str, Any]) -> None:
    whole = bulk_client.get(LIVE)
    part = bulk_client.get(LIVE, Range="bytes=8-4103")
    assert (part.status, part.body) == (206, whole.body[8:4104])
    assert part["Content-Range"] == f"bytes 8-4103/{entry['bytes']}"
    assert part["Cache-Control"] == "private, no-cache"
    unchanged = bulk_client.get(LIVE, If_None_Match=whole["ETag"])
    assert (unchanged.status, unchanged.body, unchanged["Cache-Control"]) == (304, b"", "private, no-cache")
    head = bulk_client.send("HEAD", LIVE)
    assert (head.status, head.body, head["Content-Length"]) == (200, b"", str(entry["bytes"]))
    assert bulk_client.get(LIVE, Range=f"bytes={entry['bytes']}-").status == 416
    assert bulk_client.get(LIVE, X_Build="2026-01-01-000000000000").status == 200


def test_the_live_catalogue_needs_a_key_with_the_scope(fixed_service: Service, keys: dict[str, str]) -> None:
    assert fixed_service.client("").get(LIVE).status == 401
    assert fixed_service.client(keys["cards"]).get(LIVE).status == 403


@needs_extension
@needs("nginx")
@pytest.mark.thorough
def test_a_plain_host_of_an_exported_tree(
    fixed_store: Path, fixed_oracle: Oracle, live_build: str, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    run("export", tree, "--gzip", "--store", fixed_store)
    with Nginx.of_files(tmp_path / "nginx", tree) as host:
        found = attached("rows", f"http://127.0.0.1:{host.port}{BULK}")
    check_every_row(found, fixed_oracle, date.fromisoformat(live_build[:10]))


@needs_extension
@pytest.mark.xdist_group("s3")
@pytest.mark.thorough
def test_a_bucket_with_an_exported_tree(
    servers: Callable[[str], S3Server],
    fixed_store: Path,
    fixed_oracle: Oracle,
    live_build: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = servers("moto")
    server.enter(monkeypatch)
    bucket = server.bucket()
    run("export", f"s3://{bucket}/tree", "--store", fixed_store)
    head = server.client().head_object(Bucket=bucket, Key=f"tree{LIVE}")
    assert (head["ContentType"], head["CacheControl"]) == ("application/octet-stream", "no-cache")
    found = attached("rows", f"s3://{bucket}/tree{BULK}")
    check_every_row(found, fixed_oracle, date.fromisoformat(live_build[:10]))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sql")
    write_demo(folder / "lake", products=300, days=45, seed=1)
    build(folder / "lake", folder / "store")
    return folder


@needs_extension
@pytest.mark.thorough
def test_the_queries_of_the_recipes(demo: Path) -> None:
    attach, *queries = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "sql.md").read_text("utf-8"), re.DOTALL)
    assert "ATTACH 'ducklake:https://cards.example/api/v1/bulk/catalog.ducklake' AS cards" in attach
    guide = f"read_parquet('{demo}/lake/price_guide/*/*.parquet')"
    priced = duckdb.sql(f"select distinct id_product from {guide} where trend > 1 order by 1 limit 5").fetchall()
    ids = [id_ for (id_,) in priced]
    (demo / "collection.csv").write_text("id_product,copies\n" + "".join(f"{id_},2\n" for id_ in ids))
    statements = "".join(queries).replace("collection.csv", f"{demo}/collection.csv").replace("900007", str(ids[0]))
    (demo / "queries.sql").write_text(statements, "utf-8")
    key = issue(demo / "store", rate_limit=100_000)
    with Service(demo / "store", demo / "state") as service:
        found = attached(demo / "queries.sql", f"http://127.0.0.1:{service.port}{BULK}", key)
    _, moves, value, curve, product, [known] = found
    days = [str(day) for (day,) in duckdb.sql(f"select distinct day from {guide} order by 1").fetchall()]
    assert len(moves) == 10 and all(moves[0].values()) and len(product) > 30
    assert [row["day"] for row in value] == [row["day"] for row in curve] == days
    totals = f"select 2 * sum(round(trend, 2)) from {guide} where id_product in {tuple(ids)} group by day order by day"
    expected = [total for (total,) in duckdb.sql(totals).fetchall()]
    assert [row["value"] for row in curve] == pytest.approx(expected, abs=0.01) and "█" in curve[-1]["curve"]
    assert known["newest"] == "2025-12-05" and known["prices"] > 1000
