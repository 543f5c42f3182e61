"""List pages: documents that no layer stores, cut from the catalogue; and stores of version 1.0, which stored them."""

import itertools
import json
from pathlib import Path

import pytest

from edge_auth.builds import card_lists, layer_names, layout, object_keys
from edge_auth.builds.builds import Build, open_build
from edge_auth.builds.index import INDEX_NAME
from edge_auth.builds.pointer import live_build_id
from edge_auth.store.folder import FolderStore
from generator.pack.verify import verify
from generator.pack.writer import IntermediateStore, Uploads, Writer, compress_objects, join_index
from generator.releases.prune import RetentionRules, prune
from generator.releases.publish import publish
from generator.tree.documents import read_document
from tests.support.commands import run
from tests.support.nights import QUIET, in_hours, published
from tests.support.nights import names as files_of
from tests.support.oracle import Oracle
from tests.support.wsgi import WsgiClient

API = "/api/v1/"


@pytest.fixture(scope="module")
def opened(fixed_store: Path) -> Build:
    store = FolderStore(str(fixed_store))
    return open_build(store, live_build_id(store))


@pytest.mark.parametrize(("kind", "sort"), list(itertools.product(card_lists.KINDS, card_lists.SORTS)))
def test_pages_hold_every_product_in_order(opened: Build, fixed_lake: Path, kind: str, sort: str) -> None:
    oracle = Oracle(fixed_lake, build_id=opened.id)
    keys = [key for key in opened.list_pages.all_keys() if key.startswith(f"cards/{kind}/{sort}/")]
    for number, key in enumerate(keys):
        assert key == object_keys.list_page(kind, sort, number)
        page = read_document(opened, key)
        assert page is not None
        query = f"kind={kind}&sort={sort}&limit=100&offset={100 * number}"
        assert json.loads(page) == oracle.ask(f"{API}cards?{query}")[1]["data"]
    assert read_document(opened, object_keys.list_page(kind, sort, len(keys))) is None


@pytest.mark.parametrize(
    "key", ["cards/all/trend/00.json", "cards/all/trend/-1.json", "cards/every/trend/0.json", "cards/all/trend/0"]
)
def test_other_keys_are_no_pages(opened: Build, key: str) -> None:
    assert read_document(opened, key) is None


def test_commands_show_pages(fixed_store: Path, tmp_path: Path, opened: Build) -> None:
    key = "cards/single/name/0.json"
    assert run("cat", key, "--store", fixed_store).stdout.encode() == read_document(opened, key)
    run("export", tmp_path / "plain", "--store", fixed_store)
    exported = {
        path.relative_to(tmp_path / "plain" / "api" / "v1").as_posix() for path in tmp_path.rglob("api/**/*.json")
    }
    assert set(opened.list_pages.all_keys()) <= exported
    verified = verify(opened, QUIET, only=[layer_names.CATALOGUE])
    assert verified.objects == len(opened.list_pages)


def add_version_1_build(store: FolderStore, build: Build) -> str:
    """Add a build as version 1.0 made it: it stores the list pages as objects of a layer `lists`."""
    digest = "0123456789abcdef01234567"
    folder, uploads = layout.layer_folder("lists", digest), Uploads(store)
    writer = Writer(uploads, IntermediateStore(store, "work/none/"), "lists", folder)
    pages = ((key, read_document(build, key) or b"") for key in build.list_pages.all_keys())
    writer.add(compress_objects(pages))
    output = writer.output()
    uploads.finish()
    store.put(folder + INDEX_NAME, join_index("", [output]))
    layers = build.record["layers"] | {"lists": {"digest": digest, "inputs": {}}}
    id_ = layout.build_id(build.record["as_of"], {name: layer["digest"] for name, layer in layers.items()})
    sizes = {"lists": sum(pack.size for pack in output.packs)}
    record = build.record | {"id": id_, "layers": layers, "bytes": build.record["bytes"] | sizes}
    record["objects"] = build.record["objects"] | {"lists": len(build.list_pages)}
    store.put(layout.record_name(id_), json.dumps(record).encode())
    return id_


@pytest.mark.shim_only("an application in this process")
def test_a_store_of_version_1_is_served_compared_and_pruned(tmp_path: Path) -> None:
    store, _, [new] = published(tmp_path, 7)
    old = add_version_1_build(store, open_build(store, new))
    publish(store, old, by_hand=True)
    client = WsgiClient(store.location, str(tmp_path / "state"), 1000, old)
    assert client.get(f"{API}cards?limit=3").json()["pagination"]["returned"] == 3
    assert verify(open_build(store, old), QUIET).objects > verify(open_build(store, new), QUIET).objects
    document = json.loads(run("diff", old, new, "--store", store.location, "--json").stdout)
    assert {row["name"]: row["changed"] for row in document["resources"]}["lists"] == 0
    publish(store, new, by_hand=True)
    prune(store, RetentionRules(keep=1), wait=lambda seconds: None, clock=in_hours(100))
    assert any("/lists/" in name for name in files_of(store)), "a rollback can still reach the old build"
    store.delete([layout.record_name(old)])
    prune(store, RetentionRules(keep=1), wait=lambda seconds: None, clock=in_hours(100))
    assert not any("/lists/" in name for name in files_of(store))
