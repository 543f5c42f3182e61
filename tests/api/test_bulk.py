"""Bulk files over HTTP: their rows against the oracle, ranges, validators, limits, and which builds they come from."""

import csv
import gzip
import hashlib
import io
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.commands import issue, run
from tests.support.oracle import Oracle, bulk
from tests.support.service import Client, HttpAnswer, Service
from tests.support.spreadsheets import csv_rows

BULK = "/api/v1/bulk"
TYPES = {"int64": "BIGINT", "double": "DOUBLE", "string": "VARCHAR"}
TYPES |= {"date32[day]": "DATE", "timestamp[us]": "TIMESTAMP"}
MEMBERS = ["name", "table", "format", "bytes", "records", "sha256", "columns"]
MEMBERS += ["sorted_by", "first_day", "last_day", "url"]
FILE_NAME = re.compile(r"([a-z_]+?)(?:-\d{4}-\d\d(?:-\d\d)?)?-([0-9a-f]{12})\.(parquet|jsonl\.gz|csv\.gz|ducklake)")


@pytest.fixture(scope="module")
def bulk_client(fixed_service: Service, fixed_store: Path) -> Client:
    return fixed_service.client(issue(fixed_store, name="bulk", rate_limit=100_000))


@pytest.fixture(scope="module")
def files(bulk_client: Client) -> list[dict]:
    return bulk_client.get(BULK).json["files"]


@pytest.fixture(scope="module")
def file(files: list[dict]) -> dict:
    """The largest one."""
    return max(files, key=lambda file: file["bytes"])


def test_the_manifest_tells_what_the_files_hold(bulk_client: Client, files: list[dict]) -> None:
    manifest = bulk_client.get(BULK)
    assert list(manifest.json) == ["build", "as_of", "files"]
    assert manifest["X-Build"] == manifest.json["build"] and manifest["Cache-Control"] == "private, no-cache"
    assert [file["name"] for file in files] == sorted(file["name"] for file in files)
    for file in files:
        got = bulk_client.get(file["url"])
        assert list(file) == MEMBERS and file["url"] == f"{BULK}/{file['name']}"
        table, digits, format_ = FILE_NAME.fullmatch(file["name"]).groups()
        assert (table, format_, len(got.body)) == (file["table"], file["format"], file["bytes"])
        assert hashlib.sha256(got.body).hexdigest() == file["sha256"] and file["sha256"].startswith(digits)
        if format_ == "parquet":
            parquet = pq.ParquetFile(io.BytesIO(got.body))
            schema = parquet.schema_arrow
            assert [[field.name, TYPES[str(field.type)]] for field in schema] == file["columns"]
            assert (parquet.metadata.num_rows, schema.names) == (file["records"], bulk.COLUMNS[table].split())
            days = parquet.read(["day"])["day"].to_pylist() if "day" in schema.names else []
            first_and_last = [str(min(days)), str(max(days))] if days else [None, None]
            assert [file["first_day"], file["last_day"]] == first_and_last


def test_every_table_has_the_rows_of_the_oracle(
    bulk_client: Client, files: list[dict], fixed_oracle: Oracle, live_build: str
) -> None:
    for table in bulk.COLUMNS:
        bodies = [bulk_client.get(file["url"]).body for file in files if file["table"] == table]
        rows = [pq.read_table(io.BytesIO(body)).to_pylist() for body in bodies]
        by = ("id_product", "slug", "id", "game", "id_expansion", "day", "scheme", "value")
        key = lambda row, by=by: [(row[name] is not None, row[name]) for name in by if name in row]  # noqa: E731
        assert all(part == sorted(part, key=key) for part in rows)
        assert sorted((row for part in rows for row in part), key=key) == bulk.rows(fixed_oracle.lake, table), table


def test_the_table_for_spreadsheets_has_the_rows_of_the_oracle(
    bulk_client: Client, files: list[dict], fixed_oracle: Oracle
) -> None:
    [file] = [file for file in files if file["table"] == "prices"]
    data = bulk_client.get(file["url"]).body
    assert data[:10] == b"\x1f\x8b\x08" + bytes(5) + data[8:9] + b"\xff", "no name, no time and no system"
    text, expected = gzip.decompress(data).decode(), csv_rows(fixed_oracle.lake)
    assert list(csv.reader(io.StringIO(text, newline=""))) == expected and "\r\n" not in text
    assert [name for name, _ in file["columns"]] == expected[0] and file["sorted_by"] == ["id_product"]
    days = sorted(row[expected[0].index("day")] for row in expected[1:])
    assert (file["records"], file["first_day"], file["last_day"]) == (len(days), days[0], days[-1])


def test_months_before_the_as_of_days_are_one_file(files: list[dict], live_build: str) -> None:
    for file in files:
        if file["table"] in ("price_guide", "listings", "filtered"):
            span = re.search(r"-(\d{4}-\d\d(?:-\d\d)?)-", file["name"])[1]
            assert file["records"] > 0 and file["first_day"].startswith(span[:7])
            assert (len(span) == 10) == (span[:7] == live_build[:7])


def test_cards_are_the_lines_of_the_list(bulk_client: Client, files: list[dict], fixed_oracle: Oracle) -> None:
    [file] = [file for file in files if file["table"] == "cards"]
    data = bulk_client.get(file["url"]).body
    assert data[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00" + data[8:10], "no name and no time"
    text = gzip.decompress(data).decode()
    lines = text.split("\n")[:-1]
    assert text.endswith("}\n") and len(lines) == file["records"]
    assert [json.loads(line) for line in lines] == [
        fixed_oracle.cards.card(id_) for id_ in sorted(fixed_oracle.lake.products)
    ]
    listed = bulk_client.get("/api/v1/cards?limit=3").text
    assert all(line in listed for line in lines if json.loads(line) in json.loads(listed)["data"])


def test_headers_of_a_file(bulk_client: Client, file: dict) -> None:
    got = bulk_client.get(file["url"], Accept_Encoding="gzip", X_Build="2026-01-01-000000000000")
    head = bulk_client.send("HEAD", file["url"], {"Range": "bytes=0-1"})
    for answer in (got, head):
        assert answer.status == 200 and answer["Content-Length"] == str(file["bytes"])
        assert answer["Accept-Ranges"] == "bytes" and re.fullmatch('"[^"]+"', answer["ETag"])
        assert answer["Cache-Control"] == "private, max-age=31536000, immutable"
        assert answer["Vary"] == "Authorization, X-API-Key" and answer["X-RateLimit-Limit"] == "1000000"
        assert answer["Content-Encoding"] is None and answer["X-Build"] is None and answer["Content-Range"] is None
    assert head.body == b"" and head["ETag"] == got["ETag"]
    refused = bulk_client.send("POST", file["url"])
    assert (refused.status, refused["Allow"]) == (405, "GET, HEAD")
    assert bulk_client.send("HEAD", BULK).status == 405


def ranged(client: Client, file: dict, range_: str, **more: str) -> HttpAnswer:
    return client.get(file["url"], Range=range_, **more)


@pytest.mark.parametrize(
    ("range_", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=5-", 5, None),
        ("bytes=-7", -7, None),
        ("bytes=10-999999999999999999999999", 10, None),
        (f"bytes=-{'9' * 5000}", 0, None),
        (f"bytes={'0' * 5000}3-0004", 3, 4),
        ("BYTES=1-2", 1, 2),
    ],
)
def test_one_range_gives_a_part(bulk_client: Client, file: dict, range_: str, first: int, last: int | None) -> None:
    whole, size = bulk_client.get(file["url"]).body, file["bytes"]
    got = ranged(bulk_client, file, range_)
    start, end = first % size, size if last is None else last + 1
    assert got.status == 206 and got.body == whole[start:end]
    assert got["Content-Range"] == f"bytes {start}-{end - 1}/{size}" and got["Content-Length"] == str(end - start)


@pytest.mark.parametrize(
    "range_",
    ["", "bytes=", "bytes=-", "bytes=2-1", "bytes=0-0,2-3", "bytes=a-b", "items=0-1", "bytes 0-1", "bytes=١-٢"],
)
def test_another_range_is_ignored(bulk_client: Client, file: dict, range_: str) -> None:
    got = bulk_client.get(file["url"], Range=range_.encode())
    assert (got.status, len(got.body), got["Content-Range"]) == (200, file["bytes"], None)


@pytest.mark.parametrize("range_", ["bytes={size}-", "bytes=-0", "bytes={size}-{size}", f"bytes={'9' * 5000}-"])
def test_a_range_beyond_the_end(bulk_client: Client, file: dict, range_: str) -> None:
    got = ranged(bulk_client, file, range_.format(size=file["bytes"]))
    assert (got.status, got.code) == (416, "range_not_satisfiable")
    assert got["Content-Range"] == f"bytes */{file['bytes']}" and got["Cache-Control"] == "no-store"


def test_validators_come_before_ranges(bulk_client: Client, file: dict) -> None:
    tag = bulk_client.get(file["url"])["ETag"]
    for named in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        unchanged = ranged(bulk_client, file, "bytes=0-0", If_None_Match=named)
        assert (unchanged.status, unchanged.body, unchanged["ETag"]) == (304, b"", tag)
    assert ranged(bulk_client, file, "bytes=0-0", If_None_Match='"other"').status == 206
    assert ranged(bulk_client, file, "bytes=0-0", If_Range=tag).status == 206
    for other in ('"other"', f"W/{tag}", "Sun, 22 Nov 2026 00:00:00 GMT", ""):
        assert ranged(bulk_client, file, "bytes=0-0", If_Range=other).status == 200


def test_a_part_of_another_file_is_refused(bulk_client: Client, file: dict) -> None:
    """Halves of two files are neither."""
    tag = bulk_client.get(file["url"])["ETag"]
    for right in (tag, f'"0", {tag}', "*"):
        assert ranged(bulk_client, file, "bytes=0-0", If_Match=right).status == 206
    for other in ('"0"', f"W/{tag}", "", "0"):
        refused = ranged(bulk_client, file, "bytes=0-0", If_Match=other, If_None_Match=tag)
        assert (refused.status, refused.code) == (412, "precondition_failed"), "it comes before If-None-Match"
        assert refused["Access-Control-Allow-Origin"] == "*" and refused["X-RateLimit-Limit"]
    assert bulk_client.get(BULK, If_Match='"0"').status == 200, "other answers come whole"


def test_refusals_and_the_window_of_their_own(fixed_service: Service, fixed_store: Path, file: dict) -> None:
    client = fixed_service.client(issue(fixed_store, name="narrow", rate_limit=1))
    unknown = client.get(f"{BULK}/sets-000000000000.parquet")
    assert (unknown.status, unknown.code, unknown["X-RateLimit-Limit"]) == (404, "not_found", "10")
    assert client.get(f"{BULK}/../keys.json").status == 404
    assert client.get(f"{file['url']}?limit=1").code == "invalid_parameter"
    answers = [client.get(file["url"], Range="bytes=0-0").status for _ in range(22)]
    assert 429 in answers and client.get("/api/v1/me").status == 200, "other requests count on their own"
    scoped = fixed_service.client(issue(fixed_store, "cards:read", name="cards only"))
    assert {scoped.get(target).code for target in (BULK, file["url"])} == {"insufficient_scope"}
    assert fixed_service.client().get(file["url"]).code == "unauthorized"


def test_export_and_cat_give_the_same_bytes(fixed_store: Path, bulk_client: Client, file: dict, tmp_path: Path) -> None:
    run("export", tmp_path / "tree", "--store", fixed_store)
    exported = tmp_path / "tree" / "api" / "v1"
    assert (exported / "bulk" / file["name"]).read_bytes() == bulk_client.get(file["url"]).body
    assert (exported / "bulk.json").read_bytes() == bulk_client.get(BULK).body
    [prices] = [file for file in bulk_client.get(BULK).json["files"] if file["table"] == "prices"]
    assert (exported / "prices.csv").read_bytes() == gzip.decompress(bulk_client.get(prices["url"]).body)
    listed = {file["name"] for file in bulk_client.get(BULK).json["files"]}
    assert {path.name for path in (exported / "bulk").iterdir()} == listed | {"catalog.ducklake"}
