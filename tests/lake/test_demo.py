"""The demo lake: same bytes, whole days, the contract's tables and rules, every awkward trait it promises."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import unicodedata
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from generator.demo import catalogue
from generator.demo.lake import write_demo
from generator.errors import LakeError
from tests.support.recorded import Recorded

pytestmark = [pytest.mark.xdist_group("demo"), pytest.mark.thorough]  # one process: the lake is made once
ROOT = Path(__file__).parents[2]
ROWS = ROOT / "tests" / "golden" / "demo-rows.sha256"
PRICES = ("low", "avg", "trend", "avg1", "avg7", "avg30")
DAILY = ["price_guide", "listings", "filtered_checks", "watch_checks"]
TABLES = ["expansions", "products", "watchlist", "fingerprints", "identifiers", *DAILY]


def run(*arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "generator", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def files_of(lake: Path) -> dict[str, str]:
    """Return the path and hash of every file except the note with the arguments."""
    paths = sorted(path for path in lake.rglob("*") if path.is_file() and path.name != "demo.json")
    return {p.relative_to(lake).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess]:
    lake = tmp_path_factory.mktemp("demo") / "the lake"
    return lake, run("demo", lake, "--end", "2026-02-12")


@pytest.fixture(scope="module")
def lake(made: tuple[Path, subprocess.CompletedProcess]) -> Path:
    return made[0]


@pytest.fixture(scope="module")
def db(lake: Path) -> duckdb.DuckDBPyConnection:
    """The default lake, one view per table."""
    connection = duckdb.connect()
    for table in TABLES:
        files = lake / table / "day=*" / "*.parquet" if table in DAILY else lake / f"{table}*.parquet"
        connection.execute(f"create view {table} as from read_parquet('{files}', hive_partitioning = true)")
    return connection


def one(db: duckdb.DuckDBPyConnection, query: str) -> object:
    return db.execute(query).fetchone()[0]


def are_there(db: duckdb.DuckDBPyConnection, table: str, *conditions: str) -> None:
    """Assert that a table has rows of each kind."""
    for condition in conditions:
        assert one(db, f"select count(*) from {table} where {condition}") > 0, condition


def texts(db: duckdb.DuckDBPyConnection, query: str) -> list[str]:
    return [text for (text,) in db.execute(query).fetchall()]


def test_the_command_tells_what_it_wrote_and_what_comes_next(made):
    lake, result = made
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert lines[-1] == f"cardpress build --lake '{lake}' --publish"
    assert [line.split()[0] for line in lines[:-1]] == list(TABLES)
    assert re.search(r"^products +2,000 rows$", result.stdout, re.M)
    assert result.stderr == "days: 90 done\n"


@pytest.mark.parametrize("arguments", [["--products", "0"], ["--days", "0"], ["--seed", "-1"], ["--days", "x"]])
def test_bad_arguments_are_wrong_usage(tmp_path, arguments):
    assert run("demo", tmp_path / "lake", *arguments).returncode == 2
    assert not (tmp_path / "lake").exists()


def test_no_lake_is_written_to_s3():
    result = run("demo", "s3://bucket/lake")
    assert result.returncode == 2
    assert "folder" in result.stderr


def test_the_same_arguments_give_the_same_bytes(tmp_path):
    write_demo(tmp_path / "one", 300, 15, 1)
    write_demo(tmp_path / "two", 300, 15, 1)
    write_demo(tmp_path / "other", 300, 15, 2)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    ours, others = files_of(tmp_path / "one"), files_of(tmp_path / "other")
    assert {name for name in ours if ours[name] == others.get(name)} == {"fingerprints.json"}


def test_the_rows_are_the_same_on_every_machine(tmp_path: Path, recorded: Recorded) -> None:
    """The files depend on the version of the Parquet writer; what they say must not depend on anything."""
    write_demo(tmp_path / "lake", 60, 3, 1)
    digest = hashlib.sha256()
    for path in sorted((tmp_path / "lake").rglob("*.parquet")):
        digest.update(repr(pq.ParquetFile(path).read().to_pylist()).encode())
    if not recorded.write(ROWS, digest.hexdigest() + "\n"):
        assert digest.hexdigest() == ROWS.read_text().strip(), "other rows: run make golden"


def test_a_day_more_leaves_the_days_before_alone(tmp_path):
    lake = tmp_path / "lake"
    write_demo(lake, 200, 20, 1)
    before = files_of(lake)
    times = {name: (lake / name).stat().st_mtime_ns for name in before}
    write_demo(lake, 200, 22, 1)
    assert {name: (lake / name).stat().st_mtime_ns for name in before} == times
    after = files_of(lake)
    assert before.items() < after.items()
    assert {name.split("/")[1] for name in after.keys() - before.keys()} == {"day=2025-12-05", "day=2025-12-06"}
    write_demo(tmp_path / "fresh", 200, 22, 1)
    assert files_of(tmp_path / "fresh") == after
    write_demo(lake, 200, 20, 1)
    assert files_of(lake) == before


def days_of(lake: Path) -> list[str]:
    return sorted(path.name.removeprefix("day=") for path in (lake / "price_guide").iterdir())


def test_days_end_today_or_on_the_day_named_and_more_days_are_later_nights(tmp_path):
    lake = tmp_path / "lake"
    today = datetime.now(UTC).date()
    run("demo", lake, "--products", 20, "--days", 3)
    assert days_of(lake)[-1] in (str(today), str(datetime.now(UTC).date()))
    run("demo", lake, "--products", 20, "--days", 3, "--end", "2026-03-01")
    assert days_of(lake) == ["2026-02-27", "2026-02-28", "2026-03-01"]
    before = files_of(lake / "price_guide")
    run("demo", lake, "--products", 20, "--days", 4)
    assert days_of(lake)[-1] == "2026-03-02" and before.items() <= files_of(lake / "price_guide").items()
    write_demo(tmp_path / "fixed", 20, 4, 1)
    moved, fixed = (pq.read_table(folder / "products.parquet") for folder in (lake, tmp_path / "fixed"))
    apart = date(2026, 3, 2) - date(2025, 11, 18)
    times = zip(moved["date_added"].to_pylist(), fixed["date_added"].to_pylist(), strict=True)
    assert all(later == (earlier and earlier + apart) for later, earlier in times)
    assert moved.drop(["date_added"]) == fixed.drop(["date_added"])
    assert run("demo", lake, "--end", "yesterday").returncode == 2


def test_a_demo_lake_may_be_replaced_but_other_tables_never(tmp_path):
    lake = tmp_path / "lake"
    write_demo(lake, 20, 2, 1)
    (lake / "notes.txt").write_text("mine")
    write_demo(lake, 30, 1, 7)
    assert json.loads((lake / "demo.json").read_text())["products"] == 30
    for name in ["products-mine.parquet", "price_guide/day=2025-11-15/mine.parquet", "listings/x.parquet"]:
        (lake / name).parent.mkdir(exist_ok=True)
        shutil.copy(lake / "products.parquet", lake / name)
        before = files_of(lake)
        result = run("demo", lake)
        assert (result.returncode, result.stdout) == (1, "")
        assert name in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert files_of(lake) == before
        (lake / name).unlink()


@pytest.mark.parametrize("name", ["products.parquet", "fingerprints.json", "watch_checks/day=2026-01-01/a.parquet"])
def test_a_lake_that_is_no_demo_is_refused(tmp_path, name):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(LakeError, match="no demo lake"):
        write_demo(tmp_path, 20, 2, 1)
    assert files_of(tmp_path).keys() == {name}


def test_a_file_is_no_lake(tmp_path):
    (tmp_path / "lake").write_text("")
    with pytest.raises(LakeError, match="is a file"):
        write_demo(tmp_path / "lake", 20, 2, 1)
    with pytest.raises(LakeError, match="cannot be written"):
        write_demo(tmp_path / "lake" / "inside", 20, 2, 1)


@pytest.mark.parametrize(("products", "days"), [(1, 1), (2, 3), (31, 2)])
def test_small_lakes_have_every_file(tmp_path, products, days):
    write_demo(tmp_path, products, days, 3)
    assert pq.read_metadata(tmp_path / "products.parquet").num_rows == products
    assert all((tmp_path / f"{table}.parquet").exists() for table in TABLES if table not in DAILY)
    assert len(list((tmp_path / "price_guide").iterdir())) == days


def test_fingerprints_have_the_recipes_shape(db, lake):
    assert json.loads((lake / "fingerprints.json").read_text()) == {
        "version": "cardpress-1",
        "image_url": "/explore/drawn/{key}.svg",
    }
    wrong = "not (regexp_full_match(art_p || art_d || card_p, '[0-9a-f]{48}') and length(art_p) = 16 "
    wrong += "and length(art_d) = 16 and regexp_full_match(colour, '[0-9a-f]{96}'))"
    assert one(db, f"select count(*) from fingerprints where {wrong}") == 0
    assert one(db, "select count(*) from fingerprints where art_d like '00%'") > 0
    assert one(db, "select count(*) from fingerprints where len(products) > 1") > 0
    shown = "select unnest(products) as id_product, key from fingerprints"
    single = "select id_product, image[16:31] as key from products where kind = 'single' and image is not null"
    assert one(db, f"select count(*) from (({shown}) except ({single}))") == 0
    assert one(db, f"select count(*) from (({single}) except ({shown}))") == 0
    unknown = "select count(*) from (select unnest(products) as id_product from fingerprints) anti join products"
    assert one(db, f"{unknown} using (id_product)") == 0


def test_days_run_on_from_the_first_with_holes(db):
    days = {t: set(texts(db, f"select distinct day::varchar from {t}")) for t in DAILY}
    assert min(days["price_guide"]) == "2025-11-15"
    assert max(days["price_guide"]) == "2026-02-12"
    for known in days.values():
        assert 80 < len(known) < 90


def test_expansions_are_awkward(db):
    names = texts(db, "select name from expansions")
    ids = texts(db, "select id::varchar from expansions")
    assert "151" in names
    assert "151" not in ids
    assert set(names) & set(ids)
    assert len(set(names)) < len(names)
    assert {"Warden's Vigil", "Warden’s Vigil"} < set(names)
    assert any(unicodedata.normalize("NFC", name) != name for name in names)
    assert any(a != b and a in b for a in names for b in names)
    empty = "select count(*) from expansions anti join products on id = id_expansion"
    assert one(db, empty) == 1
    sizes = texts(db, "select count(*) from products group by id_expansion order by 1")
    assert sizes[-1] > 5 * sizes[len(sizes) // 2]
    are_there(
        db, "products", "id_expansion is null", "id_expansion > 0 and id_expansion not in (select id from expansions)"
    )


PATTERNS = [
    "^.$", "é", "[öÖ]", "[ñÑ]", "★", "δ", "[ァ-ヶ]", '"', '""', "&", "_", "%", r"^\d", "  ", " $", "’", "'", r"\\",
    "<b>", r"^\w+ \[[^|]+ \| .+\]$", "\u200e", "ß", "^.{120,}$", "/", r"\?",
]  # fmt: skip


def test_names_hold_everything_a_search_must_bear(db):
    names = texts(db, "select name from products")
    assert [pattern for pattern in PATTERNS if not any(re.search(pattern, name) for name in names)] == []


def test_products_are_of_both_kinds_and_lack_things(db):
    assert 0.03 < one(db, "select avg((kind = 'sealed')::int) from products") < 0.1
    assert one(db, "select count(number) + count(rarity) from products where kind = 'sealed'") == 0
    for column in ["category", "rarity", "number", "image", "image_large", "url", "date_added"]:
        share = one(db, f"select avg(({column} is null)::int) from products where kind = 'single'")
        assert 0 < share < 0.4, column
    patterns = [r"\d+[ab]", r"[A-Z]{3}\d{3}", r"[A-Z]{2} \d+"]
    are_there(db, "products", *(f"number = '{number}'" for number in ("4", "004", "TG04", "000", "!", "?")))
    are_there(db, "products", "url like '%?%'", "url like '%#%'")
    are_there(db, "products", *(f"regexp_full_match(number, '{pattern}')" for pattern in patterns))
    assert one(db, "select count(distinct rarity) from products where lower(trim(rarity)) = 'holo rare'") == 2
    assert one(db, "select max(n) from (select count(*) as n from products group by date_added)") > 20


def test_prices_are_believable(db):
    """Rarer cards cost more, and the lowest offer is below the trend."""
    newest = (
        "select rarity, trend from price_guide join products using (id_product) where day = '2026-02-12' and trend > 0"
    )
    medians = dict(db.execute(f"select rarity, median(trend) from ({newest}) group by rarity").fetchall())
    usual = [medians[rarity] for rarity in ("Common", "Uncommon", "Rare", "Holo Rare", "Double Rare", "Ultra Rare")]
    assert sorted(usual) == usual
    assert one(db, f"select max(trend) from ({newest}) where rarity = 'Common'") < 20
    assert one(db, "select count(*) from price_guide where low > trend and trend > 0") == 0
    assert one(db, "select count(*) from price_guide where low_holo > trend_holo and trend_holo > 0") == 0


def test_the_price_guide_is_as_wild_as_a_real_one(db):
    low, median, high = one(db, "select quantile_cont(trend, [0.1, 0.5, 0.99]) from price_guide")
    assert low < 0.1 < median < 5 < 100 < high
    assert one(db, "select avg((low = 0.02)::int) from price_guide") > 0.1
    assert one(db, "select count(*) from price_guide where trend = 0") > 0
    for column in PRICES:
        assert 0.04 < one(db, f"select avg(({column} is null)::int) from price_guide") < 0.3
        assert 0.5 < one(db, f"select avg(({column}_holo is null)::int) from price_guide") < 1
    assert one(db, "select count(*) from price_guide where round(avg30, 2) <> avg30") > 0
    assert one(db, "select count(*) from price_guide anti join products using (id_product)") > 0
    assert one(db, "select count(*) from products anti join price_guide using (id_product)") > 0
    first = "select count(*) from (select min(day) as first from price_guide group by id_product)"
    assert one(db, f"{first} where first > date '2025-12-01'") > 0


def test_about_a_third_of_the_prices_move_each_day(db):
    rows = f"select id_product, day, row({', '.join(PRICES)})::varchar as row from price_guide"
    moved = f"select day, row <> lag(row) over (partition by id_product order by day) as moved from ({rows})"
    share = f"select day, avg(moved::int) as share from ({moved}) where moved is not null group by day"
    assert 0.2 < one(db, f"select median(share) from ({share})") < 0.4
    assert one(db, f"select count(*) from ({share}) where share = 0") > 0  # a guide that was not made anew


def test_filtered_checks_exercise_every_rule(db):
    checked = one(db, "select avg(n) from (select count(*) as n from filtered_checks where day = '2026-02-12')")
    assert 1700 < checked < 2000
    assert one(db, "select count(distinct hour(checked_at)) from filtered_checks where day = '2026-02-12'") == 24
    assert one(db, "select count(*) from products anti join filtered_checks using (id_product)") > 0
    assert one(db, "select count(*) from filtered_checks anti join products using (id_product)") > 0
    are_there(
        db,
        "filtered_checks",
        "offers = 0 and len(offer_list) = 0",
        "offers > 0 and offer_list is null",
        "offers > len(offer_list)",
        "len(offer_list) > 5",
        "checked_at::date <> day",
        "microsecond(checked_at) % 1000000 > 0",
        "len(list_distinct([o.price for o in offer_list])) < list_count([o.price for o in offer_list])",
        "[o.price for o in offer_list] <> list_sort([o.price for o in offer_list])",
    )
    repeated = "select count(*) as n, count(distinct checked_at) as t from filtered_checks group by id_product, day"
    assert one(db, f"select count(*) from ({repeated}) where n > 1 and t = 1") > 0
    assert one(db, f"select count(*) from ({repeated}) where n > 1 and t > 1") > 0


def test_offers_come_in_all_conditions_and_some_lack_things(db):
    offers = "(select unnest(offer_list, recursive := true) from filtered_checks)"
    conditions = set(texts(db, f"select distinct condition from {offers}"))
    assert conditions > {"MT", "NM", "EX", "GD", "LP", "PL", "PO"}
    for column in ["price", "seller", "quantity"]:
        assert 0 < one(db, f"select avg(({column} is null)::int) from {offers}") < 0.1
    sellers = texts(db, f"select distinct seller from {offers} where seller is not null")
    assert any(not seller.isascii() for seller in sellers)


def test_the_watchlist_is_awkward(db):
    slugs = texts(db, "select slug from watchlist")
    assert len(slugs) == 24
    assert any(a != b and b.startswith(a) for a in slugs for b in slugs)
    assert any(slug != slug.lower() for slug in slugs)
    assert any("/" in slug for slug in slugs)
    assert any("%" in slug and " " in slug for slug in slugs)
    assert any(not slug.isascii() for slug in slugs)
    assert one(db, "select count(*) from watchlist semi join products using (url)") == 24
    assert one(db, "select count(*) from watchlist anti join watch_checks using (slug)") == 1
    assert one(db, "select count(*) from watchlist where game is null") == 1


def test_watch_checks_come_several_times_a_day_with_gaps(db):
    counts = "select count(*) as n from watch_checks semi join watchlist using (slug) group by slug, day"
    assert one(db, f"select [min(n), max(n)] from ({counts})") == [3, 6]
    days = "select count(distinct day) as n from watch_checks semi join watchlist using (slug) group by slug"
    assert one(db, f"select min(n) from ({days})") < 75
    are_there(
        db,
        "watch_checks",
        "num_offers is null and len(offer_list) > 0",
        "lowest_price is null and len(offer_list) > 0",
        "num_offers is null and lowest_price is null and offer_list is null",
        "num_offers = 0 and lowest_price is null",
        "offer_list is null and lowest_price is not null",
        "checked_at::date <> day",
        "slug not in (select slug from watchlist)",
    )
    offers = "(select unnest(offer_list, recursive := true) from watch_checks)"
    assert {"1", "2", "4+", None} <= set(texts(db, f"select distinct quantity from {offers}"))
    for column in ["price", "seller", "comment"]:
        assert 0 < one(db, f"select avg(({column} is null)::int) from {offers}") < 1


def test_a_demo_lake_builds(lake, tmp_path):
    pytest.importorskip("generator.commands.build")
    result = run("build", "--lake", lake, "--store", tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1].startswith("2026-02-12-")


def test_a_large_demo_has_fingerprints_of_some_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the first by key, each with all of its products, and the lake is whole otherwise."""
    write_demo(tmp_path / "whole", 200, 1, 1)
    monkeypatch.setattr(catalogue, "_MAX_ENTRIES", 50)
    sizes = write_demo(tmp_path / "capped", 200, 1, 1)
    whole, capped = (pq.read_table(tmp_path / lake / "fingerprints.parquet") for lake in ("whole", "capped"))
    assert sizes["fingerprints"].rows == len(capped) == 50 < len(whole)
    assert capped.equals(whole.sort_by("key").slice(0, 50))
    assert sizes["products"].rows == 200
