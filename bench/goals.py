"""The goals as data: a text, a bound, and the figure of the results that is compared with the bound."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from bench.peers.edge import EdgePeer
from bench.peers.nginx import NginxPeer
from bench.peers.nothing import KeyedNothing
from bench.results import OURS, Figure, Results, SeriesName, single
from bench.stats import spread

DEFAULT, DEEP = "default list page", "page at 90 %"
FIRST, NIGHT = "one year, first, 2 threads", "one year, second night"


@dataclass(frozen=True)
class Goal:
    """A goal.

    Attributes:
        what: The text of the goal.
        at_least: Whether the bound is a minimum; else it is a maximum.
        figure: Returns the measured figure, or None if it was not measured.
        unit: Unit of the bound: empty for a ratio, `ms`, `MB`, `GB`.
    """

    what: str
    at_least: bool
    bound: float
    figure: Callable[[Results], Figure | None]
    unit: str = ""

    def met(self, figure: Figure) -> bool:
        """Return whether the median meets the bound."""
        value = figure.spread.median
        return value >= self.bound if self.at_least else value <= self.bound


def _ratio(above: SeriesName, below: SeriesName) -> Callable[[Results], Figure | None]:
    return lambda results: results.ratio(above, below)


def _edge_ratio(results: Results, case: str, encoding: str) -> Figure | None:
    """Return the CPU time of nginx with static files, divided by that of the edge."""
    found = results.ratio((case, EdgePeer.name, encoding), (case, NginxPeer.name, encoding))
    return single(found.by_cpu) if found and found.by_cpu else None


def _rivals(what: str, bound: float, case: str) -> list[Goal]:
    """Return the goals of a case against the best peer, in both encodings."""
    return [
        Goal(f"{what} ÷ best peer, {text}", True, bound, partial(Results.over_rival, case=case, encoding=encoding))
        for text, encoding in (("not compressed", "identity"), ("gzip", "gzip"))
    ]


def _runs(above: str, below: str, field: str) -> Callable[[Results], Figure | None]:
    return lambda results: results.runs_ratio(above, below, field)


def _worst_endpoint(results: Results) -> Figure | None:
    """Return the lowest ratio of an endpoint to one that does nothing, without the fingerprint index of megabytes."""
    found = {
        case: figure
        for case in results.cases()
        if case.startswith("endpoint ") and not case.endswith("fingerprints")
        if (figure := results.ratio((case, OURS, "gzip"), ("nothing", KeyedNothing.name)))
    }
    if not found:
        return None
    worst = min(found, key=lambda case: found[case].spread.median)
    return replace(found[worst], of=worst.removeprefix("endpoint "))


def _p99(results: Results) -> Figure | None:
    rounds = results.part("steady")
    return Figure(spread([one["p99"] for one in rounds])) if rounds else None


def _search(results: Results) -> Figure | None:
    found = results.part("searches")
    return single(found["worst ms"], found["worst"].partition("?")[2]) if found else None


def _second_worker(results: Results) -> Figure | None:
    found = results.part("memory")
    return single(found["2 workers"] - found["1 worker"]) if found else None


def _json_rate(results: Results) -> Figure | None:
    """Return the JSON per CPU second of a first build, divided by that of compressing the same bytes alone."""
    cpu, sizes = results.runs(FIRST, "cpu"), results.raw.get("generation", {}).get("bytes")
    return Figure(spread([sizes["gzip alone, CPU seconds"] / seconds for seconds in cpu])) if cpu and sizes else None


def _stored(results: Results) -> Figure | None:
    sizes = results.raw.get("generation", {}).get("bytes")
    return single(sizes["stored"] / sizes["zstd stream"]) if sizes else None


def _large(results: Results) -> list[str]:
    """Return the names of the builds of many products, the fewest days first."""
    return [name for name in results.raw.get("generation", {}).get("runs", {}) if " products, " in name]


def _peak(results: Results) -> Figure | None:
    names = _large(results)
    return single(results.runs(names[-1], "peak_mb")[0] / 1000, names[-1]) if names else None


def _flat(results: Results) -> Figure | None:
    names = _large(results)
    if len(names) < 2:
        return None
    few, many = (results.runs(names[place], "peak_mb")[0] for place in (0, -1))
    return single(many / few, f"{names[-1]} ÷ {names[0].partition(', ')[2]}")


GOALS = (
    *(
        Goal(f"{what} behind nginx ÷ nginx sending the same bytes, {text}, by CPU", True, bound,
             partial(_edge_ratio, case=case, encoding=encoding))
        for what, case in {"Default list page": "page", "Card detail": "page, card detail",
                           "Watchlist item": "page, watchlist item"}.items()
        for text, encoding, bound in (("gzip", "gzip", 0.5), ("not compressed", "identity", 0.65))
    ),
    Goal("Slowest endpoint, gzip ÷ one that does nothing but key and limit in Flask", True, 3, _worst_endpoint),
    *_rivals("Default list page", 5, DEFAULT),
    Goal("Page at 90 % of the catalogue ÷ own default page", True, 0.8, _ratio((DEEP, OURS), (DEFAULT, OURS))),
    *_rivals("Page at 90 % of the catalogue", 1000, DEEP),
    *_rivals("Two words never seen before", 10, "two words, new"),
    *_rivals("One letter, searches never seen before", 3, "one letter, new"),
    *_rivals("Rarity + kind + sort", 5, "rarity + kind + sort"),
    *_rivals("Rarity + kind + sort, never seen before", 5, "rarity + kind + sort, new"),
    *_rivals("Card detail, whole history", 30, "card detail"),
    Goal("Card detail, days=30 ÷ whole history, not compressed", True, 0.5,
         _ratio(("card detail, days=30", OURS), ("card detail", OURS))),
    Goal("p99 of a mix of all endpoints at half the load that saturates", False, 10, _p99, "ms"),
    Goal("Slowest single search, in the shim", False, 15, _search, "ms"),
    Goal("Memory of a second worker", False, 60, _second_worker, "MB"),
    Goal("JSON per CPU second ÷ compressing the same bytes alone", True, 0.15, _json_rate),
    Goal("First build, 2 threads ÷ 1 thread, wall", False, 0.6, _runs(FIRST, "one year, first, 1 threads", "wall")),
    Goal("Second night ÷ first build of a year, CPU", False, 0.25, _runs(NIGHT, FIRST, "cpu")),
    Goal("A night with three years of history ÷ with one, CPU", False, 1.1,
         _runs("three years, second night", NIGHT, "cpu")),
    Goal("Peak memory of a build", False, 6, _peak, "GB"),
    Goal("Peak memory, many days ÷ few", False, 1.15, _flat),
    Goal("Stored bytes ÷ the same JSON in one zstd -3 stream", False, 2, _stored),
)  # fmt: skip
