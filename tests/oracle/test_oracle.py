"""The oracle against answers worked out by hand."""

from decimal import Decimal as D
from pathlib import Path

import pytest

from tests.support.lakes import FIXED, Rows, write
from tests.support.oracle import Oracle, differences
from tests.support.oracle.rounding import average, change_pct, price
from tests.support.oracle.text import fold, number_match_key, number_sort_key


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return Oracle(write(FIXED, tmp_path_factory.mktemp("fixed")), build_id="b")


def ids(oracle: Oracle, query: str) -> list[int]:
    status, body = oracle.ask(f"/api/v1/cards?limit=100&{query}")
    assert status == 200, body
    return [card["id_product"] for card in body["data"]]


def body(oracle: Oracle, target: str) -> dict:
    status, answer = oracle.ask(f"/api/v1/{target}")
    assert status == 200, answer
    return answer


@pytest.mark.parametrize(
    ("read", "shown"),
    [(1.005, "1.01"), (2.675, "2.68"), (0.125, "0.13"), (0.004999, "0.00"), (3199.995, "3200.00"), (1e17, "1E17")],
)
def test_prices_round_half_away_by_their_shortest_form(read: float, shown: str) -> None:
    assert price(read) == D(shown)


def test_averages_and_percentages_are_exact() -> None:
    assert average([D("0.01"), D("0.02"), None]) == D("0.02")
    assert average([None]) is None
    assert change_pct(D("0.995"), D("1")) == D("-0.5")
    assert change_pct(D("1.99995"), D("2")) == D("0.00")  # -0.0025
    assert change_pct(D("199.99"), D("200")) == D("-0.01")  # -0.005, away from zero
    assert change_pct(D("1"), D("0")) is None


def test_folding() -> None:
    assert fold("İSTANBUL") == fold("istanbul") == "istanbul"
    assert fold("Straße") == "strasse"
    assert fold("\u212bngstrom ２５ ﬁ") == "angstrom 25 fi"
    assert fold("e\u0301") == fold("é") == "e"


def test_collector_numbers() -> None:
    assert {number_match_key(n) for n in ("4", "004", "04", "４")} == {"4"}
    assert number_match_key("000") == number_match_key("0") == "0"
    assert number_match_key("TG04") == number_match_key("tg4") != number_match_key("4")
    assert number_match_key("1/0102") == "1/102"
    assert number_sort_key("TG4") == "tg0000000004"
    assert number_sort_key("12345678901") == "12345678901"
    assert number_sort_key("") is None
    assert number_sort_key(None) is None


def test_sort_ties_by_ascending_id_and_their_exact_reverse(fixed: Oracle) -> None:
    down, up = ids(fixed, "sort=trend"), ids(fixed, "sort=trend&order=asc")
    assert down[:3] == [100, 101, 111]
    assert [i for i in down if i in (114, 115, 116)] == [114, 115, 116]
    assert [i for i in up if i in (114, 115, 116)] == [116, 115, 114]
    unpriced = [103, 104, 105, 106, 107, 108, 109, 110, 112, 113, 120, 121, 122, 123, 9007199254740993]
    assert down[-15:] == up[-15:] == unpriced
    assert down[:10] == up[:10][::-1]


def test_sort_by_number(fixed: Oracle) -> None:
    keyed = [110, 105, 106, 100, 101, 104, 114, 115, 116, 9007199254740993, 108, 118, 109, 117, 102, 103]
    assert ids(fixed, "sort=number")[:16] == keyed
    assert ids(fixed, "sort=number&order=desc")[:16] == keyed[::-1]


def test_newest_cuts_fractions(fixed: Oracle) -> None:
    assert ids(fixed, "sort=newest")[:4] == [100, 101, 112, 102]


def test_filters(fixed: Oracle) -> None:
    assert sorted(ids(fixed, "number=04")) == [100, 101]
    assert ids(fixed, "number=0&order=asc") == [105, 106]
    assert sorted(ids(fixed, "number=TG4")) == [102, 103]
    assert sorted(ids(fixed, "rarity=ULTRA%20R%C3%A1re")) == [100, 101]
    assert ids(fixed, "rarity=unheard") == []
    assert ids(fixed, "q=EX+char") == [100, 101]
    assert ids(fixed, "q=strasse%20POKEMON") == [103]
    assert len(ids(fixed, "q=&set=&number=&rarity=")) == 25


def test_set_by_id_before_name(fixed: Oracle) -> None:
    assert ids(fixed, "set=151") == [104]
    assert ids(fixed, "set=404") == [107]
    assert ids(fixed, "set=999") == [109]
    assert sorted(ids(fixed, "set=Base%20Set")) == [100, 101, 110, 111, 112]
    assert sorted(ids(fixed, "set=%C3%89p%C3%A9e%20et%20Bouclier")) == [102, 103]
    assert fixed.ask("/api/v1/cards?set=base%20set") == (404, "not_found")
    assert ids(fixed, "set=9") == []


def test_filtered_price_sorts_and_drops_offers(fixed: Oracle) -> None:
    filtered = body(fixed, "cards/100")["filtered_price"]
    assert filtered["lowest"] == 2900.0
    assert filtered["offers"] == 42
    assert filtered["cheapest_seller"] == "Adam"
    order = [(o["seller"], o["condition"]) for o in filtered["cheapest_offers"]]
    assert order == [("Adam", "NM"), ("Adam", "LP"), ("adam", "MT"), ("zoe", "NM"), ("zoe", "GD")]
    assert list(filtered["cheapest_offers_by_condition"]) == ["MT", "NM", "EX", "GD", "LP", "PO"]
    assert filtered["cheapest_offers_by_condition"]["EX"] == [{"price": 2901.0, "quantity": 1, "seller": "zoe"}]
    assert filtered["checked_at"] == "2024-03-03T06:00:00Z"


def test_counted_but_not_kept(fixed: Oracle) -> None:
    filtered = body(fixed, "cards/120")["filtered_price"]
    assert (filtered["lowest"], filtered["cheapest_offers"], filtered["cheapest_offers_by_condition"]) == (2.35, [], {})
    nothing = body(fixed, "cards/121")["filtered_price"]
    assert (nothing["lowest"], nothing["offers"]) == (None, 0)


def test_the_row_that_stands_for_a_day(fixed: Oracle) -> None:
    days = body(fixed, "cards/100?days=2")["history"]["listing"]
    assert [(d["day"], d["from_price"]) for d in days] == [("2024-03-02", 2951.0), ("2024-03-03", 2900.01)]
    assert body(fixed, "cards/123")["listing"]["from_price"] == 0.4
    checks = body(fixed, "cards/123")["history"]["filtered"]
    assert checks == [{"day": "2024-03-02", "lowest": 8.0, "offers": 2}]


def test_last_n_days_include_the_as_of_day(fixed: Oracle) -> None:
    days = [d["day"] for d in body(fixed, "cards/100?days=4")["history"]["price_guide"]]
    assert days == ["2024-02-29", "2024-03-03"]
    assert len(body(fixed, "cards/100?days=5")["history"]["price_guide"]) == 3


def test_watchlist_item(fixed: Oracle) -> None:
    item = body(fixed, "watchlist/CHARIZARD-base")
    assert item["slug"] == "Charizard-Base"
    assert item["cardmarket_url"].endswith("/Charizard-ex?sellerCountry=23&language=1")
    assert (item["lowest_price"], item["num_offers"]) == (3200.0, 9)
    assert item["last_checked"] == "2024-03-03T06:00:00Z"
    assert item["change_24h_pct"] == 6.67  # 3000 at 05:00, not 2000 at 07:00
    assert item["change_7d_pct"] == 28.0  # exactly seven days: 2500
    assert item["sparkline_14d"] == [None] * 6 + [2500.0, 2600.01, None, None, None, None, 2500.0, 3200.0]


def test_watchlist_change_limits(fixed: Oracle) -> None:
    assert body(fixed, "watchlist/charizard-base-2")["change_24h_pct"] == 10.0  # 12 hours off, inclusive
    assert body(fixed, "watchlist/zero")["change_7d_pct"] is None  # the reference is 0
    assert body(fixed, "watchlist/never")["sparkline_14d"] == [None] * 14


def test_slug_look_up(fixed: Oracle) -> None:
    assert [i["slug"] for i in body(fixed, "watchlist")["data"]][:3] == ["Charizard-Base", "charizard-base-2", "Épée"]
    assert body(fixed, "watchlist/sealed%2Fbooster-box/offers")["slug"] == "sealed/Booster-Box"
    assert body(fixed, "watchlist/sealed/booster-box/history")["slug"] == "sealed/Booster-Box"
    assert body(fixed, "watchlist/ex-v2")["slug"] == "charizard-base-2"
    assert fixed.ask("/api/v1/watchlist/charizard-ex") == (409, "ambiguous_slug")
    assert fixed.ask("/api/v1/watchlist/a=b") == (404, "not_found")
    assert fixed.ask("/api/v1/watchlist/%FF") == (404, "not_found")


def test_history_buckets(fixed: Oracle) -> None:
    weekly = body(fixed, "watchlist/charizard-base/history?view=weekly&range=30d")
    points = [(p["date"], p["price"]) for p in weekly["points"]]
    assert points == [("2024-02-19", 2500.0), ("2024-02-26", 2680.0)]
    assert weekly["change_pct_over_range"] == 7.2
    monthly = body(fixed, "watchlist/charizard-base/history?view=monthly")
    assert [p["date"] for p in monthly["points"]] == ["2024-01-01", "2024-02-01", "2024-03-01"]
    daily = body(fixed, "watchlist/charizard-base/history?range=30d")
    assert {"date": "2024-02-29", "price": None} in daily["points"]
    assert body(fixed, "watchlist/zero/history")["change_pct_over_range"] is None


def test_watch_offers(fixed: Oracle) -> None:
    offers = body(fixed, "watchlist/charizard-base/offers")["offers"]
    assert [(o["seller"], o["price"]) for o in offers] == [(None, 3200.0), ("b", 3300.0), ("a", 3300.0), ("c", None)]
    assert body(fixed, "watchlist/never/offers")["as_of"] is None


def test_sets(fixed: Oracle) -> None:
    rows = body(fixed, "sets")["data"]
    assert [r["id"] for r in rows] == [5402, 7, 1, 3, 9, 8, 10, 151]
    assert rows[2] == {
        "id": 1,
        "name": "Base Set",
        "products": 4,
        "singles": 2,
        "cardmarket_url": "https://market.example/en/Expansions/Base-Set?sellerCountry=23&language=1",
    }
    assert [r["id"] for r in body(fixed, "sets?q=%20EPEE%20")["data"]] == [8]


def test_status(fixed: Oracle) -> None:
    status = body(fixed, "status")
    assert status["build"] == {"id": "b", "as_of": "2024-03-03"}
    assert status["watchlist"] == {"products": 6, "checked": 4, "last_checked": "2024-03-03T06:00:00Z"}
    assert status["catalogue"]["listing_scraped_at"] == "2024-03-04T00:30:00Z"
    counts = {k: status["filtered_price"][k] for k in ("checked", "never_checked", "checked_last_24h")}
    assert counts == {"checked": 6, "never_checked": 19, "checked_last_24h": 5}
    assert status["filtered_price"]["oldest_checked_at"] == "2024-03-02T05:59:59Z"


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=101", "limit=%2B5", "limit=1_0", "limit=%D9%A3", "limit=%205", "limit=5.0", "limit=",
     "offset=-1", "offset=1234567890123456789", "kind=", "kind=Single", "order=ASC", "sort=price",
     "limit=1&limit=1", "page=1", "q=%FF", "q=" + "a" * 101, "days=1"],
)  # fmt: skip
def test_refused_parameters(fixed: Oracle, query: str) -> None:
    assert fixed.ask(f"/api/v1/cards?{query}") == (400, "invalid_parameter")


def test_paths_and_ids(fixed: Oracle) -> None:
    assert fixed.ask("/api/v1/cards/abc") == (400, "invalid_parameter")
    assert fixed.ask("/api/v1/cards/-1") == fixed.ask(f"/api/v1/cards/{10**30}") == (404, "not_found")
    assert body(fixed, "cards/9007199254740993")["id_product"] == 9007199254740993
    for path in ("/api/v1/cards/1/2", "/api/v1/", "/api/v1/me2", "//api/v1/cards", "/api/v1/sets/1"):
        assert fixed.ask(path) == fixed.ask(f"{path}?q=%FF") == (404, "not_found")


def test_paging(fixed: Oracle) -> None:
    last = body(fixed, "cards?limit=20&offset=20")["pagination"]
    assert last == {"limit": 20, "offset": 20, "returned": 5, "has_more": False, "next_offset": None}
    assert body(fixed, "cards?limit=20")["pagination"]["next_offset"] == 20
    past = body(fixed, "cards?offset=999999999999999999")["pagination"]
    assert (past["returned"], past["has_more"], past["next_offset"]) == (0, False, None)


def test_as_of_an_earlier_day(tmp_path: Path) -> None:
    early = Oracle(write(FIXED, tmp_path), as_of="2024-03-01")
    assert body(early, "cards/100")["price_guide"]["day"] == "2024-02-29"
    assert body(early, "watchlist/charizard-base")["lowest_price"] is None


def test_a_lake_of_products_alone(tmp_path: Path) -> None:
    bare = Oracle(write(Rows(products=[]), tmp_path), as_of="2024-03-01")
    assert body(bare, "fingerprints") == {"version": "none", "count": 0, "image_url": "{key}", "entries": []}
    assert body(bare, "status")["filtered_price"]["checked"] == 0


@pytest.mark.parametrize("seed", range(6))
def test_how_a_lake_is_written_does_not_count(fixed: Oracle, tmp_path: Path, seed: int) -> None:
    other = Oracle(write(FIXED, tmp_path, seed), build_id="b")
    for target in ("status", "cards?limit=100", "cards/100", "watchlist", "sets", "watchlist/zero/history"):
        assert differences(body(fixed, target), body(other, target)) == []


def test_differences_know_types() -> None:
    assert differences({"a": 1.0, "b": [1]}, {"b": [1], "a": 1}) == []
    assert differences({"n": 1}, {"n": 1.0}) == ["body.n: expected 1, got 1.0"]
    assert differences({"n": None}, {}) == ["body.n: missing, expected null"]
    assert differences([True], [1]) == ["body[0]: expected true, got 1"]
