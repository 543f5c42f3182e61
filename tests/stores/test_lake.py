"""A lake in a bucket: every command reaches the same server, however it is named."""

import os
from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.s3_fixtures import on_s3
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
