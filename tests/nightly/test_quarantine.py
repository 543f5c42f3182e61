"""The quarantine: which day files a refused night keeps out of later builds, and how that ends."""

import hashlib
import html
import json
import os
import shutil
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import duckdb
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from generator import settings
from generator.compare.run_reports import lost_pointer, read_past
from generator.errors import GateError, PublishError
from generator.lake.files import FileKey
from generator.lake.lake import DAILY_TABLES, open_lake
from generator.lake.quarantine import (
    ACCEPTED,
    DROPPED,
    HELD,
    QuarantinedFile,
    Selection,
    hold,
    read_quarantine,
    settle,
    skipped_by_builds,
)
from generator.making.make import BuildRun
from generator.making.work import BuildContext
from generator.nightly.monitoring import notice
from generator.storage import layout
from generator.storage.builds import live_build_id, open_build
from generator.storage.errors import StoreError
from generator.storage.layout import CHANGES_INDEX, POINTER, QUARANTINE
from generator.storage.stores.folder import FolderStore
from generator.threads import ONE_THREAD
from tests.nightly.test_gates import FOIL, GUIDE, in_cents, of_day
from tests.nightly.test_nightly import night
from tests.support.commands import run
from tests.support.lake_edits import rewrite
from tests.support.nights import FIRST_DAY, demo_lake, make, published

pytestmark = pytest.mark.xdist_group("nights")  # one process: the published builds are made once
BAD_DAY, NEXT_DAY = (FIRST_DAY + timedelta(days=days) for days in (8, 9))
NOW = datetime(2026, 8, 24, 4, 30, tzinfo=UTC)
ONE, OTHER = (FileKey("price_guide", f"2026-08-2{n}", f"{n}" * 64) for n in (3, 4))


def put(store: FolderStore, *keys: FileKey, value: float = 8.0, gate: str = "prices-scaled") -> list[QuarantinedFile]:
    return hold(store, {key: {gate: value} for key in keys}, build="b", run="r", now=NOW)


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(str(tmp_path / "store"))


@pytest.fixture
def refused(tmp_path: Path) -> tuple[FolderStore, Path, str]:
    """A store whose last night refused a guide, its lake, and the refused build."""
    store, lake, _ = published(tmp_path, 7, 8)
    in_cents(demo_lake(lake, 9))
    with pytest.raises(GateError, match=rf"left out of builds: price_guide of {BAD_DAY} .*`cardpress quarantine drop"):
        night(lake, store)
    [file] = read_quarantine(store)
    return store, lake, file.build


def guide_days(store: FolderStore, build: str) -> set[date]:
    """The days of the price guide in the bulk files of a build."""
    opened = open_build(store, build)
    paths = [store.local_path(f.object) for n, f in opened.bulk_files.items() if n.startswith("price_guide-")]
    with duckdb.connect() as connection:
        rows = connection.execute("select distinct day from read_parquet($1)", [list(map(str, paths))]).fetchall()
    return {day for (day,) in rows}


def without(lake: Path, folder: Path, day: date = BAD_DAY) -> Path:
    """A copy of a lake without the guide of a day."""
    shutil.copytree(lake, folder)
    shutil.rmtree(folder / "price_guide" / f"day={day}")
    return folder


def prices_of_a_game(lake: Path, day: date, change: str, place: int = 0) -> tuple[str, set[int]]:
    """Change the prices of a game in a day's guide: of that with the most products, or by its place after it.

    Return its name and its products.
    """
    products = f"""read_parquet('{lake}/products.parquet') as p
        join read_parquet('{lake}/expansions.parquet') as e on e.id = p.id_expansion"""
    with duckdb.connect() as connection:
        query = f"select e.game, list(id_product) as ids from {products} where game is not null group by 1"
        game, ids = connection.execute(f"from ({query}) order by len(ids) desc, game").fetchall()[place]
    columns = ", ".join(f"case when mine then {name} * {change} else {name} end as {name}" for name in (*GUIDE, *FOIL))
    rewrite(
        of_day(lake, "price_guide", day),
        f"select * exclude (mine) replace ({columns}) "
        f"from (select *, id_product in {(*ids, -1)} as mine from rows) order by id_product",
    )
    return game, set(ids)


@pytest.fixture
def few_prices():
    """Judge small games, because the lake is small."""
    with patch.object(settings, "ENOUGH_PRICES", 4):
        yield


@pytest.mark.thorough
def test_a_fault_of_one_game_holds_its_rows_alone(tmp_path: Path, few_prices: None) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    whole = of_day(lake, "price_guide", BAD_DAY).read_bytes()
    game, ids = prices_of_a_game(lake, BAD_DAY, "9")
    report = night(lake, store, pages=True)
    assert report.outcome == "published" and report.data_day == str(BAD_DAY)
    assert report.held.startswith(f"{game}'s prices of {BAD_DAY} are held (")
    first = notice(report, None)["content"].splitlines()[0]
    assert first.startswith(f"cardpress: {report.held}; published, live ")
    pages = [store.get(layout.page_name(report.run, page)).decode() for page in ("report.html", "diff.html")]
    said = [html.unescape(page).index(report.held) for page in pages]
    assert [html.unescape(page)[at - 4 : at] for page, at in zip(pages, said, strict=True)] == ["<h2>", "ht: "]
    for command in (("builds",), ("show",), ("doctor",), ("diff", "previous", "live")):
        assert f"{report.held}" in run(*command, "--store", store.root).stdout, command
    [held] = report.quarantine
    assert (held["table"], held["day"], held["game"], held["verdict"]) == ("price_guide", str(BAD_DAY), game, "held")
    build = open_build(store, report.build)
    assert [(entry["day"], entry["game"]) for entry in build.record["quarantine"]] == [(str(BAD_DAY), game)]
    assert f"price_guide of {BAD_DAY} ({game})" in run("quarantine", "list", "--store", store.root).stderr
    assert json.loads(run("lake", "check", "--store", store.root, "--json").stdout) == [], "it never came in"
    listed = json.loads(run("lake", "days", "--lake", lake, "--store", store.root, "--json").stdout)
    assert [(day["table"], day["verdict"]) for day in listed if day["verdict"] != "read"] == [("price_guide", "held")]

    by_hand, folder = FolderStore(str(tmp_path / "by-hand")), shutil.copytree(lake, tmp_path / "without")
    rewrite(
        of_day(folder, "price_guide", BAD_DAY), f"from rows where id_product not in {(*ids, -1)} order by id_product"
    )
    same = open_build(by_hand, make(folder, by_hand))
    for layer, stem in (("catalogue", "prices"), ("catalogue", "columns"), ("history-open", ""), ("movers", "lines")):
        files = [{f.name for f in (*b.layers[layer].index.packs, *b.layers[layer].index.files)} for b in (build, same)]
        assert {name for name in files[0] if name.startswith(stem)} == {n for n in files[1] if n.startswith(stem)}, (
            layer
        )
    assert {name for name in build.bulk_files if "price_guide" in name} == {
        name for name in same.bulk_files if "price_guide" in name
    }

    demo_lake(lake, 10)
    again = night(lake, store)
    assert again.outcome == "published", "a held game does not stop later nights"
    of_day(lake, "price_guide", BAD_DAY).write_bytes(whole)  # corrected
    assert night(lake, store).outcome == "published"
    assert read_quarantine(store)[0].in_lake is False
    assert whole_guides(store, lake)


@pytest.mark.thorough
def test_an_accepted_game_comes_in_and_is_what_later_days_are_compared_with(tmp_path: Path, few_prices: None) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    prices_of_a_game(demo_lake(lake, 9), BAD_DAY, "1.5")
    assert [file["day"] for file in night(lake, store).quarantine] == [str(BAD_DAY)]
    run("quarantine", "accept", BAD_DAY, "--store", store.root)
    prices_of_a_game(demo_lake(lake, 10), NEXT_DAY, "1.5")
    report = night(lake, store)
    assert report.outcome == "published" and report.quarantine == []
    assert [file.verdict for file in read_quarantine(store)] == [ACCEPTED]
    assert whole_guides(store, lake)


@pytest.mark.thorough
def test_accepting_a_level_that_stays_is_enough(tmp_path: Path, few_prices: None) -> None:
    """All prices are 1.5 times what they were, from a day on."""
    store, lake, _ = published(tmp_path, 7, 8)
    risen = f"select * replace ({', '.join(f'{name} * 1.5 as {name}' for name in (*GUIDE, *FOIL))}) from rows"
    rewrite(of_day(demo_lake(lake, 9), "price_guide", BAD_DAY), risen)
    with pytest.raises(GateError):
        night(lake, store)
    told = run("quarantine", "accept", BAD_DAY, "--store", store.root).stderr
    assert "the next night reads it and compares later days with it: `cardpress nightly" in told
    for days in (10, 11):
        rewrite(of_day(demo_lake(lake, days), "price_guide", FIRST_DAY + timedelta(days=days - 1)), risen)
        assert night(lake, store).outcome == "published", "a day after the accepted one is compared with it"


def test_after_a_refusal_everything_says_what_to_do(refused: tuple[FolderStore, Path, str], tmp_path: Path) -> None:
    store, lake, build = refused
    live = live_build_id(store)
    run("report", "--store", store.root, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "The last night was refused" in page and f"cardpress quarantine drop {BAD_DAY} --store" in page
    shown = run("show", "--store", store.root).stdout
    assert f"the last night was refused: clients see {live}, with prices of {BAD_DAY - timedelta(days=1)}" in shown
    [marked] = [line for line in run("builds", "--store", store.root).stdout.splitlines() if line.startswith(build)]
    assert marked.endswith("  refused")
    advice = f"`cardpress quarantine drop {BAD_DAY} --store {store.root}`: the next night publishes without it"
    assert f": if the day is wrong, {advice}" in run("doctor", "--store", store.root).stdout
    assert json.loads(run("lake", "check", "--store", store.root, "--json").stdout) == [], "it never came in"
    asked = run("quarantine", "accept", BAD_DAY, "--store", store.root, status=1).stderr
    assert asked.splitlines()[0].startswith(f"price_guide of {BAD_DAY}: median of ")
    assert "× 100 over" in asked and asked.endswith("then pass --yes\n")
    assert [file.verdict for file in read_quarantine(store)] == [HELD], "nothing was accepted by mistake"
    accepted = json.loads(run("quarantine", "accept", BAD_DAY, "--yes", "--store", store.root, "--json").stdout)
    assert [(file["table"], file["verdict"]) for file in accepted] == [("price_guide", ACCEPTED)]
    run("quarantine", "drop", BAD_DAY, "--store", store.root)
    for command in ("show", "doctor"):
        said = run(command, "--store", store.root).stdout
        assert f"{BAD_DAY} dropped: run `cardpress nightly --lake LAKE --store {store.root}`" in said, command
    night(demo_lake(lake, 10), store)
    assert "the last night" not in run("show", "--store", store.root).stdout


@pytest.mark.thorough
def test_a_published_day_is_withdrawn_by_one_command(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    night(lake, store)
    for day in (BAD_DAY - timedelta(days=3), BAD_DAY):
        run("quarantine", "drop", day, "--store", store.root)
        said = f"{day} dropped, but not yet in what clients see: `cardpress nightly --lake LAKE --store {store.root}`"
        assert all(said in run(command, "--store", store.root).stdout for command in ("show", "doctor"))
        assert night(lake, store).outcome == "published"
        assert day not in guide_days(store, live_build_id(store))
        assert "dropped, but" not in run("show", "--store", store.root).stdout
    listed = run("quarantine", "list", "--store", store.root).stdout
    assert f"{BAD_DAY} price_guide" in listed and "dropped, withdrawn after it was published" in listed


@pytest.mark.thorough
def test_an_old_day_that_lies_apart_is_found_and_ended(tmp_path: Path, few_prices: None) -> None:
    store, lake, _ = published(tmp_path, 8)
    assert json.loads(run("lake", "check", "--store", store.root, "--json").stdout) == []
    apart = FIRST_DAY + timedelta(days=2)
    game, _ = prices_of_a_game(demo_lake(lake, 9), apart, "9")
    run("build", "--lake", lake, "--store", store.root, "--publish")
    [found] = json.loads(run("lake", "check", "--store", store.root, "--json").stdout)
    assert (found["day"], found["part"], found["name"]) == (str(apart), "game", game)
    assert 8.5 < found["columns"]["trend"] < 9.5
    line = run("lake", "check", "--store", store.root).stdout
    assert f"the game {game}" in line and f"`cardpress quarantine drop {apart} --store {store.root}`" in line
    run("quarantine", "drop", apart, "--store", store.root)
    assert night(demo_lake(lake, 10), store).outcome == "published"
    assert json.loads(run("lake", "check", "--store", store.root, "--json").stdout) == []


def whole_guides(store: FolderStore, lake: Path) -> bool:
    """Return whether the live build has the bulk files of a build without any quarantine."""
    other = FolderStore(str(lake.parent / "other"))
    names = [{*open_build(s, b).bulk_files} for s, b in ((store, live_build_id(store)), (other, make(lake, other)))]
    return {n for n in names[0] if "price_guide" in n} == {n for n in names[1] if "price_guide" in n}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:50], "is damaged: restore it from a backup, or delete it"),
        (lambda data: b"[]", "is damaged"),
        (lambda data: data.replace(b'"held"', b'"kept"'), "is damaged"),
        (lambda data: data.replace(b'"sha256"', b'"sha"'), "is damaged"),
        (lambda data: data.replace(b'"format": 1', b'"format": 2'), "has format 2, this version reads 1: update"),
    ],
)
def test_a_damaged_or_later_list_is_named_in_one_line(store: FolderStore, damage, message: str) -> None:
    put(store, ONE)
    store.put(QUARANTINE, damage(store.get(QUARANTINE)))
    with pytest.raises(StoreError, match=f"^{QUARANTINE} in {store.location} {message}"):
        read_quarantine(store)
    with pytest.raises(StoreError, match=message):
        put(store, OTHER)


@hypothesis_settings(deadline=None, max_examples=5)
@given(data=st.data())
def test_a_lake_seen_through_a_quarantine_is_the_lake_without_its_files(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Digests of layers follow from the days and hashes of the files alone, so those of the files are compared."""
    whole = demo_lake(tmp_path_factory.getbasetemp() / "quarantined", 4)
    files = [file for file in open_lake(str(whole)).files if file.day]
    chosen = data.draw(st.sets(st.sampled_from(files), max_size=len(files) - 1))
    less = tmp_path_factory.mktemp("less") / "lake"
    shutil.copytree(whole, less, copy_function=os.link)
    for file in chosen:
        (less / file.name).unlink()
    as_of = data.draw(st.sampled_from([None, FIRST_DAY + timedelta(days=2)]))
    keys = {FileKey(file.table, str(file.day), file.sha256) for file in chosen}
    others = {FileKey(key.table, key.day, "0" * 64) for key in keys}
    seen, plain = open_lake(str(whole), as_of, left_out=keys | others), open_lake(str(less), as_of)
    assert seen.as_of == plain.as_of
    assert seen.content("products", "expansions", *DAILY_TABLES) == plain.content(
        "products", "expansions", *DAILY_TABLES
    )
    named = {(file["table"], file["day"], file["sha256"]) for file in seen.quarantined}
    assert named == {(f.table, str(f.day), f.sha256) for f in chosen if as_of is None or f.day <= as_of}


@pytest.mark.thorough
def test_the_next_good_night_leaves_a_gap(refused: tuple[FolderStore, Path, str], tmp_path: Path) -> None:
    store, lake, build = refused
    [file] = read_quarantine(store)
    assert (file.table, file.day, file.verdict, file.build) == ("price_guide", str(BAD_DAY), HELD, build)
    assert file.gates.keys() == {"prices-moved"} and file.key in skipped_by_builds(store)
    report = night(demo_lake(lake, 10), store)
    assert report.outcome == "published"
    assert guide_days(store, report.live) == {FIRST_DAY + timedelta(days=n) for n in range(10)} - {BAD_DAY}
    assert open_build(store, report.live).record["quarantine"] == [
        dict(zip(file.key._fields[:3], file.key, strict=False))
    ]
    assert [held["day"] for held in report.quarantine] == [str(BAD_DAY)]
    said = f"price_guide of {BAD_DAY} (prices-moved); `cardpress quarantine drop {BAD_DAY} --store {store.root}`"
    assert said in run("show", "--store", store.root).stdout
    with closing(BuildContext(open_lake(str(without(lake, tmp_path / "less"))), store, ONE_THREAD)) as context:
        assert BuildRun(context).id == report.live, "the same digests of all layers"


@pytest.mark.thorough
def test_a_build_published_by_hand_accepts_its_files(refused, tmp_path: Path) -> None:
    store, lake, build = refused
    run("publish", build, "--store", store.root)
    assert [file.verdict for file in read_quarantine(store)] == [ACCEPTED]
    assert night(lake, store).outcome == "unchanged"
    report = night(demo_lake(lake, 10), store)
    assert report.outcome == "published", "the way back is judged by what was live before"
    assert BAD_DAY in guide_days(store, report.live) and report.quarantine == []
    assert read_past(store, BAD_DAY + timedelta(days=settings.WEEK_DAYS)).week is None


def test_the_days_of_a_lake_have_verdicts(tmp_path: Path) -> None:
    """Held, accepted and dropped files say so; the others were read by the live build, or are new."""
    store, lake, _ = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    [tonight] = json.loads(run("lake", "days", "--lake", lake, "--store", tmp_path / "none", "--json").stdout)[8:9]
    file = of_day(lake, "price_guide", BAD_DAY)
    with duckdb.connect() as connection:
        [(rows,)] = connection.execute(f"select count(*) from '{file}'").fetchall()
    written = datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert tonight == {
        "table": "price_guide", "day": str(BAD_DAY), "rows": rows, "source": file.stem, "imported": written,
        "verdict": "new", "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }  # fmt: skip
    put(store, FileKey("price_guide", str(BAD_DAY), tonight["sha256"]))
    words = ("lake", "days", "--lake", lake, "--store", store.root)
    verdicts = [line.split()[5] for line in run(*words, "--table", "price_guide").stdout.splitlines()]
    assert verdicts == ["read"] * 8 + ["held"]
    settle(store, Selection([str(BAD_DAY)]), DROPPED)
    listed = json.loads(run(*words, "--json").stdout)
    assert [f["verdict"] for f in listed if f["day"] == str(BAD_DAY)] == ["dropped", "new", "new", "new"]


@pytest.mark.parametrize("options", [{"forced": ("prices-moved",)}, {"thresholds": {"prices-moved": 1.0}}])
@pytest.mark.thorough
def test_a_forced_gate_reads_and_accepts_what_it_refused(refused, options: dict) -> None:
    store, lake, build = refused
    report = night(lake, store, **options)
    assert (report.live, report.quarantine) == (build, [])
    assert [file.verdict for file in read_quarantine(store)] == [ACCEPTED]


@pytest.mark.thorough
def test_a_corrected_file_is_judged_again(refused, tmp_path: Path) -> None:
    store, lake, _ = refused
    file = of_day(lake, "price_guide", BAD_DAY)
    file.write_bytes(of_day(demo_lake(tmp_path / "good", 9), "price_guide", BAD_DAY).read_bytes())
    report = night(lake, store)
    assert report.outcome == "published" and report.quarantine == [] and report.data_day == str(BAD_DAY)
    demo_lake(lake, 10)
    rewrite(of_day(lake, "price_guide", NEXT_DAY), "from rows order by id_product limit 5")
    with pytest.raises(GateError, match="guide-shrank"):
        night(lake, store)
    assert [(file.day, file.in_lake) for file in read_quarantine(store)] == [
        (str(BAD_DAY), False), (str(NEXT_DAY), True)
    ]  # fmt: skip


@pytest.mark.thorough
def test_several_refused_nights_and_pruned_builds(refused) -> None:
    store, lake, _build = refused
    in_cents(demo_lake(lake, 10), NEXT_DAY)
    with pytest.raises(GateError, match=f"price_guide of {NEXT_DAY}"):
        night(lake, store)
    run("prune", "--store", store.root, "--keep", "1", "--grace", "0")
    assert {file.day for file in read_quarantine(store) if file.waits} == {str(BAD_DAY), str(NEXT_DAY)}
    report = night(demo_lake(lake, 11), store)
    assert guide_days(store, report.live) == {FIRST_DAY + timedelta(days=n) for n in range(11)} - {BAD_DAY, NEXT_DAY}
    run("quarantine", "accept", BAD_DAY, NEXT_DAY, "--yes", "--store", store.root)
    assert BAD_DAY in guide_days(store, night(lake, store).live)


@pytest.mark.thorough
def test_a_bad_day_between_two_nights_is_held_alone(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    in_cents(demo_lake(lake, 10), BAD_DAY)
    refused = pytest.raises(GateError, match=f"on {BAD_DAY}, a day that is new in the history, are at least ")
    with patch.object(settings, "ENOUGH_PRICES", 4), refused:
        night(lake, store)
    assert [file.day for file in read_quarantine(store)] == [str(BAD_DAY)]
    days = {FIRST_DAY + timedelta(days=n) for n in range(10)}
    assert guide_days(store, night(lake, store).live) == days - {BAD_DAY}


@pytest.mark.thorough
def test_a_day_that_was_corrected_badly_and_withdrawn_is_no_loss_of_records(tmp_path: Path) -> None:
    """The live build has a day whose file is replaced by a bad one; then the day is taken out of the lake."""
    store, lake, _ = published(tmp_path, 7, 8)
    in_cents(lake, FIRST_DAY + timedelta(days=7))
    with pytest.raises(GateError, match="prices-moved"):
        night(lake, store)
    shutil.rmtree(lake / "price_guide" / f"day={FIRST_DAY + timedelta(days=7)}")
    report = night(demo_lake(lake, 9), store)
    assert report.outcome == "published" and report.quarantine == []


@pytest.mark.thorough
def test_a_refused_catalogue_holds_no_file(tmp_path: Path) -> None:
    """A catalogue is one file for all days: nothing of it can be left out, so each night is refused."""
    store, lake, _ = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    rewrite(lake / "expansions.parquet", "select * replace (concat('x', name) as name) from rows order by id")
    for _ in range(2):
        with pytest.raises(GateError, match="sets-renamed"):
            night(lake, store)
    assert read_quarantine(store) == []


def test_a_night_with_a_damaged_list_ends_with_one_line(tmp_path: Path) -> None:
    store, lake, ids = published(tmp_path, 7, 8)
    store.put(QUARANTINE, b"?")
    failed = run("nightly", "--lake", lake, "--store", store.root, status=1)
    assert f"{QUARANTINE} in {store.root} is damaged" in failed.stderr.splitlines()[-1]
    assert live_build_id(store) == ids[1]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "lose", [lambda s: s.delete([QUARANTINE]), lambda s: s.put(QUARANTINE, b'{"format": 1, "files": []}')]
)
def test_a_lost_list_lets_no_dropped_day_in(tmp_path: Path, lose) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    withdrawn = FIRST_DAY + timedelta(days=7)
    run("quarantine", "drop", withdrawn, "--store", store.root)
    without_it = night(lake, store).build
    lose(store)
    for command in (("nightly", "--lake", lake), ("verify",)):
        failed = run(*command, "--store", store.root, status=1).stderr.splitlines()[-1]
        assert f"lacks days that the live build {without_it} left out: restore it from a backup, or decide" in failed
    assert f"`cardpress quarantine drop {withdrawn} --store {store.root}`" in failed
    run("quarantine", "drop", withdrawn, "--store", store.root)
    assert {(file.day, file.verdict) for file in read_quarantine(store)} == {(str(withdrawn), DROPPED)}
    assert night(lake, store).outcome == "unchanged"


@pytest.mark.thorough
def test_a_night_publishes_nothing_unjudged_because_the_pointer_is_lost(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    live = night(demo_lake(lake, 9), store).build
    store.delete([POINTER])
    in_cents(demo_lake(lake, 10), NEXT_DAY)
    for _ in range(2):
        with pytest.raises(PublishError, match=f"was built but not published: {POINTER} is missing, but the night "):
            night(lake, store)
    assert f"{POINTER} is missing" in run("build", "--lake", lake, "--store", store.root, "--publish", status=1).stderr
    for name in store.list("reports/"):
        store.delete([name])
    assert f"but {CHANGES_INDEX} shows that builds were live" in (lost_pointer(store) or "")
    run("publish", live, "--store", store.root)
    with pytest.raises(GateError):
        night(lake, store)
    assert live_build_id(store) == live


def test_wrong_days_are_refused(store: FolderStore) -> None:
    store.root.mkdir(parents=True)
    assert run("quarantine", "list", "--store", store.root, "--json").stdout == "[]\n"
    run("quarantine", "accept", "soon", "--store", store.root, status=2)
    run("quarantine", "drop", "--store", store.root, status=2)
    failed = run("quarantine", "drop", "2026-08-24", "--store", store.root, status=1)
    assert failed.stderr.count("\n") == 1 and "no file of 2026-08-24 is in quarantine" in failed.stderr
