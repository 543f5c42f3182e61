"""Clients that people have: curl resumes a download; DuckDB, pyarrow and pandas read one product over HTTP.

DuckDB's extension `httpfs` comes as a package for each version of DuckDB, and not yet for the version of the product.
So these clients are in a folder of their own, which `make bulk-clients` fills.
"""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from edge_auth.api.bulk import MAX_READ_BYTES
from tests.support import bulk_readers, ducklake_reader, many_prices
from tests.support.commands import build, issue
from tests.support.programs import needs
from tests.support.service import Client, Service, until

PRODUCTS, ONE = 4000, 2345


@pytest.fixture(scope="module")
def key(fixed_service: Service, fixed_store: Path) -> str:
    return issue(fixed_store, name="bulk clients", rate_limit=100_000)


@pytest.fixture(scope="module")
def file(fixed_service: Service, key: str) -> dict:
    files = fixed_service.client(key).get("/api/v1/bulk").json["files"]
    return max((file for file in files if file["table"] == "price_guide"), key=lambda file: file["records"])


def url(service: Service, file: dict) -> str:
    return f"http://127.0.0.1:{service.port}{file['url']}"


@needs("curl")
def test_curl_resumes_a_broken_download(fixed_service: Service, key: str, file: dict, tmp_path: Path) -> None:
    content = fixed_service.client(key).get(file["url"]).body
    begun = tmp_path / file["name"]
    begun.write_bytes(content[:1000])
    command = ["curl", "-sS", "--fail", "-C", "-", "-O", "-w", "%{http_code} %{size_download}"]
    result = subprocess.run(
        [*command, "-H", f"Authorization: Bearer {key}", url(fixed_service, file)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stdout == f"206 {len(content) - 1000}"
    assert begun.read_bytes() == content


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a lake and its store. The file of the closed month has four groups of rows."""
    folder = tmp_path_factory.mktemp("clients")
    build(many_prices.write(folder / "lake", PRODUCTS, 20), folder / "store")
    return folder


@pytest.fixture(scope="module")
def reading(catalogue: Path) -> Iterator[Client]:
    """Start a shim of one worker, so that its log is in the order of the requests."""
    key = issue(catalogue / "store")
    with Service(catalogue / "store", catalogue / "state") as service:
        client = service.client(key)
        client.log = service.log
        yield client


def requests_until(client: Client, last: str) -> list[dict]:
    """Return the logged requests for bulk files, up to a request with the id `last`."""
    client.get("/api/v1/me", X_Request_Id=last)
    until(lambda: f'"{last}"' in client.log.read_text(), 60, "the log is written")
    lines = (json.loads(line) for line in client.log.read_text().splitlines() if line.startswith("{"))
    return [line for line in lines if line.get("path", "").startswith("/api/v1/bulk/")]


@pytest.mark.xdist_group("bulk clients")  # one process: the lake is built once
@pytest.mark.skipif(not ducklake_reader.CLIENTS.is_dir(), reason=f"no {ducklake_reader.CLIENTS} (make bulk-clients)")
@pytest.mark.parametrize("reader", bulk_readers.READERS)
@pytest.mark.thorough
def test_one_product_is_read_by_ranges(reading: Client, catalogue: Path, reader: str) -> None:
    files = [file for file in reading.get("/api/v1/bulk").json["files"] if file["table"] == "price_guide"]
    month = max(files, key=lambda file: file["bytes"])
    before = len(requests_until(reading, f"before-{reader}"))
    urls = [f"http://127.0.0.1:{reading.port}{file['url']}" for file in files]
    rows = ducklake_reader.printed(bulk_readers.__file__, reader, reading.key, str(ONE), *urls)
    prices = f"read_parquet('{catalogue}/lake/price_guide/*/*.parquet')"
    expected = duckdb.sql(f"select day::text, low, trend from {prices} where id_product = {ONE} order by day")
    assert rows == [list(row) for row in expected.fetchall()]
    sent = [line for line in requests_until(reading, f"after-{reader}")[before:] if line["path"] == month["url"]]
    assert {line["status"] for line in sent if line["method"] == "GET"} == {206}
    assert len(sent) <= 12 and sum(line["bytes"] for line in sent) < month["bytes"] / 3, sent


@pytest.mark.xdist_group("bulk clients")
@pytest.mark.skipif(
    not ducklake_reader.EXTENSION.is_dir(), reason=f"no {ducklake_reader.EXTENSION} (make bulk-clients)"
)
@pytest.mark.thorough
def test_one_product_from_the_catalogue_takes_three_requests_a_file(reading: Client, catalogue: Path) -> None:
    files = [file for file in reading.get("/api/v1/bulk").json["files"] if file["table"] == "price_guide"]
    before = len(requests_until(reading, "before-catalogue"))
    (catalogue / "one.sql").write_text(
        f"select * from cards.price_guide where id_product = {ONE} order by day", "utf-8"
    )
    [rows] = ducklake_reader.attached(
        catalogue / "one.sql", f"http://127.0.0.1:{reading.port}/api/v1/bulk", reading.key
    )
    prices = f"read_parquet('{catalogue}/lake/price_guide/*/*.parquet')"
    [(days,)] = duckdb.sql(f"select count(*) from {prices} where id_product = {ONE}").fetchall()
    assert len(rows) == days
    sent = requests_until(reading, "after-catalogue")[before:]
    asked = Counter(line["path"].rsplit("/", 1)[1] for line in sent)
    assert max(asked[file["name"]] for file in files) == 3  # the footer, the ids of a group, its other columns
    assert asked["catalog.ducklake"] <= 14 and len(sent) == asked["catalog.ducklake"] + 3 * len(files) + 1  # its WAL
    of_files = sum(line["bytes"] for line in sent if "price_guide" in line["path"])
    assert of_files < sum(file["bytes"] for file in files) / 3


@pytest.mark.thorough
def test_the_log_has_the_size_of_a_stream(reading: Client) -> None:
    file = max(reading.get("/api/v1/bulk").json["files"], key=lambda file: file["bytes"])
    assert file["bytes"] > MAX_READ_BYTES and len(reading.get(file["url"]).body) == file["bytes"]
    assert requests_until(reading, "after-stream")[-1]["bytes"] == file["bytes"]
