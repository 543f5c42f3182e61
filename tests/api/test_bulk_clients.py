"""Clients that people have: curl resumes a download, and DuckDB reads a product over HTTP.

DuckDB's extension `httpfs` comes as a package for each version of DuckDB, and not yet for the version of the product.
So the client is an older DuckDB in a folder of its own, which the variable CARDPRESS_TEST_DUCKDB names:

    pip install --no-deps --target /tmp/duckdb duckdb==1.5.5 duckdb-extension-httpfs==1.5.5
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import issue
from tests.support.oracle import Oracle, bulk
from tests.support.service import Client, Service

DUCKDB = """
import glob, json, sys
sys.path.insert(0, sys.argv[1])
import duckdb
[extension] = glob.glob(sys.argv[1] + "/**/httpfs.duckdb_extension", recursive=True)
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.execute(f"load '{extension}'")
connection.execute(f"create secret (type http, bearer_token '{sys.argv[2]}')")
query = f"select day::text, low, trend from '{sys.argv[3]}' where id_product = $1 order by day"
rows = connection.execute(query, [int(sys.argv[4])])
print(json.dumps(rows.fetchall()))
described = connection.execute(f"describe select * from '{sys.argv[3]}'").fetchall()
print(json.dumps([row[:2] for row in described]))
"""


@pytest.fixture(scope="module")
def key(fixed_service: Service, fixed_store: Path) -> str:
    return issue(fixed_store, name="bulk clients", rate_limit=100_000)


@pytest.fixture(scope="module")
def file(fixed_service: Service, key: str) -> dict:
    files = fixed_service.client(key).get("/api/v1/bulk").json["files"]
    return max((file for file in files if file["table"] == "price_guide"), key=lambda file: file["records"])


def url(service: Service, file: dict) -> str:
    return f"http://127.0.0.1:{service.port}{file['url']}"


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl")
def test_curl_resumes_a_broken_download(fixed_service: Service, key: str, file: dict, tmp_path: Path) -> None:
    content = fixed_service.client(key).get(file["url"]).body
    begun = tmp_path / file["name"]
    begun.write_bytes(content[:1000])
    command = ["curl", "-sS", "--fail", "-C", "-", "-O", "-w", "%{http_code} %{size_download}"]
    done = subprocess.run(
        [*command, "-H", f"Authorization: Bearer {key}", url(fixed_service, file)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout == f"206 {len(content) - 1000}"
    assert begun.read_bytes() == content


@pytest.mark.skipif("CARDPRESS_TEST_DUCKDB" not in os.environ, reason="no DuckDB with httpfs (see the module)")
def test_duckdb_reads_a_product(fixed_service: Service, key: str, file: dict, fixed_oracle: Oracle) -> None:
    rows = [row for row in bulk.rows(fixed_oracle.lake, "price_guide") if str(row["day"])[:7] == file["first_day"][:7]]
    id_ = rows[0]["id_product"]
    arguments = [os.environ["CARDPRESS_TEST_DUCKDB"], key, url(fixed_service, file), str(id_)]
    done = subprocess.run(
        [sys.executable, "-c", DUCKDB, *arguments], capture_output=True, text=True, timeout=60, check=True
    )
    found, described = map(json.loads, done.stdout.splitlines())
    assert found == [[str(row["day"]), row["low"], row["trend"]] for row in rows if row["id_product"] == id_]
    assert described == file["columns"]


def test_a_head_tells_what_a_client_needs_before_it_reads(fixed_service: Service, key: str, file: dict) -> None:
    client: Client = fixed_service.client(key)
    head = client.send("HEAD", file["url"])
    assert (head.status, head["Content-Length"], head["Accept-Ranges"]) == (200, str(file["bytes"]), "bytes")
