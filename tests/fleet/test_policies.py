"""`cardpress deploy policies` on a server that enforces policies: each role can do its work, and nothing else."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from generator.releases.publish import publish, rollback
from generator.storage.builds import live_build_id, read_pointer
from generator.storage.errors import StoreError
from generator.storage.keys import SCOPES, open_key_file
from generator.storage.keys import issue as issued
from generator.storage.layout import NIGHT_PAGES as PAGES
from generator.storage.layout import WORK as PARTS
from generator.storage.stores.interface import Store
from generator.storage.stores.open import open_store
from tests.support.copies import copy_objects
from tests.support.nights import demo_lake, published
from tests.support.programs import require
from tests.support.s3_servers import READER, S3Server
from tests.support.service import ROOT, Service, run

API = "/api/v1"
POLICIES = ROOT / "generator" / "deploy" / "examples" / "policies"
KEYS_NAME = "private/keys.json"


@pytest.fixture
def bucket(s3: S3Server, tmp_path: Path) -> str:
    """A bucket of the owner's with a store of two builds and a key, and a lake that has grown by a day since."""
    require("Ceph")  # moto enforces no policies
    bucket = s3.bucket()
    built, lake, _ = published(tmp_path, 5, 6)
    copy_objects(built, open_store(f"s3://{bucket}/store"))
    s3.client().put_object(
        Bucket=bucket, Key="store/reports/owners.json", Body=b"{}"
    )  # Ceph lets the writer of an object read it
    for path in (path for path in demo_lake(lake, 7).rglob("*") if path.is_file()):
        s3.client().upload_file(str(path), bucket, f"lake/{path.relative_to(lake)}")
    return bucket


@contextmanager
def playing(role: str, bucket: str, s3: S3Server) -> Iterator[Store]:
    """Run the block as another user with only the role's policy. Yield the store of this user."""
    policy = json.loads((POLICIES / f"{role}.json").read_text().replace("BUCKET", bucket))
    if any("s3:DeleteObject" in statement["Action"] for statement in policy["Statement"]):
        policy["Statement"].append(_of_ceph(bucket))
    for statement in policy["Statement"]:  # a policy of a bucket says whom it means; one of a role does not
        statement["Principal"] = {"AWS": [f"arn:aws:iam:::user/{READER}"]}
    s3.client().put_bucket_policy(Bucket=bucket, Policy=json.dumps(policy))
    with pytest.MonkeyPatch.context() as patch:
        s3.enter(patch, READER)
        yield open_store(f"s3://{bucket}/store")


def _of_ceph(bucket: str) -> dict:
    """What docs/deploy.md says of Ceph: a request that deletes several objects is first held against the bucket."""
    return {"Effect": "Allow", "Action": "s3:DeleteObject", "Resource": f"arn:aws:s3:::{bucket}"}


def refused(work: Callable[[], object]) -> bool:
    try:
        work()
    except StoreError as error:
        return "access denied" in str(error) or "cannot be deleted: AccessDenied" in str(error)
    return False


@pytest.mark.thorough
def test_each_role_can_do_its_work_and_nothing_else(bucket: str, s3: S3Server, tmp_path: Path) -> None:
    """The builder makes the third build and prunes the first; the operator steps back and forth; the reader serves."""
    key, record = issued("a client", SCOPES, 120, None, 0)
    open_key_file(f"s3://{bucket}/store").add(record)
    with playing("builder", bucket, s3) as store:
        _builds(store, f"s3://{bucket}/lake")
    with playing("operator", bucket, s3) as store:
        _operates(store)
    with playing("reader", bucket, s3) as store:
        _serves(store, f"s3://{bucket}/lake", tmp_path / "state", key)


def _builds(store: Store, lake: str) -> None:
    before, first = read_pointer(store)[0], min(store.list("builds/"))
    live = run("nightly", "--lake", lake, "--store", store.location, "--keep", 1, "--grace", 0).stdout.strip()
    assert len(list(store.list(PAGES))) == 2
    store.put(f"{PARTS}build/part", b"")  # as the tasks of a build on several machines do
    store.delete([f"{PARTS}build/part"])
    assert read_pointer(store)[0].previous == [before.build, *before.previous]
    assert live not in before.previous and first not in store.list("builds/")
    for name in (KEYS_NAME, "private/other.json", "elsewhere"):
        assert_read_only(store, name)
    assert refused(lambda: store.get(KEYS_NAME))
    assert refused(lambda: store.delete(["current.json"]))
    assert_read_only(open_store(lake), "fingerprints.json")


def _operates(store: Store) -> None:
    file = open_key_file(store.location)
    _, record = issued("another", SCOPES, 120, None, 0)
    file.add(record)
    file.update(record.id, revoked=True)
    live = live_build_id(store)
    assert rollback(store) != live
    publish(store, live, by_hand=True)
    for name in (next(store.list("layers/status/")), f"builds/{live}.json", "reports/x.json", "elsewhere"):
        assert_read_only(store, name)
    assert refused(lambda: store.delete([KEYS_NAME]))


def _serves(store: Store, lake: str, state: Path, key: str) -> None:
    with Service(store.location, state) as service:
        client = service.client(key)
        for path in ("me", "status", "cards?q=e", "sets", "watchlist", "fingerprints", "openapi.json"):
            assert client.get(f"{API}/{path}").status == 200, path
        assert client.get(f"{API}/cards", X_Build="2025-01-01-000000000000").code == "invalid_parameter"
    for name in ("current.json", KEYS_NAME, next(store.list("builds/")), "private/probe-1", "elsewhere"):
        assert_read_only(store, name)
    assert refused(lambda: store.get("reports/owners.json"))
    assert refused(lambda: open_store(lake).get("fingerprints.json"))


def assert_read_only(store: Store, name: str) -> None:
    assert refused(lambda: store._put(name, b"{}", {})), name
    assert refused(lambda: store.delete([name])), name
