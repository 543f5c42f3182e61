"""A lake in a bucket: every command reaches the same server, however it is named."""

import os
from pathlib import Path

import pytest

from generator.storage.builds import live_build_id
from generator.storage.stores.open import open_store
from tests.support.commands import build, run
from tests.support.nights import FIRST_DAY, demo_lake
from tests.support.s3_fixtures import on_s3
from tests.support.s3_gate import HabitGate
from tests.support.s3_servers import OWNER, SECRET, S3Server

pytestmark = on_s3


@pytest.fixture
def profile(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name server and credentials in a profile alone."""
    config = tmp_path / "config"
    config.write_text(
        f"[profile cards]\naws_access_key_id = {OWNER}\naws_secret_access_key = {SECRET}\n"
        f"region = us-east-1\nendpoint_url = {server.endpoint}\n"
    )
    for name in server.environment():
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_PROFILE", "cards")


def test_imports_write_to_the_server_of_the_profile(profile: None, server: S3Server, tmp_path: Path) -> None:
    bucket, table = server.bucket(), tmp_path / "expansions.csv"
    table.write_text("id,name,game\n7,Seven,Game\n")
    run("ingest", "expansions", table, "--lake", f"s3://{bucket}/lake")
    [entry] = server.client().list_objects_v2(Bucket=bucket)["Contents"]
    assert entry["Key"] == "lake/expansions-cardmarket.parquet"
    head = server.client().head_object(Bucket=bucket, Key=entry["Key"])
    assert "sha256" in head["Metadata"], "a build need not read the file to know its hash"


NIGHTS = ("page=3", "quoted")


@pytest.mark.thorough
@pytest.mark.parametrize("server", ["moto"], indirect=True)
def test_nights_with_lake_and_store_in_a_bucket(
    server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each night the server has another habit. At the end the store is as that of the same nights in folders."""
    bucket, folder, page = server.bucket(), tmp_path / "lake", tmp_path / "page.jsonl"
    lake, store, table = f"s3://{bucket}/lake", f"s3://{bucket}/store", tmp_path / "expansions.csv"
    for night in range(int(os.environ.get("NIGHTS", 4))):
        habit = NIGHTS[night % len(NIGHTS)]
        demo_lake(folder, 2 + night, 40)
        for path in (path for path in folder.rglob("*") if path.is_file()):
            server.client().upload_file(str(path), bucket, f"lake/{path.relative_to(folder)}")
        with HabitGate(server.endpoint, habit) as gate:
            monkeypatch.setenv("AWS_ENDPOINT_URL", gate.endpoint)
            table.write_text(f"id,name,game\n{900_000 + night},Set {night},Game\n")
            run("ingest", "expansions", table, "--lake", lake)
            if night % 5 == 1:
                page.write_text(f'{{"id": 1, "scraped_at": "{FIRST_DAY}T23:59:59Z", "available": 3}}\n')
                run("ingest", "list-pages", page, "--lake", lake)
                run("ingest", "withdraw", FIRST_DAY, "--table", "listings", "--lake", lake)
            run("nightly", "--lake", lake, "--store", store, "--no-pages", "--keep", 2, "--grace", 0)
            assert "no file is in quarantine" in run("quarantine", "list", "--store", store).stderr
            assert "all match their hashes" in run("verify", "--store", store).stdout
            builds = run("builds", "--store", store).stdout.splitlines()
            assert len(builds) <= 3, f"night {night}, {habit}: nothing was pruned"
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
        run("ingest", "expansions", table, "--lake", folder)
    live = live_build_id(open_store(store))
    assert live == build(folder, tmp_path / "store"), "a lake in a bucket is the same lake"
