"""What `ingest` no longer does silently: each case is counted and reported, or refused until it is accepted."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from generator.ingest.products import withdraw
from generator.lake.table_writer import LakeWriter
from generator.storage.stores.folder import FolderStore
from tests.support.commands import run
from tests.support.imports import FIGURES, MORNING, NOON, content, refused, write_list
from tests.support.imports import guide_row as row

NEXT_MORNING = "2026-07-27T02:44:32+0200"
GUIDE = "price_guide/day=2026-07-26/cardmarket.parquet"


class Imports:
    """Imports guides and lists that a test describes by their rows."""

    def __init__(self, folder: Path):
        self.folder, self.lake, self.files = folder, folder / "lake", 0

    def file(self, key: str, rows: list[dict], created_at: str = MORNING) -> Path:
        self.files += 1
        return write_list(self.folder / f"{self.files}.json", key, rows, created_at)

    def guide(self, *rows: dict, at: str = MORNING, accept: tuple[str, ...] = (), status: int = 0):
        more = [word for case in accept for word in ("--accept", case)]
        path = self.file("priceGuides", list(rows), at)
        words = ("ingest", "cardmarket", "--lake", self.lake, "--price-guide", path)
        return run(*words, *more, "--json", status=status)

    def refused(self, *rows: dict, at: str = MORNING) -> str:
        return refused(self.lake, "cardmarket", "--price-guide", self.file("priceGuides", list(rows), at))

    def content(self) -> dict[Path, bytes]:
        return content(self.lake)

    def game(self, id_: int, game: str) -> None:
        names = self.file("expansions", [{"idExpansion": id_, "enName": "Promos"}])
        listed = self.file("products", [{"idProduct": id_, "name": "Ember", "idExpansion": id_}])
        words = ("--expansions", names, "--singles", listed, "--game", game)
        run("ingest", "cardmarket", "--lake", self.lake, *words)

    def prices(self, day: str = "2026-07-26", column: str = "low") -> dict[int, float]:
        file = self.lake / f"price_guide/day={day}/cardmarket.parquet"
        return dict(duckdb.sql(f"SELECT id_product, {column} FROM '{file}'").fetchall())


@pytest.fixture
def imports(tmp_path: Path) -> Imports:
    return Imports(tmp_path)


def test_a_product_twice_with_other_prices(imports: Imports) -> None:
    rows = row(1, low=1), row(1, low=2), row(2)
    line = imports.refused(*rows)
    assert "2 rows repeat a product with other values, such as id_product 1" in line
    assert line.endswith("--accept duplicates imports it all the same")
    result = json.loads(imports.guide(*rows, accept=("duplicates",)).stdout)
    assert (result[GUIDE]["rows"], result[GUIDE]["duplicates"]) == (2, 2)
    assert imports.prices() == {1: 2, 2: 1}
    assert json.loads(imports.guide(row(1), row(1)).stdout)[GUIDE]["rows"] == 2, "equal rows are no duplicates"


def test_a_product_twice_in_a_list(imports: Imports) -> None:
    rows = [{"idProduct": 1, "name": name} for name in ("Ember", "Amber")]
    path = imports.file("products", rows)
    words = ("ingest", "cardmarket", "--lake", imports.lake, "--singles", path)
    assert "repeat a product" in run(*words, status=1).stderr
    assert "1 rows, 1 new" in run(*words, "--accept", "duplicates").stdout


def test_an_empty_guide(imports: Imports) -> None:
    assert "the price guide has no rows" in imports.refused()
    result = imports.guide(accept=("empty-guide",))
    assert json.loads(result.stdout)[GUIDE] == {
        "rows": 0, "new": 0, "changed": 0, "unchanged": 0, "elsewhere": 0, "empty-guide": 1
    }  # fmt: skip
    assert "accepted" in result.stderr


def test_a_renamed_price_column(imports: Imports) -> None:
    renamed = [{("trendPrice" if key == "trend" else key): value for key, value in row(n).items()} for n in (1, 2)]
    line = imports.refused(*renamed)
    assert "no row has the price trend; perhaps renamed: trendPrice" in line
    assert "--accept missing-prices" in line
    imports.guide(*renamed, accept=("missing-prices",))
    assert imports.prices(column="trend") == {1: None, 2: None}


def test_a_price_column_that_the_guide_before_it_had(imports: Imports) -> None:
    foil = {f"{figure}-foil": 5 for figure in FIGURES}
    imports.guide(row(1) | foil, row(2) | foil)
    line = imports.refused(row(1), row(2), at=NEXT_MORNING)
    assert "no row has the prices low_holo, avg_holo, trend_holo, avg1_holo, avg7_holo, avg30_holo" in line
    assert "the guide before it has 2 prices" in line
    without = {key: value for key, value in row(1).items() if key != "avg7"}
    assert "no row has the price avg7, where" in imports.refused(without | foil, at=NEXT_MORNING)
    imports.guide(row(3), at=NEXT_MORNING)  # another product: nothing is lost


def test_a_price_column_that_a_first_guide_lacks_is_reported(imports: Imports) -> None:
    process = imports.guide({"idProduct": 1, "low": 1})
    assert "no row has the prices avg, trend, avg1, avg7, avg30" in process.stderr
    assert json.loads(process.stdout)[GUIDE]["missing-prices"] == 5


@pytest.mark.parametrize("missing", [("trend",), ("avg1", "avg30")])
def test_a_hole_in_a_first_guide_is_refused(imports: Imports, missing: tuple[str, ...]) -> None:
    holed = {key: value for key, value in row(1).items() if key not in missing}
    assert f"no row has the price{'s' * (len(missing) > 1)} {', '.join(missing)}" in imports.refused(holed)


def test_a_renamed_column_of_a_small_guide_is_refused(imports: Imports) -> None:
    assert "perhaps renamed: TREND_EUR" in imports.refused({"idProduct": 1, "low": 1, "TREND_EUR": 2})
    imports.guide({"idProduct": 1, "low": 1, "note": 2})  # no other name of a price


def test_an_unknown_key_is_reported(imports: Imports) -> None:
    assert "keys that are not known: avg90" in imports.guide(row(1, avg90=3)).stderr


def test_two_foil_prices_that_differ(imports: Imports) -> None:
    line = imports.refused(row(1, **{"low-foil": 2, "low-holo": 3}), row(2, **{"low-foil": 4, "low-holo": 4}))
    assert "1 rows have low-holo and another low-foil, such as product 1" in line
    imports.guide(row(1, **{"low-foil": 2, "low-holo": 3}), accept=("two-foil-prices",))
    assert imports.prices(column="low_holo") == {1: 3}


def test_a_guide_from_the_future(imports: Imports) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(hours=23)).strftime("%Y-%m-%dT%H:%M:%S+0000")
    assert "the clock of this machine has not reached" in imports.refused(row(1), at=tomorrow)
    imports.guide(row(1), at=tomorrow, accept=("future",))
    assert imports.prices(tomorrow[:10]) == {1: 1}


def test_an_older_guide_with_other_content_is_counted(imports: Imports) -> None:
    imports.guide(row(1, low=1), row(2, low=1), at=NOON)
    result = json.loads(imports.guide(row(1, low=9), row(2, low=1)).stdout)[GUIDE]
    assert (result["changed"], result["older"]) == (0, 1)
    assert imports.prices() == {1: 1, 2: 1}


def test_several_findings_name_every_case_to_accept(imports: Imports) -> None:
    line = imports.refused(row(1, low=1), row(1, **{"low-foil": 2, "low-holo": 3}))
    assert "(and 1 more finding)" in line
    assert "--accept two-foil-prices" in line and "--accept duplicates" in line


@pytest.mark.parametrize("price", [10_000_000_000_000, 10_000_000_000_001])
@pytest.mark.thorough
def test_imports_and_builds_accept_the_same_prices(imports: Imports, price: int) -> None:
    """The greatest price that a build accepts is the greatest that a guide and a line may have."""
    too_high = price > 10_000_000_000_000
    lines = imports.folder / "lines.jsonl"
    lines.write_text(json.dumps({"id_product": 1, "scraped_at": "2026-07-26T08:00:00Z", "from_price": price}))
    run("ingest", "list-pages", lines, "--lake", imports.lake, status=int(too_high))
    imports.guide(row(1, low=price), status=int(too_high))
    lake = imports.folder / "other"
    (lake / "price_guide/day=2026-07-26").mkdir(parents=True)
    duckdb.sql(f"COPY (SELECT 1 AS id_product, 'N' AS name, 'single' AS kind) TO '{lake}/products.parquet'")
    duckdb.sql(
        f"COPY (SELECT 1 AS id_product, {price}::DOUBLE AS low) TO '{lake}/price_guide/day=2026-07-26/0.parquet'"
    )
    run("build", "--lake", lake, "--store", imports.folder / "store", status=int(too_high))


@pytest.mark.parametrize(
    ("time", "case", "says"),
    [
        ("2099-01-01T00:00:00Z", "future", "which the clock has not reached"),
        ("1970-01-01T00:00:00Z", "far-day", "but no check is that old"),
    ],
)
def test_lines_of_another_age(imports: Imports, time: str, case: str, says: str) -> None:
    lines = imports.folder / "lines.jsonl"
    lines.write_text(json.dumps({"slug": "a", "checked_at": time, "lowest_price": 1}))
    words = ("ingest", "watch-checks", lines, "--lake", imports.lake)
    line = run(*words, status=1).stderr.splitlines()[-1]
    assert f"line 1: checked_at is {time}, {says}" in line
    assert line.endswith(f"--accept {case} imports it all the same")
    assert json.loads(run(*words, "--accept", case, "--json").stdout)[case] == 1


@pytest.mark.parametrize(("age", "case"), [(timedelta(days=-1), "future"), (timedelta(days=20_000), "far-day")])
@pytest.mark.parametrize(("kind", "text"), [("attributes", "id,number\n1,4\n"), ("expansions", "id,name\n1,Blue\n")])
def test_a_table_whose_file_is_of_another_age(
    imports: Imports, kind: str, text: str, age: timedelta, case: str
) -> None:
    table = imports.folder / "table.csv"
    table.write_text(text)
    moment = (datetime.now(UTC) - age).replace(microsecond=0)
    os.utime(table, times=(moment.timestamp(),) * 2)
    line = refused(imports.lake, kind, table)
    assert (
        f"{table}: line 2: updated_at is {moment:%Y-%m-%dT%H:%M:%SZ}, " in line and "give the column updated_at" in line
    )
    assert line.endswith(f"--accept {case} imports it all the same")
    run("ingest", kind, table, "--lake", imports.lake, "--accept", case)


def test_a_correction_whose_file_is_older_is_said(imports: Imports) -> None:
    for number, year in ((4, 2026), (5, 2024), (4, 2023)):
        table = imports.folder / "table.csv"
        table.write_text(f"id,number\n1,{number}\n")
        os.utime(table, times=(datetime(year, 1, 1, tzinfo=UTC).timestamp(),) * 2)
        said = run("ingest", "attributes", table, "--lake", imports.lake).stdout
        assert ("1 skipped, the lake has newer rows with other values" in said) is (number == 5)


@pytest.mark.parametrize(
    ("option", "name", "category", "says"),
    [
        ("singles", "products_nonsingles_6", "Pokémon", "read as singles, but its name says sealed products"),
        ("nonsingles", "products_singles_6", "Pokémon", "read as sealed products, but its name says singles"),
        (
            "singles",
            "a",
            "Pokémon Booster Boxes",
            'read as singles, but 1 have categories such as "Pokémon Booster Boxes"',
        ),
        ("nonsingles", "a", "Pokémon Single", 'sealed products, but 1 have categories such as "Pokémon Single"'),
    ],
)
def test_a_list_of_the_other_kind(imports: Imports, option: str, name: str, category: str, says: str) -> None:
    products = [{"idProduct": 1, "name": "Box", "categoryName": category}]
    listed = write_list(imports.folder / f"{name}.json", "products", products, MORNING)
    words = ("cardmarket", f"--{option}", listed)
    assert says in refused(imports.lake, *words)
    run("ingest", *words, "--lake", imports.lake, "--accept", "other-kind")


def test_a_guide_of_products_that_no_list_has_is_said(imports: Imports) -> None:
    guide = imports.guide(row(1), row(2), row(3))
    assert "3 of its 3 products are in no list of the lake, such as 1: builds leave their prices out" in guide.stderr
    listed = imports.file("products", [{"idProduct": n, "name": "Ember"} for n in (1, 2)])
    run("ingest", "cardmarket", "--lake", imports.lake, "--singles", listed)
    assert "in no list" not in imports.guide(row(1), row(2), row(3)).stderr


def test_a_day_is_withdrawn(imports: Imports) -> None:
    imports.guide(row(1), row(2))
    imports.guide(row(1), at=NEXT_MORNING)
    before = imports.content()
    process = run("ingest", "withdraw", "2026-07-27", "--lake", imports.lake)
    assert process.stdout == "price_guide/day=2026-07-27/cardmarket.parquet: 1 row withdrawn\n"
    assert not (imports.lake / "price_guide/day=2026-07-27").exists()
    run("ingest", "withdraw", "2026-07-27", "--lake", imports.lake, status=1)
    imports.guide(row(1), at=NEXT_MORNING)
    assert imports.content() == before


def test_one_game_is_withdrawn(imports: Imports) -> None:
    imports.game(1, "Pokémon")
    imports.game(2, "Magic")
    imports.guide(row(1), row(2), row(3))
    run("ingest", "withdraw", "2026-07-26", "--lake", imports.lake, "--game", "POKEMON")
    assert set(imports.prices()) == {2, 3}


@pytest.mark.thorough
def test_a_whole_game_is_withdrawn(imports: Imports) -> None:
    """The lake is then the one of the other game alone; what other programs wrote stays."""
    ids = imports.folder / "ids.csv"
    ids.write_text("id_product,scheme,value\n1,mine,a\n2,mine,b\n")
    games = {}
    for id_, game in ((2, "Magic"), (1, "Pokémon")):
        imports.game(id_, game)
        imports.guide(row(id_))
        if game == "Pokémon":
            imports.guide(row(id_), at=NEXT_MORNING)
        run("ingest", "identifiers", ids, "--lake", imports.lake)
        games[game] = imports.content()
    run("ingest", "withdraw", "--lake", imports.lake, "--game", "Chess", status=1)
    for wrong in ((), ("--game", "Magic", "--table", "price_guide")):
        run("ingest", "withdraw", "--lake", imports.lake, *wrong, status=2)
    assert imports.content() == games["Pokémon"]
    removed = json.loads(run("ingest", "withdraw", "--lake", imports.lake, "--game", "pokemon", "--json").stdout)
    assert removed == {
        GUIDE: 1, "price_guide/day=2026-07-27/cardmarket.parquet": 1, "identifiers-imported.parquet": 1,
        "products-cardmarket.parquet": 1, "expansions-cardmarket.parquet": 1,
    }  # fmt: skip
    left, before = imports.content(), games["Magic"]
    assert {str(path) for path in before if left.get(path) != before[path]} == {"identifiers-imported.parquet"}
    assert left.keys() == before.keys()
    run("ingest", "withdraw", "--lake", imports.lake, "--game", "pokemon", status=1)


@pytest.mark.parametrize("bucket", [False, True])
def test_an_interrupted_withdrawal_is_repeated(imports: Imports, monkeypatch: pytest.MonkeyPatch, bucket: bool) -> None:
    """The second deletion of a file is interrupted. In a folder the next import or build completes what is left."""
    imports.game(1, "Pokémon")
    imports.guide(row(1), row(9))
    lake, delete, deletions = LakeWriter(str(imports.lake)), FolderStore.delete, iter([True])
    monkeypatch.setattr(FolderStore, "delete", lambda store, names: next(deletions) and delete(store, names))
    if bucket:  # there each file changes by itself
        monkeypatch.setattr(lake, "_folder", None)
    with pytest.raises(StopIteration):
        withdraw(lake, (), (), "Pokémon")
    monkeypatch.undo()
    run("ingest", "withdraw", "--lake", imports.lake, "--game", "Pokémon", status=int(not bucket))
    assert set(imports.prices()) == {9}
    assert imports.content().keys() == {Path(GUIDE)}


def test_a_corrected_guide_of_the_same_time_replaces_the_first_as_a_whole(imports: Imports) -> None:
    """Whether its prices are higher or lower; a product that it lacks may be of another game, and stays."""
    imports.guide(row(1, low=5), row(2, low=5), row(3, low=5))
    process = imports.guide(row(1, low=9, trend=3), row(2, low=2, trend=3))
    assert imports.prices() == {1: 9, 2: 2, 3: 5}
    said = "2 of 2 products have other prices; in the middle their trend is 3 times what it was"
    assert f"replaces the guide of 2026-07-26T00:44:32Z: {said}" in process.stderr
    assert json.loads(process.stdout)[GUIDE]["replaced"] == 2
    assert "replaces" not in imports.guide(row(1, low=9, trend=3), row(2, low=2, trend=3)).stderr, "the same again"


def test_a_later_guide_of_the_day_says_what_it_replaces(imports: Imports) -> None:
    imports.guide(row(1), row(2))
    said = "0 of 1 products have other prices; in the middle their trend is 1 times"
    assert said in imports.guide(row(1), at=NOON).stderr
    assert "replaces" not in imports.guide(row(1, low=7)).stderr, "the guide is older than the row"
    files = [imports.file("priceGuides", [row(4, low=low)], at) for low, at in ((8, NOON), (7, MORNING))]
    words = [word for path in files for word in ("--price-guide", path)]
    process = run("ingest", "cardmarket", "--lake", imports.lake, *words)
    assert f"{files[0]}: replaces the guide of 2026-07-26T00:44:32Z: 1 of 1 products" in process.stderr
    assert imports.prices()[4] == 8


@pytest.mark.parametrize("day", ["1970-01-01", "2024-07-26", "2025-07-24"])
@pytest.mark.thorough
def test_a_guide_far_from_the_newest_day(imports: Imports, day: str) -> None:
    imports.guide(row(1))
    at = f"{day}T00:00:00+0000"
    line = imports.refused(row(1), at=at)
    assert f"createdAt is {day}T00:00:00+00:00, but the newest guide of the lake is of 2026-07-26; nothing" in line
    assert line.endswith("--accept far-day imports it all the same")
    assert json.loads(imports.guide(row(1), at=at, accept=("far-day",)).stdout)[
        f"price_guide/day={day}/cardmarket.parquet"
    ]["far-day"] == 1  # fmt: skip


@pytest.mark.thorough
def test_days_that_guides_connect_with_the_newest_are_not_far(imports: Imports) -> None:
    assert "but no guide is that old" in imports.refused(row(1), at="1970-01-01T00:00:00+0000")
    for day in ("2023-01-01", "2026-07-26", "2025-07-25", "2024-07-24"):
        imports.guide(row(1), at=f"{day}T00:00:00+0000")
