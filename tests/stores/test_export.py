"""The static tree in a bucket: objects as a host of static files sends them."""

import gzip
import json
from datetime import datetime
from pathlib import Path

import pytest

from generator.errors import ExportError
from generator.releases.live_tree import update_live_tree
from generator.storage.builds import live_build_id, open_build
from generator.storage.errors import StoreError
from generator.storage.layout import STATUS_KEY, media_type
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.open import open_store
from generator.terminal import Progress
from generator.tree.documents import Documents
from generator.tree.export import ExportResult, Target, TreeRecord, export
from tests.support.commands import run
from tests.support.copies import copy_objects
from tests.support.lakes import Rows, write
from tests.support.nights import in_hours, make, published
from tests.support.s3_fixtures import on_s3
from tests.support.s3_proxy import ALWAYS, Proxy
from tests.support.s3_servers import S3Server

pytestmark = [*on_s3, pytest.mark.thorough]
RECORD = ".cardpress-export.json"
ONE = Rows(products=[{"id_product": 7, "name": "Only", "kind": "single"}], price_guide={"2026-03-01": []})


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[FolderStore, list[str]]:
    store, _, ids = published(tmp_path_factory.mktemp("tree"), 16, 18)
    return store, ids


def written(store: FolderStore, build: str, location: str) -> ExportResult:
    return export(open_build(store, build), location, gzip=False, progress=Progress(quiet=True))


def objects(server: S3Server, bucket: str) -> dict[str, dict]:
    pages = server.client().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix="tree/")
    return {entry["Key"].removeprefix("tree/"): entry for page in pages for entry in page.get("Contents", ())}


def modified(listed: dict[str, dict], name: str) -> datetime:
    return listed[name]["LastModified"]


def test_the_objects_are_those_of_a_folder_compressed(two, server: S3Server, tmp_path: Path) -> None:
    store, (first, second) = two
    bucket, client = server.bucket(), server.client()
    location = f"s3://{bucket}/tree"
    total = written(store, first, location).written
    before = objects(server, bucket)
    again = written(store, second, location)
    after = objects(server, bucket)
    rewritten = {name for name in after if name not in before or modified(after, name) != modified(before, name)}
    assert len(rewritten) <= again.written + 1 < total
    assert written(store, second, location).written == 0
    written(store, second, str(tmp_path / "tree"))
    files = {
        path.relative_to(tmp_path / "tree").as_posix() for path in (tmp_path / "tree").rglob("*") if path.is_file()
    }
    assert set(after) == files
    build = open_build(store, second)
    for name in sorted(files - {RECORD})[::5]:
        found = client.get_object(Bucket=bucket, Key=f"tree/{name}")
        if "/bulk/" in name:
            assert found["Body"].read() == (tmp_path / "tree" / name).read_bytes()
            assert found["ContentType"] in ("application/gzip", "application/vnd.apache.parquet")
            assert "ContentEncoding" not in found and "immutable" in found["CacheControl"]
            continue
        assert (found["ContentType"], found["ContentEncoding"]) == (media_type(name), "gzip")
        assert found["CacheControl"] == "no-cache"
        body = found["Body"].read()
        assert gzip.decompress(body) == (tmp_path / "tree" / name).read_bytes()
        key = name.removeprefix("api/v1/")
        if key.startswith(("fingerprints", "docs/")):  # copied from the pack
            layer, entry = build.find(key) or pytest.fail(key)
            assert body == layer.read_member(entry)
    status = client.get_object(Bucket=bucket, Key=f"tree/api/v1/{STATUS_KEY}")["Body"].read()
    assert json.loads(gzip.decompress(status))["build"]["id"] == second


def test_foreign_objects_and_gone_ones(two, server: S3Server) -> None:
    store, (first, _) = two
    bucket, client = server.bucket(), server.client()
    client.put_object(Bucket=bucket, Key="tree/mine", Body=b"mine")
    refused = run("export", f"s3://{bucket}/tree", "--store", store.location, status=1)
    assert "is not an empty folder and has no record" in refused.stderr
    client.delete_object(Bucket=bucket, Key="tree/mine")
    assert (
        "--gzip is for folders"
        in run("export", f"s3://{bucket}/tree", "--gzip", "--store", store.location, status=1).stderr
    )
    written(store, first, f"s3://{bucket}/tree")
    record = json.loads(client.get_object(Bucket=bucket, Key=f"tree/{RECORD}")["Body"].read())
    record["files"]["api/v1/gone.json"] = None
    client.put_object(Bucket=bucket, Key=f"tree/{RECORD}", Body=json.dumps(record).encode())
    client.put_object(Bucket=bucket, Key="tree/api/v1/gone.json", Body=b"{}")
    client.put_object(Bucket=bucket, Key="tree/mine", Body=b"mine")
    assert written(store, first, f"s3://{bucket}/tree").deleted == 1
    assert "mine" in objects(server, bucket) and "api/v1/gone.json" not in objects(server, bucket)


def test_an_export_that_breaks_off_is_completed_by_the_next(server: S3Server, proxy: Proxy, tmp_path: Path) -> None:
    store, bucket, fresh = FolderStore(str(tmp_path / "store")), server.bucket(), server.bucket()
    build = make(write(ONE, tmp_path / "lake"), store)
    proxy.break_next("deny", ALWAYS, after_writes=20)
    with pytest.raises(StoreError):
        written(store, build, f"s3://{bucket}/tree")
    begun = len(objects(server, bucket))
    proxy.break_next("", 0)
    written(store, build, f"s3://{bucket}/tree")
    assert 0 < begun < len(objects(server, bucket))
    written(store, build, f"s3://{fresh}/tree")
    assert {name: entry["ETag"] for name, entry in objects(server, bucket).items()} == {
        name: entry["ETag"] for name, entry in objects(server, fresh).items()
    }


def test_of_two_exports_at_once_one_is_refused(server: S3Server) -> None:
    location = f"s3://{server.bucket()}/tree"
    one, other = Target(location), Target(location)
    assert one.read_record() is None and other.read_record() is None
    one.write_record(TreeRecord("a"))
    with pytest.raises(ExportError, match="another export is writing"):
        other.write_record(TreeRecord("b"))


def test_a_tree_of_plain_objects_by_an_earlier_version_is_compressed(server: S3Server, tmp_path: Path) -> None:
    store, bucket, client = FolderStore(str(tmp_path / "store")), server.bucket(), server.client()
    build = make(write(ONE, tmp_path / "lake"), store)
    written(store, build, f"s3://{bucket}/tree")
    compressed = objects(server, bucket)
    record = json.loads(client.get_object(Bucket=bucket, Key=f"tree/{RECORD}")["Body"].read()) | {"plain": True}
    client.put_object(Bucket=bucket, Key=f"tree/{RECORD}", Body=json.dumps(record).encode())
    assert written(store, build, f"s3://{bucket}/tree").written == len(compressed) - 1
    assert objects(server, bucket).keys() == compressed.keys()


def test_the_tree_of_a_store_in_a_bucket(two, server: S3Server, proxy: Proxy) -> None:
    """It is compressed, the cost of its requests is said, and the next run completes one that broke off."""
    source, (_, second) = two
    bucket = server.bucket()
    copy_objects(source, store := open_store(f"s3://{bucket}/store"))
    proxy.break_next("deny", ALWAYS, after_writes=50)
    with pytest.raises(ExportError, match="is live, but tree/ in"):
        update_live_tree(store, None, Progress(quiet=True))
    proxy.break_next("", 0)
    assert live_build_id(store) == second
    # the store refused to release the lock, too, which then expires
    update = update_live_tree(store, None, Progress(quiet=True), clock=in_hours(1))
    dollars = update.written * 0.005 / 1000
    assert update.line().endswith(f"{update.written:,} written, 0 deleted; about ${dollars:.2f} for these PUTs on S3")
    documents = Documents(open_build(source, second))
    for document in list(documents.objects())[::7]:
        found = server.client().get_object(Bucket=bucket, Key=f"store/tree/{document.name}")
        assert (found["ContentType"], found["ContentEncoding"]) == (media_type(document.name), "gzip")
        assert gzip.decompress(found["Body"].read()) == documents.body(document).plain
    assert run("verify", "--store", store.location).returncode == 0
    server.client().delete_object(Bucket=bucket, Key="store/tree/api/v1/status.json")
    assert "tree/api/v1/status.json is missing" in run("verify", "--store", store.location, status=1).stderr
    assert update_live_tree(store, None, Progress(quiet=True), clock=in_hours(2)).written == 1


def test_a_new_volume_has_a_folder_of_the_file_system(tmp_path: Path) -> None:
    store = FolderStore(str(tmp_path / "store"))
    build = make(write(ONE, tmp_path / "lake"), store)
    found = tmp_path / "tree" / "lost+found"
    found.mkdir(parents=True)
    assert written(store, build, str(tmp_path / "tree"))
    (found / "#123").touch()
    assert written(store, build, str(tmp_path / "tree")).written == 0
    assert (found / "#123").exists()
