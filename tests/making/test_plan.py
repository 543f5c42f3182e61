"""The plan of a build: which tasks read what, and that the cuts into ranges do not change any bytes."""

import shutil
from datetime import date
from pathlib import Path

import pytest

from generator.errors import BuildError, DamageError
from generator.lake.files import PRICE_TABLES
from generator.lake.lake import open_lake
from generator.making import plan as planning
from generator.making import runners, shared_tasks
from generator.making.cluster import Job, run_on_worker
from generator.making.make import make_build, plan_only
from generator.making.plan import Plan
from generator.releases.prune import RetentionRules, prune
from generator.storage.builds import open_build
from generator.storage.layout import layer_folder_of
from generator.storage.stores.folder import FolderStore
from generator.threads import Resources
from tests.support.lake_edits import rewrite
from tests.support.nights import DAYS, QUIET, demo_lake, in_hours, make
from tests.support.nights import names as files_of


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_lake(tmp_path_factory.mktemp("plan") / "lake", DAYS)


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut the work into very small tasks, and execute them in two threads."""
    monkeypatch.setattr(runners, "_MIN_ROWS_PER_THREAD", 1)
    monkeypatch.setattr(planning, "PRODUCTS_PER_TASK", 16)
    monkeypatch.setattr(shared_tasks, "MAX_ROWS_PER_TASK", 3000)


def documents(store: FolderStore) -> dict[str, bytes | str]:
    """The hash of every object and of every bulk file of the one build of a store."""
    [name] = store.list("builds/")
    layers = open_build(store, name.removeprefix("builds/").removesuffix(".json")).layers.values()
    return {file.name: file.sha256 for layer in layers for file in layer.index.files} | {
        layer.index.key(place): layer.index.entry(place).json_sha256
        for layer in layers
        for place in range(len(layer.index))
    }


@pytest.mark.thorough
def test_how_it_is_cut_does_not_show(lake: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    stores = [FolderStore(str(tmp_path / name)) for name in "ab"]
    whole = make(lake, stores[0])
    request.getfixturevalue("small_tasks")
    plan = plan_only(open_lake(str(lake)), stores[1])
    assert "month 2025-12 days 1-" in {task.name[:21] for task in plan.tasks}
    assert len(plan.of("history-open")) == 4
    assert make(lake, stores[1]) == whole
    assert documents(stores[1]) == documents(stores[0])


def grown(lake: Path, folder: Path) -> Path:
    """Copy a lake whose catalogue gains products that no price names."""
    shutil.copytree(lake, folder)
    more = "from rows union all (select * replace (id_product - 9999 as id_product) from rows limit 10)"
    rewrite(folder / "products.parquet", more)
    return folder


@pytest.mark.thorough
def test_one_digest_is_one_set_of_files(lake: Path, tmp_path: Path, small_tasks: None) -> None:
    stores = [FolderStore(str(tmp_path / name)) for name in "ab"]
    make(lake, stores[0])
    make(grown(lake, tmp_path / "larger"), stores[1])
    files = [{name: (store.root / name).read_bytes() for name in files_of(store)} for store in stores]
    folders = [{layer_folder_of(name) for name in named if name.startswith("layers/")} for named in files]
    both = {folder for folder in folders[0] & folders[1] if not folder.startswith("layers/bulk")}
    assert {"history-2025", "history-open"} <= {folder.split("/")[1] for folder in both}
    of_both = [{name: data for name, data in named.items() if layer_folder_of(name) in both} for named in files]
    assert of_both[0] == of_both[1]


@pytest.mark.thorough
def test_a_year_that_grows_by_a_month_is_made_from_its_layer_without_it(
    lake: Path, tmp_path: Path, small_tasks: None
) -> None:
    """With the same bytes as from the lake. A layer that is damaged stops it, until `--repair` reads the lake."""
    stores = [FolderStore(str(tmp_path / name)) for name in "abc"]
    changed = shutil.copytree(lake, tmp_path / "lake")
    months = {month: sorted(changed.glob(f"*/day=2025-{month}-*/*.parquet")) for month in (11, 12)}
    for rest, files in enumerate(months.values()):  # some products have prices in one of the months alone
        for file in files:
            if file.parent.parent.name in PRICE_TABLES:
                rewrite(file, f"from rows where id_product % 5 != {rest} order by all")
    before, after = open_lake(str(changed), date(2025, 12, 31)), open_lake(str(changed))
    make_build(before, stores[0], resources=Resources(2, "1GB"), progress=QUIET)
    damaged = shutil.copytree(stores[0].root, stores[2].root)
    read = {task.name[:13] for task in plan_only(after, stores[0]).tasks if task.name.startswith("month ")}
    assert read == {"month 2025-12", "month 2026-01"}
    for store in stores[:2]:
        make_build(after, store, resources=Resources(2, "1GB"), progress=QUIET)
    files = [{name: (store.root / name).read_bytes() for name in files_of(store)} for store in stores[:2]]
    layers = {name: data for name, data in files[1].items() if name.startswith("layers/")}
    assert {"history-2025", "extremes-2025"} <= {name.split("/")[1] for name in layers}
    assert {name: files[0][name] for name in layers} == layers

    [pack, *_] = sorted(damaged.glob("layers/history-2025/*/*.jsonl.gz"))
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.write_bytes(data)
    with pytest.raises(DamageError, match="`cardpress build --repair` builds damaged layers again"):
        make_build(after, stores[2], resources=Resources(2, "1GB"), progress=QUIET)
    make_build(after, stores[2], resources=Resources(2, "1GB"), progress=QUIET, repair=True)
    assert {name: (damaged / name).read_bytes() for name in layers} == layers


def job(store: FolderStore, plan: Plan, **more) -> Job:
    digests = {layer.name: layer.digest for layer in plan.layers}
    return Job("run", "2026-01-03-0123456789ab", plan.lake, store.location, Resources(1, "1GB"), False, digests, **more)


def test_a_worker_that_is_not_like_the_client_refuses(lake: Path, tmp_path: Path) -> None:
    store = FolderStore(str(tmp_path / "store"))
    plan = plan_only(open_lake(str(lake)), store)
    [task] = plan.of("sets")
    unseen = run_on_worker(job(store, plan), task)
    other = run_on_worker(job(store, plan, versions={"duckdb": "1"}), task)
    assert isinstance(unseen, BuildError) and "does not see store" in str(unseen)
    assert isinstance(other, BuildError) and "duckdb" in str(other) and "install the same on both" in str(other)
    assert run_on_worker(job(store, plan), task, other) is other, "what needs a failed task fails alike"
    store.put(f"intents/{job(store, plan).build}/nonce.json", b"")
    assert run_on_worker(job(store, plan), task) == run_on_worker(job(store, plan), task), "its output may get lost"


@pytest.mark.thorough
def test_parts_of_a_run_that_was_killed_are_pruned(lake: Path, tmp_path: Path) -> None:
    store = FolderStore(str(tmp_path / "store"))
    make_build(open_lake(str(lake)), store, resources=Resources(2, "1GB"), progress=QUIET)
    store.put("work/2026-01-01-0123456789ab/part", b"1")
    assert prune(store, RetentionRules(), wait=lambda seconds: None).empty
    prune(store, RetentionRules(), wait=lambda seconds: None, clock=in_hours(100))
    assert list(store.list("work/")) == []
