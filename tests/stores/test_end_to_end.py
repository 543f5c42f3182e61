"""The commands on S3: a lake there, a store there, and the same build as on disk."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from generator.errors import BuildError, LakeError
from generator.lake.files import LakeFile, LakeFiles
from generator.lake.lake import DAILY_TABLES, FLAT_TABLES, open_lake
from generator.making.make import BuildResult, make_build
from generator.pack.verify import verify
from generator.reading.lake_days import day_files
from generator.storage.builds import live_build_id, open_build
from generator.storage.stores.open import open_store
from generator.terminal import Progress
from generator.threads import Resources
from generator.tree.export import export
from tests.support.commands import build, run
from tests.support.fleet import surroundings
from tests.support.nights import demo_lake
from tests.support.s3_fixtures import on_s3
from tests.support.s3_proxy import Proxy
from tests.support.s3_servers import S3Server, best

pytestmark = [*on_s3, pytest.mark.thorough]

QUIET = Progress(quiet=True)
LAST_DAY = "2025-11-20"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_lake(tmp_path_factory.mktemp("demo") / "lake", 6, 40)


@pytest.fixture(scope="module")
def on_disk(lake: Path) -> Path:
    store = lake.parent / "store"
    build(lake, store)
    return store


@pytest.fixture(scope="module")
def built(servers, lake: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A bucket with the lake at in/ and a build of it at out/, which is live."""
    server = servers(best())
    bucket = server.bucket()
    _copy_lake(lake, server.client(), bucket)
    with surroundings(server, tmp_path_factory.mktemp("cache")):
        build(f"s3://{bucket}/in", f"s3://{bucket}/out")
    return bucket


@pytest.fixture
def bucket(server: S3Server, built: str) -> str:
    """A copy of that bucket, for tests that change it."""
    client, copy = server.client(), server.bucket()
    with ThreadPoolExecutor(8) as pool:
        for key in _written(client, built):
            pool.submit(client.copy_object, Bucket=copy, Key=key, CopySource={"Bucket": built, "Key": key})
    assert len(_written(client, copy)) == len(_written(client, built))
    return copy


@pytest.fixture
def s3_lake(bucket: str) -> str:
    return f"s3://{bucket}/in"


@pytest.fixture
def store(bucket: str) -> str:
    return f"s3://{bucket}/out"


def test_the_same_build_as_on_disk(built: str, server: S3Server, on_disk: Path, tmp_path: Path) -> None:
    store = f"s3://{built}/out"
    newest = live_build_id(open_store(str(on_disk)))
    assert live_build_id(open_store(store)) == newest
    run("export", tmp_path / "there", "--store", store)
    export(open_build(open_store(str(on_disk)), newest), str(tmp_path / "here"), gzip=False, progress=QUIET)
    assert _tree(tmp_path / "there") == _tree(tmp_path / "here")
    assert "all match their hashes" in run("verify", "--store", store).stdout


def test_what_is_there_is_not_sent_again(s3_lake: str, store: str, bucket: str, server: S3Server) -> None:
    """A build that was killed has left packs without an index; they stay as they are, unless they are not whole."""
    client = server.client()
    written = _written(client, bucket)
    folder = _folder(store, "catalogue")
    index = folder + "index.arrow"
    files = sorted(key for key in written if key.startswith(folder) and key != index)
    client.delete_object(Bucket=bucket, Key=index)
    client.put_object(Bucket=bucket, Key=files[0], Body=b"torn")
    assert _make(s3_lake, store).made == ["catalogue"]
    after = _written(client, bucket)
    assert {key for key in after if after[key] != written.get(key)} == {index, files[0]}
    verify(open_build(open_store(store), live_build_id(open_store(store))), QUIET)


def test_verify_reads_what_is_in_the_bucket(store: str, bucket: str, server: S3Server) -> None:
    """A damaged object is found, whatever good copies of it there are on this machine."""
    opened, client = open_store(store), server.client()
    build_id, written = live_build_id(opened), _written(client, bucket)
    verify(open_build(opened, build_id), QUIET)
    for layer, end in (
        ("history-open", "jsonl.gz"),
        ("history-open", "index.arrow"),
        ("catalogue", "columns"),
        ("bulk-cards", "cards-"),
    ):
        folder = _folder(store, layer)
        key = next(key for key in written if key.startswith(folder) and end in key)
        good = client.get_object(Bucket=bucket, Key=key)
        data = good["Body"].read()
        for noted in ({}, good["Metadata"]):  # replaced by other means, or changed where it lies
            client.put_object(Bucket=bucket, Key=key, Body=data[:-9] + b"x" + data[-8:], Metadata=noted)
            with pytest.raises(BuildError, match=key.removeprefix("out/")):
                verify(open_build(opened, build_id), QUIET)
        client.put_object(Bucket=bucket, Key=key, Body=data, Metadata=good["Metadata"])


def test_what_rotted_is_sent_again_by_a_repair(s3_lake: str, store: str, bucket: str, server: S3Server) -> None:
    """Bytes that changed where they lie, under the hash that was noted for them."""
    client, folder = server.client(), _folder(store, "history-open")
    pack = next(key for key in _written(client, bucket) if key.startswith(folder) and key.endswith("jsonl.gz"))
    good = client.get_object(Bucket=bucket, Key=pack)
    data = good["Body"].read()
    client.put_object(Bucket=bucket, Key=pack, Body=b"x" * len(data), Metadata=good["Metadata"])
    assert _make(s3_lake, store).made == []
    assert _make(s3_lake, store, repair=True).made == ["history-open"]
    assert client.get_object(Bucket=bucket, Key=pack)["Body"].read() == data


def test_unchanged_indexes_are_not_fetched_again(built: str, proxy: Proxy) -> None:
    opened = open_store(f"s3://{built}/out")
    layers = open_build(opened, live_build_id(opened)).layers
    indexes = [layer.index for layer in layers.values()]
    seen = len(proxy.requests)
    assert len(indexes) == len([layer.index for layer in open_build(opened, live_build_id(opened)).layers.values()])
    gets = [line for line in proxy.requests[seen:] if line.startswith("GET") and "index.arrow" in line]
    assert gets == []


def test_the_content_of_a_lake_is_what_it_is_on_disk(
    s3_lake: str, lake: Path, bucket: str, server: S3Server, proxy: Proxy
) -> None:
    """Whatever the files are called, and whether S3 knows their SHA-256 or not; unchanged they are read only once."""
    tables = (*FLAT_TABLES, *DAILY_TABLES)
    there, here = open_lake(s3_lake), open_lake(str(lake))
    assert there.content(*tables) == here.content(*tables)
    assert (there.as_of, there.recipe, there.recipe_sha256) == (here.as_of, here.recipe, here.recipe_sha256)
    seen = len(proxy.requests)
    assert open_lake(s3_lake).content(*tables) == here.content(*tables)
    assert not any(".parquet" in line for line in proxy.requests[seen:])
    assert _day_files(s3_lake) == _day_files(str(lake))
    names = [file.name for file in there.files_of("price_guide")]
    server.client().delete_object(Bucket=bucket, Key=f"in/{names[-1]}")
    server.client().copy_object(Bucket=bucket, Key=f"in/{names[0]}", CopySource=f"{bucket}/in/{names[1]}")
    changed = open_lake(s3_lake).content("price_guide")
    assert len(changed) == len(names) - 1
    assert len(set(changed) & set(here.content("price_guide"))) == len(names) - 2


def _day_files(lake: str) -> list[dict]:
    """The day files of a lake, without their names and the times at which they were written."""
    found = list(day_files(lake, open_store("none"), DAILY_TABLES, QUIET))
    assert all(file["imported"] > "2020" for file in found)
    return [file | {"source": "", "imported": ""} for file in found]


def test_the_cache_of_a_lake_is_bounded(
    s3_lake: str, server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one table asks for is all there, and of the rest no more than the limit."""
    cache = tmp_path / "cache" / "cardpress" / "lake"
    monkeypatch.setattr("generator.lake.files.MAX_CACHE_BYTES", 1)
    place = LakeFiles(s3_lake)
    names = sorted(name for name in place.list_names(["price_guide"]) if "/" in name[:-1])
    files = list(place.with_hashes([LakeFile(name, "price_guide", None) for name in names], QUIET))
    place.fetch("price_guide", files[:3])
    assert all(Path(file.path).is_file() for file in files[:3])
    place.fetch("price_guide", files[3:5])
    there = {path.name for path in cache.iterdir()}
    assert {file.sha256 for file in files[3:5]} <= there
    assert len(there) <= 3


def test_a_lake_that_is_written_to_meanwhile(s3_lake: str, bucket: str, server: S3Server) -> None:
    place = LakeFiles(s3_lake)
    [name] = [name for name in place.list_names([]) if name.startswith("products")]
    server.client().put_object(Bucket=bucket, Key=f"in/{name}", Body=b"another")
    with pytest.raises(LakeError, match=r"products.*the lake was written to while it was read"):
        list(place.with_hashes([LakeFile(name, "products", None)], QUIET))


def test_what_is_wrong_with_a_lake_is_told(s3_lake: str, store: str, bucket: str, server: S3Server) -> None:
    client = server.client()
    key = next(key for key in _written(client, bucket) if key.startswith(f"in/price_guide/day={LAST_DAY}/"))
    client.put_object(Bucket=bucket, Key=key, Body=b"no parquet")
    with pytest.raises(LakeError, match=f"price_guide: .*{key.removeprefix('in/')} cannot be read as Parquet"):
        _make(s3_lake, store)
    client.put_object(Bucket=bucket, Key="in/listings/day=2025-13-01/part.parquet", Body=b"")
    with pytest.raises(LakeError, match="in/listings/day=2025-13-01: the partition names no day"):
        open_lake(s3_lake)
    for nothing in (f"s3://{bucket}/elsewhere", "s3://no-such-bucket-at-all/lake"):
        with pytest.raises(LakeError, match=nothing):
            open_lake(nothing)


def _folder(store: str, layer: str) -> str:
    """Where in the bucket a layer of the live build lies."""
    opened = open_store(store)
    return "out/" + open_build(opened, live_build_id(opened)).layers[layer].folder


def _make(lake: str, store: str, repair: bool = False) -> BuildResult:
    opened = open_lake(lake)
    return make_build(opened, open_store(store), resources=Resources(2, "1GB"), progress=QUIET, repair=repair)


def _copy_lake(lake: Path, client, bucket: str) -> None:
    """The lake as it is on disk, but half of its daily files have other names and half a SHA-256 that S3 keeps."""
    for number, path in enumerate(sorted(path for path in lake.rglob("*.*") if path.is_file())):
        folder, name = path.relative_to(lake).parent.as_posix(), path.name
        if folder != "." and number % 2:
            name = f"a renamed {name}"
        noted = {"ChecksumAlgorithm": "SHA256"} if number % 3 else {}
        client.put_object(Bucket=bucket, Key=f"in/{folder}/{name}".replace("/./", "/"), Body=path.read_bytes(), **noted)


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _written(client, bucket: str) -> dict[str, str]:
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    return {entry["Key"]: str(entry["LastModified"]) for page in pages for entry in page.get("Contents", ())}
