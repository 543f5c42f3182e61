"""`tree/` of a store in a bucket, as the commands keep it."""

import gzip
from pathlib import Path

import pytest

from generator.storage.builds import open_build
from generator.storage.stores.interface import Store
from generator.storage.stores.open import open_store
from generator.tree.documents import Documents
from tests.support.commands import run
from tests.support.s3_servers import S3Server

pytestmark = [pytest.mark.xdist_group("s3"), pytest.mark.thorough]
RECORD = ".cardpress-export.json"


def content(store: Store) -> dict[str, bytes]:
    names = [name for name in store.list("tree/") if not name.endswith(RECORD)]
    return {name.removeprefix("tree/"): gzip.decompress(store.get(name)) for name in names}


def expected(store: Store, build: str, *, hot: bool) -> dict[str, bytes]:
    found = Documents(open_build(store, build))
    return {one.name: found.body(one).plain for one in found.objects(hot=hot)}


def test_objects_of_a_tree_in_a_bucket_are_chosen_and_kept(server: S3Server, tmp_path: Path) -> None:
    lake, location = tmp_path / "lake", f"s3://{server.bucket()}/out"
    run("demo", lake, "--products", 80, "--days", 3)
    store = open_store(location)
    made = run("build", "--lake", lake, "--store", location, "--publish", "--objects", "hot")
    build = made.stdout.splitlines()[-1]
    assert content(store) == expected(store, build, hot=True)
    assert "about $0.0" in made.stderr and "for these PUTs on S3" in made.stderr
    assert "0 written" in run("publish", build, "--store", location).stderr, "the choice holds"
    assert "left alone" in run("publish", build, "--store", location, "--objects", "none").stderr
    assert "(all)" in run("publish", build, "--store", location, "--objects", "all").stderr
    assert content(store) == expected(store, build, hot=False)
    assert "in tree/" in run("verify", "--store", location).stdout
    store.put("tree/api/v1/status.json", b"{}")
    assert "tree/api/v1/status.json differs from the build" in run("verify", "--store", location, status=1).stderr
