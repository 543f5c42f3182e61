"""The benchmark's own arithmetic: statistics, goals, tables, plots, and what the cases ask for."""

import xml.etree.ElementTree as ET

import pytest

from bench import scan
from bench.cases import new_words
from bench.goals import GOALS
from bench.peers import flask_sqlite
from bench.plot import bars, number
from bench.report import goal_tables, table, write
from bench.results import OURS, Results
from bench.scan_photos import PHOTOS
from bench.stats import Spread, quantile, ratios, spread
from tests.support.programs import needs


def measured(case: str, server: str, rates: list[float], encoding: str = "identity") -> list[dict]:
    """Measurements of a series, a round each."""
    named = {"case": case, "server": server, "encoding": encoding, "p50": 1.0, "p99": 2.0, "busy": 0.5, "body": 10.0}
    return [{**named, "turn": place, "rate": rate, "cpu_us": 1e6 / rate} for place, rate in enumerate(rates)]


def test_a_spread_is_a_median_between_extremes() -> None:
    assert spread([3, 1, 10, 2]) == Spread(2.5, 1, 10)


def test_ratios_are_of_the_same_round() -> None:
    # both servers were ten times slower in the second round, which says nothing of their ratio
    assert ratios([200, 20, 210], [100, 10, 100]) == Spread(2.0, 2.0, 2.1)


@pytest.mark.parametrize(("share", "value"), [(0, 1), (0.01, 1), (0.5, 50), (0.99, 99), (1, 100)])
def test_quantile(share: float, value: int) -> None:
    assert quantile(list(range(100, 0, -1)), share) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.01234, "0.0123"), (1.5, "1.50"), (12.34, "12.3"), (123.4, "123"), (6543.2, "6,543")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_no_word_comes_twice_and_each_is_in_a_name() -> None:
    names = ["ember ember", "stray bloom", "ember bloom drift"]
    pairs = new_words(names)
    words = [word for pair in pairs for word in pair]
    assert len(pairs) == 3 and len(words) == len(set(words))
    assert all(any(one in name and other in name for name in names) for one, other in pairs)
    assert min(map(len, words)) >= 3


def test_goals_are_met_by_the_median_against_the_best_peer() -> None:
    case = "default list page"
    series = [(OURS, [100, 60, 110]), ("Flask + SQLite", [20, 10, 20]), ("Flask + SQLite FTS5 trigram", [10, 10, 10])]
    compressed = measured(case, OURS, [60], "gzip") + measured(case, "Flask + SQLite FTS5 trigram", [30], "gzip")
    compressed += measured("card detail", OURS, [20], "gzip") + measured("card detail", "Flask + SQLite", [10], "gzip")
    raw = {"serving": compressed + [one for server, rates in series for one in measured(case, server, rates)]}
    rows, state = {}, ""
    for line in goal_tables(Results(raw)):
        if line.startswith("| "):
            what, *cells = [cell.strip() for cell in line.strip("|").split("|")]
            rows[what] = [state, *cells]
        state = line.strip().removeprefix("### ") if "###" in line else state
    row = rows["Default list page ÷ best peer, not compressed"]
    assert row[:4] == ["Met", "≥ 2.50", "**5.50** (5.00–6.00), by CPU 5.50", "÷ Flask + SQLite"]
    row = rows["Default list page ÷ best peer, gzip"]
    assert row[:4] == ["Open", "≥ 2.50", "**2.00**, by CPU 2.00", "÷ Flask + SQLite FTS5 trigram"]
    assert rows["Card detail, whole history ÷ best peer, gzip"][0] == "Bounded"
    assert rows["Two new words ÷ best peer, gzip"][0] == "Not measured"
    assert len(rows) == len(GOALS) + 2


def test_cells_do_not_break_a_table() -> None:
    assert table(("a", "b"), [("1|2", "3")]) == ["| a | b |", "| --- | --- |", "| 1/2 | 3 |"]


def test_a_report_of_little_is_a_page_with_its_plots(tmp_path) -> None:
    serving = measured("default list page", OURS, [5000.0, 6000.0]) + measured("default list page", "A & B", [10.0])
    raw = {"command": "make bench", "date": "2026-01-01", "machine": {"processor": "x"}, "serving": serving}
    page = write(Results(raw | {"size": {"rounds": 2, "details": 3}}), tmp_path).read_text()
    assert "benchmarks/serving.csv" in page and "benchmarks/requests.svg" in page
    cases = (tmp_path / "benchmarks" / "serving.csv").read_text().splitlines()[1:]
    assert [line.partition(",10.0,")[0] for line in cases if "A & B" in line] == ["default list page,A & B,identity"]
    assert ET.parse(tmp_path / "benchmarks" / "requests.svg").getroot().tag.endswith("svg")


def test_bars_are_as_long_as_their_values_are_large() -> None:
    svg = ET.fromstring(bars("t", "u", [("g", [("small", Spread(1, 1, 1)), ("large", Spread(100, 90, 110))])]))
    widths = [float(rect.get("width", 0)) for rect in svg.iter("{http://www.w3.org/2000/svg}rect") if rect.get("x")]
    assert len(widths) == 2 and widths[0] < 2 < 200 < widths[1]


def test_the_peer_is_asked_for_what_our_parameters_mean() -> None:
    query = flask_sqlite.list_query({"q": "Poké ex", "kind": "single", "rarity": "Ultra Rare", "offset": "50"})
    assert query == flask_sqlite.ListQuery(("poke", "ex"), "ultra rare", "single", "trend", 50, 50)
    assert query.parameters() == {
        "limit": 51, "offset": 50, "w0": "poke", "w1": "ex", "rarity": "ultra rare", "kind": "single",
    }  # fmt: skip
    assert '"has_more": true, "next_offset": 100' in flask_sqlite.list_body(["{}"] * 51, query)
    assert '"has_more": false, "next_offset": null' in flask_sqlite.list_body(["{}"] * 50, query)


@pytest.mark.thorough
@needs("Node.js")
def test_every_way_of_a_card_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["scan", "--cards", "20", "--photographed", "1", "--workers", "1"])
    scan.main()
    lines = capsys.readouterr().out.splitlines()
    rows = {cells[1].strip(): cells[2:4] for cells in (line.split("|") for line in lines) if len(cells) == 8}
    assert [rows[way] for way in PHOTOS] == [[" 100.0 % ", " 100.0 % "]] * len(PHOTOS)
    assert "one search with seven views" in lines[-1]
