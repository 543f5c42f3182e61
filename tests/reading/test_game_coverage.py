"""How fresh and complete each game's price guide is: `show`, the report of a night and its metrics agree."""

import json
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.commands import run
from tests.support.lake_edits import rewrite
from tests.support.nights import FIRST_DAY, demo_lake, published
from tests.support.service import environment

pytestmark = [pytest.mark.xdist_group("diff"), pytest.mark.thorough]
YESTERDAY, TODAY = (f"{FIRST_DAY + timedelta(days=days)}" for days in (7, 8))


def rows(lake: Path, pattern: str) -> list[dict]:
    return [row for file in lake.glob(pattern) for row in pq.ParquetFile(file).read().to_pylist()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder after a night in which one game has no guide and another no `avg7`."""
    folder = tmp_path_factory.mktemp("games")
    store, lake, _ = published(folder, 7, 8)
    demo_lake(lake, 9)
    games = Counter(row["game"] for row in rows(lake, "expansions*.parquet"))
    late, incomplete = sorted(name for name in games if name)[:2]
    (folder / "names.json").write_text(json.dumps([late, incomplete]))
    of = (
        f"(select id_product from '{lake}/products.parquet' p join '{lake}/expansions.parquet' e on e.id = id_expansion"
    )
    [file] = (lake / "price_guide" / f"day={TODAY}").iterdir()
    rewrite(
        file,
        f"select * replace (case when id_product in {of} where game = '{incomplete}') then null else avg7 end as avg7) "
        f"from rows where id_product not in {of} where game = '{late}')",
    )
    gates = [f"--force={gate}" for gate in ("guide-shrank", "game-shrank", "game-prices-lost", "set-prices-lost")]
    output = run("nightly", "--lake", lake, "--store", store.root, "--json", "--textfile", folder / "prom", *gates)
    (folder / "said.json").write_text(output.stdout)
    return folder


def expected(lake: Path) -> dict[str, dict]:
    """Per game: the days of its newest rows, and per column the days of the rows that have a price."""
    games = {row["id"]: row["game"] for row in rows(lake, "expansions*.parquet")}
    game_of = {row["id_product"]: games.get(row["id_expansion"]) or "" for row in rows(lake, "products*.parquet")}
    newest: dict[int, tuple[str, dict]] = {}
    for folder in sorted((lake / "price_guide").iterdir()):
        for row in rows(folder, "*.parquet"):
            newest[row["id_product"]] = (folder.name.removeprefix("day="), row)
    found: dict[str, dict] = {}
    for id_, game in game_of.items():
        entry = found.setdefault(game, {"products": 0, "days": [], "columns": defaultdict(list)})
        entry["products"] += 1
        if id_ in newest:
            day, row = newest[id_]
            entry["days"].append(day)
            for column, price in row.items():
                if column != "id_product" and price is not None:
                    entry["columns"][column].append(day)
    return found


def test_show_counts_each_game_and_column(place: Path) -> None:
    shown = json.loads(run("show", "--store", place / "store", "--json").stdout)["games"]
    wanted = expected(place / "lake")
    assert {game["game"] for game in shown} == set(wanted)
    for game in shown:
        entry = wanted[game["game"]]
        days = sorted(entry["days"])
        counted = (entry["products"], len(days), max(days, default=None))
        assert (game["products"], game["rows"], game["newest"]) == counted
        assert game["usual"] == (days[(len(days) - 1) // 2] if days else None)
        assert {column: count for column, count in game["prices"].items() if count} == {
            column: len(days) for column, days in entry["columns"].items()
        }
        assert game["newest_prices"]["avg7"] == max(entry["columns"]["avg7"], default=None)


def test_a_late_game_and_a_missing_column_are_seen(place: Path) -> None:
    late, incomplete = json.loads((place / "names.json").read_text())
    text = run("show", "--store", place / "store").stdout
    lines = {
        game: next(line for line in text.splitlines() if line.startswith(f"  {game}  ")) for game in (late, incomplete)
    }
    assert YESTERDAY in lines[late] and TODAY not in lines[late]
    assert TODAY in lines[incomplete]
    metrics = (place / "prom").read_text()
    assert f'cardpress_nightly_game_prices{{game="{incomplete}",column="avg7"}} ' in metrics
    seconds = int(datetime.fromisoformat(YESTERDAY).replace(tzinfo=UTC).timestamp())
    assert f'cardpress_nightly_game_guide_timestamp_seconds{{game="{late}"}} {seconds}\n' in metrics
    output = json.loads((place / "said.json").read_text())
    assert output["games"] == json.loads(run("show", "live", "--store", place / "store", "--json").stdout)["games"]


@pytest.mark.parametrize("command", [("--help",), ("show",), ("show", "live"), ("builds",)], ids=" ".join)
def test_quick_commands_import_no_large_libraries(place: Path, command: tuple[str, ...]) -> None:
    options = () if command == ("--help",) else ("--store", str(place / "store"))
    script = f"import sys; sys.argv = ['cardpress', *{[*command, *options]!r}]\nfrom generator.cli import main\n"
    script += "try: main()\nexcept SystemExit as end: assert not end.code\nprint('modules:', *sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=True
    )
    [modules] = [line.split() for line in output.stdout.splitlines() if line.startswith("modules:")]
    assert not {"numpy", "pyarrow", "duckdb", "jinja2", "flask", "boto3", "PIL"} & set(modules)
