"""/changes: the steps of a store and their documents, against Cards that are compared one by one."""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from generator.clock import utc_now
from generator.errors import BuildError
from generator.reading.doctor import check_store
from generator.releases import change_documents
from generator.releases import publish as publishing
from generator.releases.change_documents import missing_steps, verify_steps
from generator.releases.prune import RetentionRules, prune
from generator.releases.publish import publish, rollback
from generator.storage import layout
from generator.storage.builds import open_build, read_pointer
from generator.storage.changes import KEPT_STEPS, LISTED_STEPS, read_index
from generator.storage.stores.folder import FolderStore
from generator.tree.documents import lists_of
from tests.support.commands import run
from tests.support.lakes import Rows, write
from tests.support.nights import in_hours, make
from tests.support.service import until
from tests.support.shared import shared_folder
from tests.support.shim_clients import AnyClient, open_client

pytestmark = pytest.mark.xdist_group("changes")  # one process: what they share is made once

NIGHTS, MANY_NIGHTS = 5, 8
PRICES = {"price_guide", "filtered_price", "listing"}
PRODUCT = {"id_product": 1, "kind": "single"}
Cards = dict[int, dict]


def lakes(count: int = NIGHTS) -> tuple[FolderStore, tuple[str, ...]]:
    """A store with a build for each of some random nights, none of them published, and their ids."""
    folder = shared_folder(f"random-nights-{count}", partial(build_nights, count))
    return FolderStore(str(folder / "store")), tuple((folder / "ids").read_text().split())


def build_nights(count: int, folder: Path) -> None:
    """Build the lakes of some random nights, each from the one before. Keep the ids of their builds."""
    rng, store = random.Random(4), FolderStore(str(folder / "store"))
    rows = {id_: drawn(id_, rng) for id_ in range(-3, 40)}
    ids = []
    for night in range(count):
        day = f"2026-03-{night + 1:02}"
        guide = [{"id_product": id_, "trend": rng.randint(1, 9) / 2} for id_ in rows if rng.random() < 0.7]
        expansions = [{"id": 1, "name": rng.choice(("Base", "151"))}, {"id": 2, "name": 'Say "hi", {x}'}]
        lake = Rows(products=list(rows.values()), expansions=expansions, price_guide={day: guide})
        ids.append(make(write(lake, folder / f"lake-{night}"), store))
        for id_ in rng.sample(sorted(rows), rng.choice((0, 1, 5))):
            del rows[id_]
        for id_ in rng.sample(range(-3, 60), rng.choice((0, 3, 9))):
            rows[id_] = drawn(id_, rng)
    (folder / "ids").write_text("\n".join(ids))


def drawn(id_: int, rng: random.Random) -> dict:
    return {
        "id_product": id_,
        "name": rng.choice(("Fox", 'Say "hi"', 'Ünï ,"price_guide":')) + str(id_),
        "kind": rng.choice(("single", "sealed")),
        "rarity": rng.choice((None, "Rare")),
        "id_expansion": rng.choice((None, 1, 2, 3)),
        "image": rng.choice((None, "https://img.example/a.png")),
    }


@pytest.fixture
def nights(tmp_path: Path) -> tuple[FolderStore, tuple[str, ...]]:
    return copied(tmp_path, NIGHTS)


@pytest.fixture
def many_nights(tmp_path: Path) -> tuple[FolderStore, tuple[str, ...]]:
    return copied(tmp_path, MANY_NIGHTS)


def copied(folder: Path, count: int) -> tuple[FolderStore, tuple[str, ...]]:
    store, ids = lakes(count)
    shutil.copytree(store.root, folder / "store")
    return FolderStore(str(folder / "store")), ids


@pytest.fixture
def client() -> Iterator[Callable[[FolderStore], AnyClient]]:
    """Return a function that starts a shim over a store and returns a client of it."""
    with ExitStack() as stack:
        yield lambda store: stack.enter_context(open_client(store.location, str(store.root.parent / "state"), 100_000))


def get_json(shim: AnyClient, target: str) -> dict:
    answer = shim.get(f"/api/v1/{target}")
    assert answer.status == 200, answer.body
    assert "X-Build" not in answer.headers
    return answer.json


def cards(store: FolderStore, build: str) -> Cards:
    pages = lists_of(open_build(store, build))["cards/all/name"]
    found = [card for number in range(pages.pages) for card in json.loads(pages.page(number))["data"]]
    return {card["id_product"]: card for card in found}


def brute_force(old: Cards, new: Cards) -> dict:
    """What differs between two builds, computed in the plainest way."""
    changed = []
    for id_ in sorted(old.keys() & new.keys()):
        fields = sorted(name for name in new[id_] if name not in PRICES and new[id_][name] != old[id_][name])
        if fields:
            changed.append({"id_product": id_, "fields": fields})
    return {
        "added": sorted(new.keys() - old.keys()),
        "removed": [{"id_product": id_, "name": old[id_]["name"]} for id_ in sorted(old.keys() - new.keys())],
        "changed": changed,
    }


def apply(mirror: Cards, step: dict, source: Cards) -> None:
    """Bring a mirror forward by one document, reading from the newer build only what the document names."""
    for removed in step["removed"]:
        assert mirror.pop(removed["id_product"])["name"] == removed["name"]
    for id_ in step["added"]:
        mirror[id_] = dict(source[id_])
    for changed in step["changed"]:
        mirror[changed["id_product"]] |= {field: source[changed["id_product"]][field] for field in changed["fields"]}


def without_prices(some: Cards) -> Cards:
    return {id_: {name: card[name] for name in card.keys() - PRICES} for id_, card in some.items()}


@pytest.mark.thorough
def test_thirty_random_nights_bring_a_mirror_from_the_first_build_to_the_last(client, many_nights) -> None:
    store, ids = many_nights
    rng, live = random.Random(7), [ids[0]]
    publish(store, ids[0], by_hand=True)
    for _ in range(30):
        if rng.random() < 0.3 and read_pointer(store)[0].previous:
            live.append(rollback(store))
        else:
            live.append(rng.choice([id_ for id_ in ids if id_ != live[-1]]))
            publish(store, live[-1], by_hand=True)
    content = {build: cards(store, build) for build in ids}
    shim = client(store)
    steps = get_json(shim, "changes?limit=100")["data"]
    assert [(step["from"], step["to"]) for step in steps] == list(pairwise(live))[::-1]
    mirror = {id_: dict(card) for id_, card in content[live[0]].items()}
    for step in reversed(steps):
        document = get_json(shim, step["url"].removeprefix("/api/v1/"))
        expected = brute_force(content[step["from"]], content[step["to"]])
        assert document == {"from": step["from"], "to": step["to"], "as_of": step["to"][:10]} | expected
        assert {name: step[name] for name in expected} == {name: len(expected[name]) for name in expected}
        apply(mirror, document, content[step["to"]])
    assert without_prices(mirror) == without_prices(content[live[-1]])
    since_each_build_was_live(shim, live)
    assert verify_steps(store) == len(set(pairwise(live)))


def since_each_build_was_live(shim: AnyClient, live: list[str]) -> None:
    for build in set(live):
        last = len(live) - 1 - live[::-1].index(build)
        found = get_json(shim, f"changes?since={build}&limit=100")["data"]
        assert [(step["from"], step["to"]) for step in found] == list(pairwise(live))[last:]


@pytest.fixture
def published(nights, client) -> Iterator[tuple[FolderStore, tuple[str, ...], AnyClient]]:
    """A store with three builds published one after the other, and its shim."""
    store, ids = nights
    for build in ids[:3]:
        publish(store, build, by_hand=True)
    yield store, ids, client(store)


def test_the_contract_of_both_paths(published) -> None:
    _, ids, shim = published
    first = shim.get("/api/v1/changes?limit=1", X_Build="nonsense")
    assert (first.status, first.headers["X-Total-Count"]) == (200, "2")
    assert first.json["pagination"] == {
        "limit": 1, "offset": 0, "returned": 1, "has_more": True, "next_offset": 1
    }  # fmt: skip
    assert get_json(shim, f"changes?since={ids[2]}")["data"] == []
    assert shim.get("/api/v1/changes", If_None_Match=shim.get("/api/v1/changes").headers["ETag"]).status == 304
    for query in (
        "since=",
        "since=x",
        f"since={ids[4]}",
        "limit=0",
        "limit=101",
        "offset=-1",
        "q=1",
        "limit=1&limit=1",
    ):
        assert (shim.get(f"/api/v1/changes?{query}").status, query) == (400, query)
    pair = f"{ids[0]}...{ids[1]}"
    assert shim.get(f"/api/v1/changes/{pair}?limit=1").status == 400
    for wrong in (f"{ids[1]}...{ids[0]}", f"{ids[0]}...{ids[2]}", ids[0], "...", f"{pair}/", f"{ids[0]}..{ids[1]}"):
        assert (shim.get(f"/api/v1/changes/{wrong}").status, wrong) == (404, wrong)
    assert shim.get(f"/api/v1/changes/{pair}", "POST").status == 405
    assert shim.get("/api/v1/changes", key=None).status == 401


@pytest.mark.thorough
def test_a_build_that_another_worker_made_live_is_known_at_once(published) -> None:
    store, ids, shim = published
    publish(store, ids[3], by_hand=True)
    assert get_json(shim, f"changes?since={ids[3]}")["data"] == []
    publish(store, ids[4], by_hand=True)
    assert get_json(shim, f"changes/{ids[3]}...{ids[4]}")["to"] == ids[4]


@pytest.mark.thorough
def test_a_killed_command_leaves_no_gap(client, published, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pointer moves in the same write as the step; a document that is missing is made by the next command."""
    store, ids, _ = published
    with monkeypatch.context() as killed:
        killed.setattr(publishing, "prepare_step", lambda *_: None)
        killed.setattr(publishing, "complete_steps", lambda *_: None)
        publish(store, ids[3], by_hand=True)
        publish(store, ids[4], by_hand=True)
    assert [step.to for step in missing_steps(store)] == [ids[3], ids[4]]
    shim = client(store)
    assert [step["to"] for step in get_json(shim, "changes")["data"]] == [ids[2], ids[1]]  # it ends before them
    assert get_json(shim, f"changes?since={ids[3]}")["data"] == []
    assert shim.get(f"/api/v1/changes/{ids[2]}...{ids[3]}").status == 404
    assert [finding.check for finding in check_store(store, utc_now)].count("changes") == 1
    run("prune", "--store", store.location, "--keep", "1", "--grace", "0")
    assert missing_steps(store) == []
    until(lambda: len(get_json(shim, "changes")["data"]) == 4, 60, "all steps show")
    assert (
        brute_force(*(cards(lakes()[0], id_) for id_ in ids[2:4])).items()
        <= get_json(shim, f"changes/{ids[2]}...{ids[3]}").items()
    )


@pytest.mark.thorough
def test_a_step_whose_build_is_lost_ends_the_list(client, published, monkeypatch: pytest.MonkeyPatch) -> None:
    store, ids, _ = published
    monkeypatch.setattr(publishing, "prepare_step", lambda *_: None)
    monkeypatch.setattr(publishing, "complete_steps", lambda *_: None)
    publish(store, ids[3], by_hand=True)
    monkeypatch.undo()
    store.delete([layout.record_name(ids[2])])
    publish(store, ids[4], by_hand=True)
    shim = client(store)
    assert [(step["from"], step["to"]) for step in get_json(shim, "changes")["data"]] == [(ids[3], ids[4])]
    assert get_json(shim, f"changes?since={ids[3]}")["data"] != []
    assert shim.get(f"/api/v1/changes?since={ids[2]}").status == 400
    assert missing_steps(store) == []


@pytest.mark.thorough
def test_a_hundred_steps_are_listed_and_older_documents_pruned(client, many_nights) -> None:
    store, ids = many_nights
    for number in range(5):
        publish(store, ids[number], by_hand=True)
    for number in range(KEPT_STEPS + 3):
        publish(store, ids[5 + number % 2], by_hand=True)
    shim = client(store)
    assert shim.get("/api/v1/changes").headers["X-Total-Count"] == str(LISTED_STEPS)
    assert len(read_pointer(store)[0].moved_from) == KEPT_STEPS
    assert store.stat(layout.changes_name(ids[0], ids[1])) is not None
    prune(store, RetentionRules(keep=7), clock=in_hours(100), wait=lambda _: None)
    assert store.stat(layout.changes_name(ids[0], ids[1])) is None
    pairs = {layout.pair(*pair) for pair in ((ids[5], ids[6]), (ids[6], ids[5]))}
    assert read_index(store).keys() == pairs
    assert (
        get_json(shim, "changes?since=" + ids[5])["data"][0]["to"] == ids[6]
        if ids[5] != read_pointer(store)[0].build
        else True
    )


def test_verify_and_doctor_find_a_damaged_document(published) -> None:
    store, ids, shim = published
    run("verify", "--store", store.location)
    name = layout.changes_name(ids[0], ids[1])
    store.put(name, b"{}")
    assert f"{name} differs from its recorded hash" in run("verify", "--store", store.location, status=1).stderr
    assert shim.get(f"/api/v1/changes/{ids[0]}...{ids[1]}").status == 500
    store.delete([name])
    with pytest.raises(BuildError, match="is missing"):
        verify_steps(store)
    assert [finding.message for finding in check_store(store, utc_now) if finding.check == "changes"] == [
        f"{name} is missing"
    ]


@pytest.mark.parametrize(
    "lose", [lambda s: s.delete([layout.CHANGES_INDEX]), lambda s: s.put(layout.CHANGES_INDEX, b"{}")]
)
def test_a_lost_index_is_not_taken_for_no_steps(client, published, lose: Callable[[FolderStore], None]) -> None:
    store, ids, _ = published
    lose(store)
    shim = client(store)  # one that never saw the index
    for target in ("changes", f"changes?since={ids[0]}", f"changes/{ids[0]}...{ids[1]}"):
        assert shim.get(f"/api/v1/{target}").status == 500, target
    lacks = f"lacks 2 of the 2 steps that current.json records, such as {ids[0]}...{ids[1]}: `cardpress prune"
    assert lacks in run("verify", "--store", store.location, status=1).stderr
    assert [finding.check for finding in check_store(store, utc_now) if finding.check == "changes"] == ["changes"]
    run("prune", "--store", store.location)
    run("verify", "--store", store.location)
    until(lambda: shim.get("/api/v1/changes").headers.get("X-Total-Count") == "2", 60, "the steps are there again")
    assert [step["to"] for step in get_json(shim, f"changes?since={ids[0]}")["data"]] == [ids[1], ids[2]]


@pytest.mark.thorough
def test_a_comparison_that_fails_is_said_and_stops_no_publish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = FolderStore(str(tmp_path / "store"))
    guide = {"2026-03-01": [{"id_product": 1, "trend": 1.0}]}
    lakes = [Rows(products=[PRODUCT | {"name": name}], price_guide=guide) for name in ("before", "after")]
    builds = [make(write(rows, tmp_path / f"lake-{number}"), store) for number, rows in enumerate(lakes)]
    publish(store, builds[0], by_hand=True)
    monkeypatch.setattr(change_documents, "_store_comparison", fail)
    publish(store, builds[1], by_hand=True)
    said = (
        f"/changes lacks the step from {builds[0]} to {builds[1]}: out of memory; the next publish or prune tries again"
    )
    assert capsys.readouterr().err.splitlines() == [said]
    monkeypatch.undo()
    store.put(layout.CHANGES_INDEX, b"{")
    change_documents.complete_steps(store)
    assert capsys.readouterr().err.startswith("the steps of /changes were not checked: ")
    store.delete([layout.CHANGES_INDEX])
    change_documents.complete_steps(store)
    assert capsys.readouterr().err == "" and missing_steps(store) == []


def fail(*_: object) -> Iterator[None]:
    raise BuildError("out of memory")


def test_nothing_is_listed_before_the_second_publish(client, nights) -> None:
    store, ids = nights
    shim = client(store)
    assert shim.get("/api/v1/changes").status == 500
    publish(store, ids[0], by_hand=True)
    until(lambda: shim.get("/api/v1/changes").status == 200, 60, "the build goes live")
    assert get_json(shim, "changes") == {
        "data": [],
        "pagination": {"limit": 50, "offset": 0, "returned": 0, "has_more": False, "next_offset": None},
    }
