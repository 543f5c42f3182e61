"""A store of an earlier version: what commands say of it, and how its clients move to one of this version.

`earlier_store` is what `build --publish` and `keys issue` of a version with format 4 wrote, without the layers.
"""

import json
import shutil
from pathlib import Path

import pytest

from generator.storage.builds import FORMAT
from generator.storage.layout import id_of
from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.commands import run
from tests.support.service import until
from tests.support.shim_clients import WsgiClient

EARLIER = Path(__file__).parent / "earlier_store"
ALICE, BOB = "cpm_live_JJ1QcAgwm25aIQtGlKzXgTHzdo1vPkZq", "cpm_live_NQmDMscP0S5TZd2DljWX3jXXCrDoHetE"
BOBS_ID = "key_6211a5f4e9fd"
LIVE = id_of(next((EARLIER / "builds").iterdir()).name)
COMMANDS = [
    ["builds"], ["show"], ["show", LIVE], ["publish", LIVE], ["verify"], ["cat", "status.json"], ["export", "tree"],
    ["diff", LIVE, LIVE], ["prune", "--keep", "1"], ["report"], ["nightly", "--lake", "lake"], ["doctor"],
]  # fmt: skip


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EARLIER, tmp_path / "earlier"))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_says_how_the_store_is_made_anew(earlier: Path, command: list[str]) -> None:
    failed = run(*command, "--store", earlier, status=1)
    said = (failed.stdout + failed.stderr).replace(" (live)", "")
    other = f"is of another version of cardpress (format 4, this one reads {FORMAT}): "
    assert f"{other}`cardpress build --lake LAKE --store {earlier} --publish` makes it anew" in said
    assert "delete" not in said and "rollback" not in said
    assert {name: data for name, data in files(earlier).items() if name in files(EARLIER)} == files(EARLIER)


KEY = {"id": "k", "name": "carol", "prefix": "cpm_live_JJ1Q", "scopes": ["cards:read"], "rate_limit": 10**12,
       "created_at": "2026-11-01T00:00:00Z", "expires_at": None, "revoked": False}  # fmt: skip
HASH = "f8b05a866d72331d036be8412e317a2a8067b34e0be6b0c3b0c441207ca33f4c"
LISTS = {
    "one list": {"keys.json": {"format": 1, "keys": [KEY | {"sha256": HASH}]}},
    "lists": {"keys.json": {"format": 2, "digits": 3, "issued": 1, "shards": {"f8b": "T"}},
              "keys/f8b/T.jsonl": {"sha256": HASH, "number": 0} | KEY},
}  # fmt: skip


@pytest.mark.parametrize("kind", LISTS)
def test_lists_of_keys_of_older_versions_are_imported(tmp_path: Path, kind: str) -> None:
    older, new = tmp_path / "older", tmp_path / "new"
    for name, document in LISTS[kind].items():
        (older / "private" / name).parent.mkdir(parents=True, exist_ok=True)
        (older / "private" / name).write_text(json.dumps(document) + "\n")
    for command in (["list"], ["issue", "--name", "x"], ["revoke", "key_f8b05a866d72"]):
        failed = run("keys", *command, "--store", older, status=1)
        assert f"of another version of cardpress: `cardpress keys import {older} --store NEW`" in failed.stderr
    assert f"`cardpress keys import {older} --store NEW`" in run("doctor", "--store", older, status=1).stdout
    run("keys", "import", older, "--store", new)
    [record] = json.loads(run("keys", "list", "--store", new, "--json").stdout)
    assert (record["id"], record["name"], record["rate_limit"]) == ("key_f8b05a866d72", "carol", 10**9)


@pytest.mark.shim_only("looks into the process of the shim")
def test_clients_move_to_a_store_beside_the_running_one(earlier: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    small_store.add_build(FolderStore(str(new)), 20)
    assert "2 taken, 0 here already" in run("keys", "import", earlier, "--store", new).stderr
    client = WsgiClient(str(new), str(tmp_path / "state"), 100)
    assert [client.get("/api/v1/cards?limit=1", key=key).status for key in (ALICE, BOB)] == [200, 200]
    assert client.get("/api/v1/watchlist", key=BOB).status == 403
    assert files(earlier) == files(EARLIER)
    [record] = earlier.glob(f"private/keys/62/{BOBS_ID.removeprefix('key_')}*.json")
    record.write_text(json.dumps(json.loads(record.read_bytes()) | {"revoked": True}))  # the earlier version revokes it
    assert "1 taken, 1 here already" in run("keys", "import", earlier, "--store", new).stderr
    until(lambda: client.get("/api/v1/cards", key=BOB).status == 401, 10, "the key is refused")
    shutil.copytree(EARLIER, earlier, dirs_exist_ok=True)
    run("keys", "import", earlier, "--store", new)
    [of_bob] = [one for one in json.loads(run("keys", "list", "--store", new, "--json").stdout) if one["id"] == BOBS_ID]
    assert of_bob["revoked"]
    assert client.get("/api/v1/cards?limit=1", key=ALICE).status == 200


def test_a_pointer_of_a_newer_version_is_one_sentence(earlier: Path) -> None:
    pointer = json.loads((earlier / "current.json").read_bytes())
    (earlier / "current.json").write_text(json.dumps(pointer | {"epoch": 3}))
    for command in (["show"], ["nightly", "--lake", "lake"], ["cat", "status.json"]):
        failed = run(*command, "--store", earlier, status=1)
        assert "current.json is of another version of cardpress: use that one" in failed.stderr
