"""Builds: the same lake gives the same build, only missing layers are made, and one write makes a build live."""

import hashlib
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from generator.errors import LakeError
from generator.lake.files import PRICE_TABLES
from generator.lake.lake import open_lake
from generator.making.make import make_build
from generator.storage import layout
from generator.storage.builds import FORMAT, live_build_id, open_build
from generator.storage.layers import Layer
from generator.storage.stores.folder import FolderStore
from generator.terminal import Progress
from generator.threads import Resources
from tests.support import service
from tests.support.commands import run
from tests.support.recorded import Recorded

pytestmark = pytest.mark.xdist_group("build")  # one process: the demo lake is built once
FILE_HASH = re.compile("-[0-9a-f]{8,}$")  # in the name of a file
COLUMNS = Path(__file__).parents[1] / "golden" / "columns.json"
RECIPES = Path(__file__).parents[1] / "golden" / "recipes.json"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("demo") / "lake"
    run("demo", lake, "--products", 60, "--days", 55, "--end", "2026-01-08")
    return lake


def build(lake: Path, store: Path, as_of: str | None = None) -> str:
    """Build a lake into the store and publish it; the build's id."""
    more = ["--as-of", as_of] * bool(as_of)
    return run("build", "--lake", lake, "--store", store, "--publish", *more).stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def built(demo: Path) -> Path:
    """A store with a live build of the demo lake; tests that change it take a copy."""
    store = demo.parent / "store"
    build(demo, store)
    return store


def files(store: Path) -> dict[str, bytes]:
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()}


def exported(store: Path, folder: Path) -> dict[str, bytes]:
    run("export", folder, "--store", store)
    return files(folder)


@pytest.mark.thorough
def test_threads_and_names_of_files_do_not_count(demo: Path, tmp_path: Path) -> None:
    trees, ids = [], []
    shuffled = tmp_path / "shuffled"
    for path in sorted(demo.rglob("*.parquet")):
        scrambled = hashlib.sha256(str(path).encode()).hexdigest()[:8]
        name = f"{path.name.split('.')[0]}-{scrambled}.parquet" if path.parent == demo else f"{scrambled}.parquet"
        target = shuffled / path.relative_to(demo).with_name(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    shutil.copy(demo / "fingerprints.json", shuffled)
    # one in another process, whose sets have another order
    how = ((run, demo, 1), (service.run, demo, 2), (run, shuffled, 2))
    for number, (started, lake, threads) in enumerate(how):
        store = tmp_path / f"store-{number}"
        result = started("build", "--lake", lake, "--store", store, "--threads", threads, "--publish")
        ids.append(result.stdout.splitlines()[-1])
        trees.append(exported(store, tmp_path / f"tree-{number}"))
    assert len(set(ids)) == 1
    assert trees[0] == trees[1] == trees[2]


def test_an_unchanged_lake_makes_nothing(demo: Path, built: Path, tmp_path: Path) -> None:
    store = shutil.copytree(built, tmp_path / "store")
    first = live_build_id(FolderStore(str(store)))
    before = {name: (store / name).stat().st_mtime_ns for name in files(store)}
    again = run("build", "--lake", demo, "--store", store, "--publish", "--json")
    assert json.loads(again.stdout.splitlines()[0])["made"] == []
    assert first in again.stdout
    assert {name: (store / name).stat().st_mtime_ns for name in files(store)} == before


@pytest.mark.thorough
def test_later_partitions_are_not_read(demo: Path, tmp_path: Path) -> None:
    day = "2025-12-20"
    younger = tmp_path / "lake"
    shutil.copytree(demo, younger, ignore=lambda _, names: [n for n in names if n.startswith("day=") and n[4:] > day])
    assert build(demo, tmp_path / "a", day) == build(younger, tmp_path / "b")


@pytest.mark.thorough
def test_publish_rollback_and_the_hold(demo: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    days = ("2026-01-01", "2026-01-02", "2026-01-03")
    first, second, third = (build(demo, store, day) for day in days)

    def live() -> str:
        return json.loads(run("builds", "--store", store, "--json").stdout)["live"]

    assert live() == third
    assert run("rollback", "--store", store).stdout.strip() == second == live()
    assert run("rollback", "--store", store).stdout.strip() == first == live()
    assert "cannot roll back" in run("rollback", "--store", store, status=1).stderr
    held = run("build", "--lake", demo, "--store", store, "--publish", status=1)
    assert "hold" in held.stderr and live() == first
    newest = held.stdout.splitlines()[-1]
    run("publish", newest, "--store", store)
    assert live() == newest
    assert run("rollback", "--store", store).stdout.strip() == first
    run("publish", first, "--store", store)  # the live build itself: nothing but the hold is lifted
    assert live() == first
    assert build(demo, store) == newest == live()


@pytest.mark.parametrize("table", PRICE_TABLES)
def test_a_closed_period_keeps_each_products_newest_row_and_counts_all(demo: Path, built: Path, table: str) -> None:
    store = FolderStore(str(built))
    kept = pq.read_table(open_build(store, live_build_id(store)).layers["history-2025"].file(table)).to_pylist()
    days: dict[int, list[str]] = defaultdict(list)
    for path in (demo / table).glob("day=2025-*/*.parquet"):
        for id_ in pq.read_table(path, columns=["id_product"])["id_product"].to_pylist():
            days[id_].append(path.parent.name.removeprefix("day="))
    expected = {(id_, max(found), len(found)) for id_, found in days.items()}
    assert len(kept) == len(days)
    assert {(row["id_product"], row["day"].isoformat(), row["n_rows"]) for row in kept} == expected


@pytest.mark.parametrize("unknown", ["2026-01-01-0123456789ab", "../../etc/passwd", "current", ""])
def test_an_unknown_build_is_refused(built: Path, unknown: str) -> None:
    for command in (
        ("publish", unknown),
        ("verify", unknown or "-"),
        ("cat", "status.json", "--build", unknown or "-"),
    ):
        refused = run(*command, "--store", built, status=1)
        assert len(refused.stderr.splitlines()) == 1 and refused.stderr.startswith("cardpress: ")


def test_verify_names_what_is_damaged(built: Path, tmp_path: Path) -> None:
    store = shutil.copytree(built, tmp_path / "store")
    assert "all match their hashes" in run("verify", "--store", store).stdout
    for pattern in ("history-open/*/*.jsonl.gz", "catalogue/*/columns-*.arrow", "sets/*/index.arrow"):
        path = next((store / "layers").glob(pattern))
        content = path.read_bytes()
        path.write_bytes(content[:-40] + bytes([content[-40] ^ 1]) + content[-39:])
        assert path.name in run("verify", "--store", store, status=1).stderr
        path.unlink()
        assert path.name in run("verify", "--store", store, status=1).stderr
        path.write_bytes(content)
    run("verify", "--store", store)


def test_export_is_what_cat_says_and_valid_json(built: Path, tmp_path: Path) -> None:
    tree = exported(built, tmp_path / "tree")
    assert {"api/v1/status.json", "api/v1/openapi.json", "api/v1/cards/sealed/newest/0.json"} <= set(tree)
    assert {"docs/index.html", "docs/llms.txt"} <= set(tree)
    assert json.loads(tree.pop(".cardpress-export.json"))["build"] in run("builds", "--store", built).stdout
    for name, content in tree.items():
        if name.endswith(".json"):
            assert name.startswith("api/v1/") or name == "index.json"
            json.loads(content)
        if len(name) % 7 == 0 and not name.startswith("api/v1/bulk/"):
            assert run("cat", name.removeprefix("api/v1/"), "--store", built).stdout.encode() == content
            break
    (tmp_path / "tree" / ".cardpress-export.json").unlink()
    assert "empty folder" in run("export", tmp_path / "tree", "--store", built, status=1).stderr


def test_a_lake_that_changes_under_the_build_is_refused(demo: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    shutil.copytree(demo, lake)
    opened = open_lake(str(lake))
    shutil.copy(demo / "expansions.parquet", lake / "expansions.parquet")  # put in place anew, if only alike
    store = FolderStore(str(tmp_path / "store"))
    with pytest.raises(LakeError, match=r"expansions.parquet changed while"):
        make_build(opened, store, resources=Resources(2, "1GB"), progress=Progress(quiet=True))
    assert list(store.list("builds/")) == []
    assert not any(name.endswith("index.arrow") for name in store.list("layers/"))


def contents(layer: Layer) -> Iterator[str]:
    for position in range(len(layer.index)):
        yield f"{layer.index.key(position)} {layer.index.entry(position).json_sha256.hex()}"
    # Files that are called by their content; Parquet's bytes are its library's.
    yield from sorted(file.name for file in layer.index.files if not file.name.endswith(".parquet"))


def test_bytes_change_only_with_a_new_recipe(fixed_store: Path, recorded: Recorded) -> None:
    """The objects of each layer of the fixed lake keep their bytes while its SQL and recipe number stay the same."""
    store = FolderStore(str(fixed_store))
    opened = open_build(store, live_build_id(store))
    found = {
        name: {part: opened.record["layers"][name]["inputs"][part] for part in ("sql", "recipe")}
        | {"json": hashlib.sha256("\n".join(contents(layer)).encode()).hexdigest()}
        for name, layer in opened.layers.items()
    }
    known = json.loads(RECIPES.read_text()) if RECIPES.exists() else {}
    # Hashes of Parquet files are in these, and their bytes are the library's as well.
    with_parquet = {
        name for name in found if name.startswith(layout.BULK) and name != layout.sublayer(layout.BULK, "cards")
    }
    found = {name: layer for name, layer in found.items() if name not in with_parquet}
    found.pop("site")  # named by the bytes of its sources, so no number needs to stand for them
    changed = {name for name in found if known.get(name, {}).get("json") != found[name]["json"]}
    followers = {name for name in changed if "layers" in opened.record["layers"][name]["inputs"]}
    suspects = changed - followers or changed  # a layer that is made from others changes with them
    silent = {name for name in suspects if name in known and found[name] | {"json": ""} == known[name] | {"json": ""}}
    assert not silent, f"other bytes under the old recipe number: raise RECIPE of {sorted(silent)} in making/layers/"
    if not recorded.write(RECIPES, json.dumps(found, indent=1) + "\n"):
        assert not changed, f"new bytes of {sorted(changed)}: run make golden"


def test_columns_of_stored_files_change_only_with_a_new_format(fixed_store: Path, recorded: Recorded) -> None:
    """A shim reads the columns that its version knows. With a new FORMAT it says that a build is of another version."""
    store = FolderStore(str(fixed_store))
    columns: dict[str, list[str]] = {}
    for layer in open_build(store, live_build_id(store)).layers.values():
        for name in store.list(layer.folder):
            if name.endswith(".arrow"):
                schema = pa.ipc.open_file(fixed_store / name).schema
                columns[f"{layer.name}/{FILE_HASH.sub('', Path(name).stem)}"] = [f"{c.name}: {c.type}" for c in schema]
    known = json.loads(COLUMNS.read_text()) if COLUMNS.exists() else {"format": 0, "columns": {}}
    names = columns.keys() | known["columns"].keys()
    changed = {name for name in names if columns.get(name) != known["columns"].get(name)}
    assert not changed or known["format"] != FORMAT, f"columns of {sorted(changed)}: raise FORMAT in storage/builds.py"
    if not recorded.write(COLUMNS, json.dumps({"format": FORMAT, "columns": columns}, indent=1) + "\n"):
        assert known == {"format": FORMAT, "columns": columns}, "run make golden"
