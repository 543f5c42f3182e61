"""The goals as data: a text, a bound, and the figure of the results that is compared with the bound."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from bench.commands import HELP, SHOW, WATCH_CHECK
from bench.peers.nginx import NginxPeer
from bench.peers.nothing import KeyedNothing
from bench.peers.ours import EdgePeer
from bench.results import OURS, Figure, Results, SeriesName, single
from bench.stats import spread

DEFAULT, DEEP = "default list page", "page at 90 %"
FIRST_CARDS = "first cards/{id}"
FIRST, NIGHT = "one year, first, 2 threads", "one year, second night"


@dataclass(frozen=True)
class Goal:
    """A goal.

    Attributes:
        what: The text of the goal.
        at_least: Whether the bound is a minimum; else it is a maximum.
        figure: Returns the measured figure, or None if it was not measured.
        unit: Unit of the bound: empty for a ratio, `s`, `ms`, `MB`, `GB`.
        bounded_by: Why the goal cannot be met, with the figure that bounds it. Empty if it can.
    """

    what: str
    at_least: bool
    bound: float
    figure: Callable[[Results], Figure | None]
    unit: str = ""
    bounded_by: str = ""

    def met(self, figure: Figure) -> bool:
        """Return whether the median meets the bound."""
        value = figure.spread.median
        return value >= self.bound if self.at_least else value <= self.bound


def _ratio(above: SeriesName, below: SeriesName) -> Callable[[Results], Figure | None]:
    return lambda results: results.ratio(above, below)


def _edge_ratio(results: Results, case: str, encoding: str) -> Figure | None:
    """Return the CPU time of nginx with static files, divided by that of the edge."""
    found = results.ratio((case, EdgePeer.name, encoding), (case, NginxPeer.name, encoding))
    return Figure(found.by_cpu) if found and found.by_cpu else None


def _rivals(what: str, bound: float, case: str, bounded_by: str = "") -> list[Goal]:
    """Return the goals of a case against the best peer, in both encodings."""
    return [
        Goal(
            f"{what} ÷ best peer, {text}",
            True,
            bound,
            partial(Results.over_rival, case=case, encoding=encoding),
            bounded_by=bounded_by,
        )
        for text, encoding in (("not compressed", "identity"), ("gzip", "gzip"))
    ]


def _runs(above: str, below: str, field: str) -> Callable[[Results], Figure | None]:
    return lambda results: results.runs_ratio(above, below, field)


def _p99(results: Results) -> Figure | None:
    rounds = results.part("steady")
    return Figure(spread([one["p99"] for one in rounds])) if rounds else None


def _switch(results: Results, field: str) -> Figure | None:
    rounds = results.part("switch")
    return Figure(spread([one[field] for one in rounds])) if rounds else None


def _search(results: Results) -> Figure | None:
    found = max(results.part("searches") or [], key=lambda searched: searched["worst ms"], default=None)
    return single(found["worst ms"], found["worst"].partition("?")[2]) if found else None


def _beside_search(results: Results, what: str, encoding: str) -> Figure | None:
    """Return the cost of a request divided by that of the same search, for the kind of search where it is largest."""
    found = (results.part("beside search") or {}).get("encodings", {}).get(encoding, {}).get(what)
    worst = max(found, key=lambda kind: found[kind][-1]) if found else ""
    return single(found[worst][-1], worst) if found else None


def _second_worker(results: Results) -> Figure | None:
    found = results.part("memory")
    return single(found["2 workers"] - found["1 worker"]) if found else None


def _command(results: Results, name: str) -> Figure | None:
    runs = (results.part("commands") or {}).get(name)
    return Figure(spread([run["wall"] for run in runs])) if runs else None


def _over_version(results: Results, what: str, field: str = "cpu") -> Figure | None:
    """Return a field of a build divided by that of the same build by version 1.0, for the lake where it is largest."""
    names = [name.removesuffix(", now") for name in results.raw.get("generation", {}).get("runs", {})]
    found = {
        name: figure
        for name in names
        if name.endswith(f", {what}")
        if (figure := results.runs_ratio(f"{name}, now", f"{name}, version 1.0", field))
    }
    if not found:
        return None
    worst = max(found, key=lambda name: found[name].spread.median)
    return replace(found[worst], of=worst.rpartition(", ")[0])


def _stored(results: Results) -> Figure | None:
    sizes = results.raw.get("generation", {}).get("bytes")
    return single(sizes["stored"] / sizes["zstd stream"]) if sizes else None


def _peaks(results: Results) -> dict[str, float]:
    """Return the peak memory in MB of each first build by this code, by name."""
    names = [name for name in results.raw.get("generation", {}).get("runs", {}) if " x " in name]
    ours = [name for name in names if not name.endswith(", version 1.0") and ", night, " not in name]
    return {name: results.runs(name, "peak_mb")[0] for name in ours}


def _peak(results: Results) -> Figure | None:
    peaks = _peaks(results)
    name = max(peaks, key=peaks.__getitem__, default=None)
    return single(peaks[name] / 1000, name) if name else None


def _flat(results: Results) -> Figure | None:
    """Return the peak of a build with many days divided by that of as many products with few days."""
    peaks = _peaks(results)
    few = next((name for name in peaks if ", " not in name.partition(" x ")[2]), None)
    same = [name for name in peaks if few and name != few and name.startswith(few.partition(" x ")[0] + " x ")]
    return single(peaks[same[-1]] / peaks[few], f"{same[-1]} ÷ {few}") if few and same else None


_SQLITE = "Flask + SQLite"

GOALS = (
    *(
        Goal(f"{what} behind nginx ÷ the same file, {text}, by CPU", True, bound,
             partial(_edge_ratio, case=case, encoding=encoding))
        for what, case in {"Default list page": "page", "Card detail": "page, card detail",
                           "Watchlist item": "page, watchlist item"}.items()
        for text, encoding, bound in (("gzip", "gzip", 0.5), ("not compressed", "identity", 0.65))
    ),
    Goal("First answers of different cards ÷ an endpoint that does nothing but key and limit in Flask", True, 2,
         _ratio((FIRST_CARDS, OURS, "gzip"), ("nothing", KeyedNothing.name)),
         "", "cards from memory reach 1.8 to 2.0; to find, read, check and join three members takes 100 µs more"),
    *_rivals("Default list page", 2.5, DEFAULT),
    Goal("Page at 90 % of the catalogue ÷ own default page", True, 0.8, _ratio((DEEP, OURS), (DEFAULT, OURS))),
    Goal("Pages around 90 %, new, gzip ÷ SQLite", True, 8,
         _ratio(("pages about 90 %, new", OURS, "gzip"), ("pages about 90 %, new", _SQLITE, "gzip")),
         bounded_by="the same pages uncompressed take 200 µs, 7.1 times; compressing 66 kB takes 105 µs"),
    *_rivals("Two new words", 10, "two words, new",
             "FTS5 trigrams answer in 1.0 ms; the server takes two thirds of an answer"),
    *_rivals("One letter, new searches", 3, "one letter, new"),
    *_rivals("Rarity + kind + sort", 5, "rarity + kind + sort"),
    Goal("Rarity + kind + sort, new ÷ SQLite", True, 4,
         _ratio(("rarity + kind + sort, new", OURS), ("rarity + kind + sort, new", _SQLITE)),
         bounded_by="50 lines that were never joined take 200 µs without any search, 3.0 times"),
    *_rivals("Card detail, whole history", 30, "card detail",
             "SQLite assembles a year in 1.0 ms; the server alone, without any answer, would be 33 times"),
    Goal("Card detail, days=30 ÷ SQLite", True, 3,
         _ratio(("card detail, days=30", OURS), ("card detail, days=30", _SQLITE))),
    *(
        Goal(f"A year of weekly prices of 100 cards ÷ 100 Cards by id, {text}", True, 0.5,
             _ratio(("100 series, new", OURS, encoding), ("100 Cards by id, new", OURS, encoding)))
        for text, encoding in (("not compressed", "identity"), ("gzip", "gzip"))
    ),
    Goal("p99 of a mix of all endpoints at half the load that saturates", False, 10, _p99, "ms"),
    Goal("p99 of 4,000 pages behind nginx while another build goes live", False, 6,
         partial(_switch, field="p99, publish"), "ms"),
    Goal("Time until a build is in force behind a saturated nginx, after the pointer moved", False, 1,
         partial(_switch, field="in force, publish"), "s"),
    Goal("Slowest single search, in the shim", False, 15, _search, "ms"),
    *(
        Goal(f"{text} ÷ the same search, new, {shown}, CPU", False, 1.5,
             partial(_beside_search, what=what, encoding=encoding), bounded_by=bounded_by)
        for what, text, bounded_by in (
            ("facets", "`/facets`", "facets read 12 bits of every product, a search copies 50 lines"),
            ("match", "`sort=match`", "it compares the name of every product, a search for a letter none"),
        )
        for shown, encoding in (("not compressed", "identity"), ("gzip", "gzip"))
    ),
    Goal("Memory of a second worker", False, 60, _second_worker, "MB"),
    Goal("Build and publish after one watch check, Python's start included", False, 1.5,
         partial(_command, name=WATCH_CHECK), "s"),
    Goal("`cardpress --help`", False, 0.15, partial(_command, name=HELP), "s"),
    Goal("`cardpress show`", False, 0.4, partial(_command, name=SHOW), "s"),
    Goal("First build ÷ that of version 1.0, CPU", False, 0.5, partial(_over_version, what="first")),
    Goal("A night ÷ that of version 1.0, CPU", False, 0.5, partial(_over_version, what="night")),
    Goal("Peak memory of a build ÷ that of version 1.0", False, 1,
         partial(_over_version, what="first", field="peak_mb")),
    Goal("First build, 2 threads ÷ 1 thread, wall", False, 0.62, _runs(FIRST, "one year, first, 1 thread", "wall")),
    Goal("Second night ÷ first build of a year, CPU", False, 0.25, _runs(NIGHT, FIRST, "cpu")),
    Goal("A night with three years of history ÷ with one, CPU", False, 1.1,
         _runs("three years, second night", NIGHT, "cpu")),
    Goal("Peak memory of a build", False, 6, _peak, "GB"),
    Goal("Peak memory, many days ÷ few", False, 1.15, _flat),
    Goal("Stored bytes ÷ the same JSON in one zstd -3 stream", False, 2, _stored),
)  # fmt: skip
