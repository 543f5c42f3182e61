"""Every gate fires on a lake damaged for it, and none on a week of ordinary nights."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import duckdb
import pytest

from generator import settings
from generator.clock import utc_now
from generator.compare.ordinary import Measured, unusual
from generator.compare.run_reports import Judgement, Past
from generator.database import sql_root
from generator.storage.builds import Build, open_build
from generator.storage.stores.folder import FolderStore
from tests.support.commands import run
from tests.support.lake_edits import Damage, empty, rewrite
from tests.support.nights import DAYS, FIRST_DAY, demo_lake, judge, make

PRODUCTS = 140
BEFORE, TONIGHT = 8, 9
TODAY = FIRST_DAY + timedelta(days=TONIGHT - 1)
YESTERDAY = TODAY - timedelta(days=1)
CLOCK = datetime(TODAY.year, TODAY.month, TODAY.day, 23, tzinfo=UTC)

together = pytest.mark.xdist_group("gates")  # one process: each damaged lake is built once


def of_day(lake: Path, table: str, day=TODAY) -> Path:
    [file] = (lake / table / f"day={day}").glob("*.parquet")
    return file


def half_the_guide(lake: Path) -> None:
    rewrite(of_day(lake, "price_guide"), "from rows order by id_product limit (select count(*) // 2 from rows)")


def a_game_gone(lake: Path) -> None:
    with duckdb.connect() as connection:
        [(game,)] = connection.execute(
            f"select game from '{lake}/expansions.parquet' group by game "
            "having game is not null and count(*) > 5 order by count(*), game limit 1"
        ).fetchall()
        query = f"select id from '{lake}/expansions.parquet' where game = $1"
        gone = ", ".join(str(id_) for (id_,) in connection.execute(query, [game]).fetchall())
    rewrite(lake / "expansions.parquet", f"from rows where id not in ({gone}) order by id")
    rewrite(lake / "products.parquet", f"from rows where id_expansion not in ({gone}) order by id_product")


def yesterdays_files(lake: Path) -> None:
    for table in ("price_guide", "listings", "filtered_checks", "watch_checks"):
        of_day(lake, table).write_bytes(of_day(lake, table, YESTERDAY).read_bytes())


def no_guide_for_two_days(lake: Path) -> None:
    for day in (YESTERDAY, TODAY):
        of_day(lake, "price_guide", day).unlink()


def days_of_the_past_wrong(lake: Path) -> None:
    for age in range(3, 6):
        of_day(lake, "price_guide", TODAY - timedelta(days=age)).unlink()
    guide_prices("{} * 9", *GUIDE)(lake, YESTERDAY)


def a_day_that_has_not_come(lake: Path) -> None:
    folder, day = lake / "price_guide", TODAY + timedelta(days=1)
    shutil.copytree(folder / f"day={TODAY}", folder / f"day={day}")
    guide_prices("{} * 1.01", "trend")(lake, day)


GUIDE = ("low", "avg", "trend", "avg1", "avg7", "avg30")
FOIL = tuple(f"{figure}_holo" for figure in GUIDE)


def _plain(name: str) -> str:
    """A name that can be part of a path in SQL."""
    return re.sub(r"\W+", "-", name, flags=re.ASCII)


def guide_prices(expression: str, *columns: str) -> Callable[..., None]:
    """Replace columns of a guide, usually tonight's; `{}` stands for the column."""

    def damage(lake: Path, day: date = TODAY) -> None:
        changed = ", ".join(f"{expression.format(name)} as {name}" for name in columns)
        rewrite(of_day(lake, "price_guide", day), f"select * replace ({changed}) from rows order by id_product")

    damage.__name__ = _plain(f"{'-'.join(columns)}-{expression}")
    return damage


no_trends = guide_prices("null::double", "trend")
in_cents = guide_prices("{} * 100", "low", "avg", "trend")


def in_file(table: str, column: str, expression: str) -> Damage:
    """Replace a column of a table that has no days."""

    def damage(lake: Path) -> None:
        rewrite(lake / f"{table}.parquet", f"select * replace ({expression} as {column}) from rows order by all")

    damage.__name__ = _plain(f"{table}-{column}-{expression}")
    return damage


def largest_set(products: str) -> str:
    """SQL for the id of the set with the most products."""
    return f"(select id_expansion from {products} group by all order by count(*) desc, 1 limit 1)"


def a_set_without_prices(lake: Path) -> None:
    """One set has no prices tonight, all others do."""
    products = f"'{lake}/products.parquet'"
    of_set = f"id_product in (select id_product from {products} where id_expansion = {largest_set(products)})"
    changed = ", ".join(f"case when {of_set} then null else {name} end as {name}" for name in GUIDE)
    rewrite(of_day(lake, "price_guide"), f"select * replace ({changed}) from rows order by id_product")


def only_a_set_gone(lake: Path) -> None:
    rewrite(lake / "products.parquet", f"from rows where id_expansion != {largest_set('rows')} order by id_product")


def a_twelfth_of_the_guide(lake: Path) -> None:
    rewrite(of_day(lake, "price_guide"), "from rows where id_product % 12 = 0 order by id_product")


def other_texts(lake: Path) -> None:
    """Every product and set says something else of itself."""
    said = "'undefined' as name, null::varchar as rarity, null::varchar as number, 'cards' as category"
    said += ", case kind when 'single' then 'sealed' else 'single' end as kind, timestamp '2026-01-01' as date_added"
    moved = "(select min(id_expansion) from rows) as id_expansion"
    rewrite(lake / "products.parquet", f"select * replace ({said}, {moved}) from rows order by id_product")
    in_file("expansions", "name", "concat('x', name)")(lake)


def averages_swapped_and_parts_missing(lake: Path) -> None:
    """Tonight's guide lacks the sealed products and one set, and has two averages in each other's place."""
    products = f"'{lake}/products.parquet'"
    part = f"select id_product from {products} where kind = 'sealed' or id_expansion = {largest_set(products)}"
    swapped = "avg1 as avg7, avg7 as avg1"
    kept = f"where id_product not in ({part}) order by id_product"
    rewrite(of_day(lake, "price_guide"), f"select * replace ({swapped}) from rows {kept}")


def twice_the_products(lake: Path) -> None:
    more = "select * replace (id_product + 5000000 as id_product) from rows"
    rewrite(lake / "products.parquet", f"from (from rows union all {more}) order by id_product")


def other_ids_of_every_tenth(lake: Path) -> None:
    """A tenth of the products lose their ids of one catalogue, and others get them: the rows are as many as before."""
    moved = "case when scheme = 'tcgdex' and id_product % 10 = 0 then id_product + 1 else id_product end"
    rewrite(lake / "identifiers.parquet", f"select {moved} as id_product, scheme, value from rows order by all")


def in_day(table: str, **columns: str) -> Damage:
    """Replace columns of tonight's rows of a table."""

    def damage(lake: Path) -> None:
        changed = ", ".join(f"{expression} as {name}" for name, expression in columns.items())
        rewrite(of_day(lake, table), f"select * replace ({changed}) from rows order by all")

    damage.__name__ = _plain(f"{table}-{columns}")[:80]
    return damage


def dearer(factor: str) -> str:
    """SQL for the offers with other prices."""
    return f"list_transform(offer_list, lambda offer: struct_update(offer, price := offer.price * {factor}))"


def half_of(table: str) -> Damage:
    def damage(lake: Path) -> None:
        rewrite(lake / f"{table}.parquet", "from rows order by all limit (select count(*) // 2 from rows)")

    damage.__name__ = f"half-of-{table}"
    return damage


def ids_of_the_product_before(lake: Path) -> None:
    before = "lag(value, 1, value) over (partition by scheme order by id_product, value)"
    rewrite(lake / "identifiers.parquet", f"select * replace ({before} as value) from rows order by all")


def of_largest_set(lake: Path, query: str) -> None:
    """Replace the rows of one set in tonight's guide by a query over them, `mine`."""
    products = f"'{lake}/products.parquet'"
    mine = f"id_product in (select id_product from {products} where id_expansion = {largest_set(products)})"
    query = f"with mine as (from rows where {mine}) from ({query} union all by name from rows where not ({mine}))"
    rewrite(of_day(lake, "price_guide"), f"{query} order by id_product")


def a_set_times(factor: int) -> Damage:
    def damage(lake: Path) -> None:
        changed = ", ".join(f"{name} * {factor} as {name}" for name in (*GUIDE, *FOIL))
        of_largest_set(lake, f"select * replace ({changed}) from mine")

    damage.__name__ = f"a_set_times_{factor}"
    return damage


def a_set_shifted(lake: Path) -> None:
    shifted = ", ".join(f"lag({name}, 1, {name}) over (order by id_product) as {name}" for name in GUIDE)
    of_largest_set(lake, f"select * replace ({shifted}) from mine")


def a_set_with_swapped_finishes(lake: Path) -> None:
    swapped = ", ".join(f"{a} as {b}, {b} as {a}" for a, b in zip(GUIDE, FOIL, strict=True))
    of_largest_set(lake, f"select * replace ({swapped}) from mine")


def old_day(name: str, factor: str, kept: str = "true") -> Damage:
    """The prices of a day of the past are others; a part of its rows is kept."""

    def damage(lake: Path) -> None:
        products = f"'{lake}/products.parquet'"
        mine = f"id_product in (select id_product from {products} where id_expansion = {largest_set(products)})"
        changed = ", ".join(f"{name} * {factor.replace('mine', mine)} as {name}" for name in (*GUIDE, *FOIL))
        file = of_day(lake, "price_guide", TODAY - timedelta(days=6))
        rewrite(file, f"select * replace ({changed}) from rows where {kept} order by id_product")

    damage.__name__ = name
    return damage


def a_set_moved_to_another(lake: Path) -> None:
    other = f"case id_expansion when {largest_set('rows')} then (select max(id) from '{lake}/expansions.parquet') "
    query = f"select * replace ({other} else id_expansion end as id_expansion) from rows order by id_product"
    rewrite(lake / "products.parquet", query)


# The first damage of a gate is often one that several gates see, so that `make test` builds few lakes.
DAMAGES: dict[str, list[Damage]] = {
    "guide-shrank": [half_the_guide],
    "prices-lost": [no_trends, empty("filtered_checks"), empty("price_guide")],
    "prices-moved": [in_cents],
    "products-lost": [a_game_gone],
    "sets-lost": [a_game_gone, empty("expansions")],
    "prices-repeated": [yesterdays_files],
    "bulk-lost": [empty("listings"), empty("price_guide")],
    "bulk-shrank": [a_game_gone, days_of_the_past_wrong],
    "identifiers-lost": [other_ids_of_every_tenth, empty("identifiers")],
    "guide-behind": [no_guide_for_two_days],
    "day-went-back": [no_guide_for_two_days],
    "day-ahead": [a_day_that_has_not_come],
    "prices-scaled": [
        in_cents,
        guide_prices("{} * 2", *GUIDE, *FOIL),
        guide_prices("{} * 100", *FOIL),
        guide_prices("{} * 100", "avg1", "avg7", "avg30"),
        guide_prices("{} / 3", "avg7"),
    ],
    "game-prices-lost": [no_trends, guide_prices("null::double", *FOIL)],
    "set-prices-lost": [no_trends, a_set_without_prices],
    "game-shrank": [a_game_gone, a_twelfth_of_the_guide],
    "game-behind": [no_guide_for_two_days],
    "names-changed": [other_texts, in_file("products", "name", "replace(replace(name, 'e', 'Ã©'), 'a', 'Ã¤')")],
    "products-moved": [other_texts, in_file("products", "id_expansion", "null::bigint")],
    "games-changed": [in_file("expansions", "game", "null::varchar")],
    "rarities-changed": [other_texts, in_file("products", "rarity", "'Common'")],
    "numbers-changed": [other_texts, in_file("products", "number", "'1'")],
    "sets-renamed": [other_texts, in_file("expansions", "name", "concat('x', name)")],
    "index-jumped": [guide_prices("{} * 1.2", *GUIDE, *FOIL)],
    "set-prices-scaled": [in_cents, a_set_times(50)],
    "dearest-moved": [in_cents],
    "prices-drifted": [guide_prices("{} * 1.2", *GUIDE, *FOIL), guide_prices("{} * 1.06", "avg30")],
    "prices-noisy": [in_cents, guide_prices("{} * (0.5 + hash(id_product) % 1000 / 1000)", *GUIDE, *FOIL)],
    "averages-mixed": [averages_swapped_and_parts_missing, guide_prices("coalesce(avg7, {})", "avg30")],
    "set-shrank": [averages_swapped_and_parts_missing, only_a_set_gone],
    "kind-shrank": [averages_swapped_and_parts_missing],
    "kinds-changed": [other_texts],
    "products-added": [twice_the_products],
    "days-scaled": [days_of_the_past_wrong, old_day("an_old_day_x_9", "9")],
    "days-drifted": [old_day("an_old_day_x_1.2", "1.2")],
    "days-shrank": [old_day("half_of_an_old_day", "1", "id_product % 2 = 0")],
    "set-days-scaled": [old_day("a_set_of_an_old_day_x_9", "case when mine then 9 else 1 end")],
    "listings-scaled": [in_day("listings", from_price="from_price * 10")],
    "listings-drifted": [in_day("listings", from_price="from_price * 1.1")],
    "checks-emptied": [in_day("listings", available="0"), in_day("filtered_checks", lowest="null", offer_list="null")],
    "checks-noisy": [in_day("listings", from_price="from_price * case id_product % 2 when 0 then 5 else 0.2 end")],
    "offers-scaled": [in_day("filtered_checks", offers="offers * 2", offer_list="offer_list || offer_list")],
    "set-moved": [a_set_moved_to_another],
    "filtered-scaled": [in_day("filtered_checks", lowest="lowest * 1.35", offer_list=dearer("1.35"))],
    "filtered-drifted": [in_day("filtered_checks", lowest="lowest * 1.1", offer_list=dearer("1.1"))],
    "watch-scaled": [in_day("watch_checks", lowest_price="0.01")],
    "fingerprints-lost": [half_of("fingerprints")],
    "fingerprints-changed": [in_file("fingerprints", "art_p", "'0000000000000000'")],
    "identifiers-changed": [ids_of_the_product_before, in_file("identifiers", "value", "'x'")],
    "links-lost": [in_file("products", "image", "'https://x/none.png'"), in_file("products", "url", "null::varchar")],
    "prices-appeared": [guide_prices("coalesce(nullif({}, 0), 0.02)", *FOIL)],
    "prices-equal": [guide_prices("case when id_product % 4 = 0 then 9999 else {} end", "low")],
    "sets-uniform": [a_set_times(3)],
    "sets-shifted": [a_set_shifted, a_set_with_swapped_finishes],
    "tables-emptied": [
        empty(table)
        for table in (
            "watchlist", "expansions", "price_guide", "listings", "filtered_checks", "watch_checks", "fingerprints"
        )
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> tuple[FolderStore, Build]:
    folder = tmp_path_factory.mktemp("gates")
    store = FolderStore(str(folder / "store"))
    return store, open_build(store, make(demo_lake(folder / "lake", BEFORE, PRODUCTS), store))


@pytest.fixture(scope="module")
def few_prices() -> Iterator[None]:
    """Judge small games and sets, because the lake is small."""
    with patch.object(settings, "ENOUGH_PRICES", 8), patch.object(settings, "ENOUGH_PRICED", 8):
        yield


@pytest.fixture(scope="module")
def built(live: tuple[FolderStore, Build], tmp_path_factory: pytest.TempPathFactory) -> Callable[[Damage], Build]:
    """The build of tonight's lake after a damage; each damage is built once."""
    store, _ = live
    known: dict[str, Build] = {}

    def build(damage: Damage) -> Build:
        if damage.__name__ not in known:
            lake = demo_lake(tmp_path_factory.mktemp(damage.__name__), TONIGHT, PRODUCTS)
            damage(lake)
            known[damage.__name__] = open_build(store, make(lake, store))
        return known[damage.__name__]

    return build


@pytest.fixture(scope="module")
def judged(
    live: tuple[FolderStore, Build], built: Callable[[Damage], Build], few_prices: None
) -> Callable[..., Judgement]:
    """What the gates say of tonight's lake after a damage. Without other arguments they are asked once."""
    _, old = live
    known: dict[str, Judgement] = {}

    def say(damage: Damage, **more) -> Judgement:
        if more:
            return judge(old, built(damage), now=CLOCK, **more)
        if damage.__name__ not in known:
            known[damage.__name__] = judge(old, built(damage), now=CLOCK)
        return known[damage.__name__]

    return say


def nothing(lake: Path) -> None:
    """An ordinary night."""


def breached(judgement: Judgement) -> set[str]:
    return {verdict.gate for verdict in judgement.breaches}


ONE_CARD = "select 1 as id_product, 'G' as game, 'single' as kind, 1.0 as trend, 1.0 as trend_holo"
A_MARKET = """select range as id_product, 'G' as game, 'single' as kind, if(range < 12, 900.0, 1.0) as trend,
    null::double as trend_holo from range(3000)"""
DEARER = "if(id_product < 12, trend * {}, trend)"


@pytest.mark.parametrize(
    ("prices", "trend", "index", "passes"),
    [
        (ONE_CARD, "1.15", 115.0, True),
        (ONE_CARD, "1.1501", 115.01, False),
        (ONE_CARD, "0.85", 85.0, True),
        (ONE_CARD, "0.8499", 84.99, False),
        pytest.param(A_MARKET, DEARER.format(6.0), 392.0, True, id="twelve cards x 6"),
        pytest.param(A_MARKET, DEARER.format(60.0), 392.0, False, id="twelve parked prices"),
    ],
)
def test_an_index_passes_up_to_its_limit_either_way(prices: str, trend: str, index: float, passes: bool) -> None:
    """A dozen dear cards are no market."""
    with duckdb.connect() as db:
        db.execute(
            f"""create macro game_in_words(game) as game; set variable enough_priced = {settings.ENOUGH_PRICED};
            create table old_indexes as select 1;
            create table old_prices as {prices};
            create table new_prices as select * replace ({trend} as trend) from old_prices;
            create table game_indexes as select 'G' as game, date '{TODAY}' as day, {index} as "index", 3000 as priced,
            date '{YESTERDAY}' as day_before, 100.0 as index_before, 3000 as priced_before"""
        )
        [distance, *_] = db.execute((sql_root() / "checks/gates/index-jumped.sql").read_text()).fetchone() or ()
    assert (distance <= settings.GATES["index-jumped"]) == passes


FROZEN_SET = "case when id_product < 40 then 1.0 else 1.1 end"
FROZEN_GAME = "case when id_product < 200 then 1.0 else 1.1 end"
HALF_MOVED = "case when id_product < 20 then 1.0 else 0.9 end"


@pytest.mark.parametrize(
    ("before", "night", "days", "value"),
    [
        ("0.9", "1.0", (1, 2, 3), 0),
        ("0.9", FROZEN_SET, (1, 2, 3), 1),
        ("0.9", FROZEN_SET, (1, 9, 10), 0),
        (HALF_MOVED, FROZEN_SET, (1, 2, 3), 0),
        ("0.9", FROZEN_GAME, (1, 9, 10), 1),
        ("0.9", "1.0 + id_product / 1000", (1, 2, 3), 0),
    ],
    ids=[
        "a holiday of the whole guide",
        "a set of the day before",
        "a set that moved in a week",
        "a set half of which moved",
        "a game of the day before, after a gap",
        "an ordinary night",
    ],
)
def test_a_frozen_part_is_one_that_moved_before(before: str, night: str, days: tuple[int, ...], value: int) -> None:
    with duckdb.connect() as db:
        for day, table, price in zip(days, ("before", "old", "new"), (before, "1.0", night), strict=True):
            db.execute(
                f"""create table {table}_prices as
                select i as id_product, if(i < 200, 'F', 'G') as game, game as game_now, i // 40 as id_expansion,
                date '2026-08-{day:02}' as guide_day, {price} as trend, 1 as low, 1 as avg1, 1 as avg7, 1 as avg30
                from (select range as i, range as id_product from range(400))"""
            )
        db.execute("create view old_games as from old_prices; create macro enough(n) as n >= 30")
        [found, *_] = db.execute((sql_root() / "checks/gates/games-frozen.sql").read_text()).fetchone() or ()
    assert found == value


@together
@pytest.mark.parametrize(
    ("gate", "damage"),
    [
        # `make test` tries the first damage of every thirtieth gate.
        pytest.param(
            *(gate, damage), id=f"{gate}-{damage.__name__}", marks=[pytest.mark.thorough] * bool(number or place % 30)
        )
        for place, (gate, damages) in enumerate(DAMAGES.items())
        for number, damage in enumerate(damages)
    ],
)
def test_a_gate_fires_on_a_lake_damaged_for_it(gate: str, damage: Damage, judged: Callable[..., Judgement]) -> None:
    verdicts = {verdict.gate: verdict for verdict in judged(damage).breaches}
    assert gate in verdicts
    assert verdicts[gate].value > verdicts[gate].threshold
    assert any(digit in verdicts[gate].message for digit in "123456789") or gate in ("tables-emptied", "bulk-lost")


@together
def test_a_message_says_what_and_how_much(judged: Callable[..., Judgement]) -> None:
    [verdict] = [verdict for verdict in judged(empty("watchlist")).breaches if verdict.gate == "tables-emptied"]
    assert verdict.line() == (
        "gate tables-emptied: nothing is left of the tables watch_checks, watchlist (2, at most 0 passes)"
    )


@together
def test_an_ordinary_night_passes_and_says_its_figures(judged: Callable[..., Judgement]) -> None:
    judgement = judged(nothing)
    assert judgement.breaches == []
    assert {verdict.gate for verdict in judgement.verdicts} == set(settings.GATES)
    assert judgement.remarks == []
    figures = judgement.differences
    assert figures["products_lost"] == figures["kinds_changed"] == figures["past_days_changed"] == 0
    assert figures["days_added"] == 1
    changed = ("trends", "averages", "foil_prices", "products", "movers_lists")
    assert all(figures[f"{what}_changed"] > 0 for what in changed) and figures["bulk_files_added"] > 0


@together
@pytest.mark.thorough
def test_products_that_get_a_game_are_no_loss(
    live: tuple[FolderStore, Build], few_prices: None, tmp_path: Path
) -> None:
    store, new = live
    lake = demo_lake(tmp_path / "lake", BEFORE - 1, PRODUCTS)
    rewrite(lake / "expansions.parquet", "select * replace (null::varchar as game) from rows order by id")
    old = open_build(store, make(lake, store))
    assert judge(old, new, now=CLOCK).breaches == []
    back = {verdict.gate: verdict.message for verdict in judge(new, old, now=CLOCK).breaches}
    assert re.search(r'products of the game ".*" belong to no expansion of it any more', back["games-changed"])
    assert "game-shrank" not in back, "the guide has all rows"


@together
@pytest.mark.thorough
def test_prices_of_a_week_ago_are_no_new_prices(
    live: tuple[FolderStore, Build], built: Callable[[Damage], Build], few_prices: None
) -> None:
    """Tonight is live, and the build that comes next has all prices of the night before it."""
    _, before = live
    verdicts = {
        verdict.gate: verdict for verdict in judge(built(nothing), before, now=CLOCK, past=Past(week=before)).breaches
    }
    assert verdicts["prices-returned"].value == 1
    way_back = judge(built(nothing), before, now=CLOCK, past=Past(week=before, before=before))
    assert "prices-returned" not in breached(way_back), "tonight's prices may have been the wrong ones"
    assert "prices-back" in {remark.gate for remark in way_back.remarks}


@together
@pytest.mark.thorough
def test_what_is_strange_is_said_and_stops_nothing(judged: Callable[..., Judgement]) -> None:
    assert judged(nothing, past=Past()).remarks == []


def swap_low_and_trend(lake: Path) -> None:
    rewrite(of_day(lake, "price_guide"), "select * replace (low as trend, trend as low) from rows order by id_product")


def all_offers_of_one_seller(lake: Path) -> None:
    """No gate reads who sells: the comparison of all columns finds what no gate is about."""
    rewrite(
        of_day(lake, "filtered_checks"), "select * replace ('one' as cheapest_seller, null as offer_list) from rows"
    )


@together
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            swap_low_and_trend,
            r"price_guide.*: for (a quarter|half) of the products (low|trend) is at (least|most) .* what it was;",
        ),
        (
            all_offers_of_one_seller,
            "offers.*: the most frequent value of cheapest_seller is there [0-9.]+ times as often; on the nights",
        ),
    ],
)
def test_a_column_that_is_as_on_no_night_before_is_said(
    judged: Callable[..., Judgement], monkeypatch: pytest.MonkeyPatch, damage: Damage, said: str
) -> None:
    monkeypatch.setattr(settings, "ENOUGH_ROWS", 8)
    ordinary = judged(nothing, past=Past()).columns
    nights = Past(columns=(ordinary,) * settings.ENOUGH_MEASURED_NIGHTS)
    assert judged(nothing, past=nights).remarks == []
    [strange] = [remark for remark in judged(damage, past=nights).remarks if remark.gate == "columns-unusual"]
    assert any(re.match(said, sentence) for sentence in strange.figures["sentences"]), strange.figures["sentences"]
    assert strange.message.startswith(strange.figures["sentences"][0]) and not strange.forced
    too_few = replace(nights, columns=nights.columns[1:])
    assert "columns-unusual" not in {remark.gate for remark in judged(damage, past=too_few).remarks}


def test_a_table_without_days_is_compared_with_what_it_was() -> None:
    """It changes on few nights, so none before says what is usual."""
    pages = Measured("products/missing cardmarket_url/game/Pokémon", (0.9, 0.9), ("Pokémon", "Pokémon"), 5000)
    few = pages._replace(values=(0.002, 0.002))
    assert unusual([few], []) == []
    [strange] = unusual([pages], [])
    said = (
        "products of Pokémon: cardmarket_url is missing for 90 % more of the rows than before; on the nights before 0 %"
    )
    assert strange["sentence"] == said
    assert unusual([pages], [{pages.key: [0.85, 0.85]}]) == []


def test_small_damage_is_measured_by_the_game_itself_and_by_rows() -> None:
    """What is narrow in one game is wide in another, and what is one cause is said once."""
    nights = [{"guide/top low/game/A": [0.1, 0.1], "guide/top avg/game/B": [0.5 * n, 0.5 * n]} for n in range(1, 7)]
    tonight = [
        Measured(f"guide/top {column}/game/{game}", (1.1, 1.1), (game, game), 4000)
        for column, game in (("low", "A"), ("avg", "B"))
    ]
    [strange] = unusual(tonight, nights)
    assert (
        strange["sentence"]
        == "guide of A: for 3 % of the products low is at least 3 times what it was; on the nights before 111 %"
    )
    both = [{key: [0.1, 0.1] for key in night} for night in nights]
    [strange] = unusual(tonight, both)
    assert strange["sentence"].endswith("; the same of low and in A")
    rare = Measured("products/repeated name/game/A", (0.9, 0.9), ("A", "A"), 100)
    assert unusual([rare], []) == [], "ten names of a hundred"
    [strange] = unusual([rare._replace(many=1000)], [])
    assert "90 % of the values of name stayed as they were; on the nights before 100 %" in strange["sentence"]


@together
def test_the_first_build_is_judged_by_the_clock_alone(live: tuple[FolderStore, Build]) -> None:
    _, build = live
    assert [verdict.gate for verdict in judge(None, build, now=CLOCK).verdicts] == ["day-ahead"]
    early = judge(None, build, now=CLOCK - timedelta(days=2))
    assert [verdict.message for verdict in early.breaches] == [
        f"the as-of day {YESTERDAY} is in the future: today is {TODAY - timedelta(days=2)}"
    ]


def test_every_gate_has_a_file_a_threshold_and_a_damage() -> None:
    files = {path.name.partition(".")[0] for path in (sql_root() / "checks" / "gates").iterdir()}
    assert files == set(settings.GATES) == {*DAMAGES, "prices-returned", "games-frozen"}


def test_the_command_says_what_each_gate_measures() -> None:
    listed = json.loads(run("gates", "--json").stdout)
    assert {gate["name"]: gate["threshold"] for gate in listed if gate["stops"]} == settings.GATES
    assert {gate["name"] for gate in listed if not gate["stops"]} == set(settings.REMARKS)
    assert all(gate["measures"].endswith(".") for gate in listed)
    assert "prices-lost (gate, up to 0.1)" in run("gates").stdout


@pytest.mark.thorough
def test_no_gate_fires_on_a_week_of_ordinary_nights(tmp_path: Path) -> None:
    """The week has the end of a month and of a year. `make soak` judges thirty nights."""
    store, live = FolderStore(str(tmp_path / "store")), None
    for days in range(DAYS - int(os.environ.get("NIGHTS", 7)), DAYS + 1):
        build = open_build(store, make(demo_lake(tmp_path / "lake", days, PRODUCTS), store))
        assert judge(live, build, now=utc_now()).breaches == [], build.id
        live = build
