"""Writes the report of a run: the goals, every figure, how to repeat it, the machine; with plots beside it."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.goals import GOALS, Goal
from bench.plot import bars, number
from bench.results import OURS, Figure, Results
from bench.stats import Spread, spread

_PLOTTED = (
    "default list page", "page at 90 %", "two words, new", "one letter, new", "rarity + kind + sort", "card detail",
)  # fmt: skip
_BUSY_SHARE = 0.9
_SERVING_COLUMNS = ("case", "server", "encoding", "requests/s", "p50 ms", "p99 ms", "CPU µs", "bytes", "wrk busy")
_INTRODUCTION = """# Benchmarks

*For engineers.* Written by `{command}` on {date}; do not edit. Figures are medians over {rounds} rounds, the lowest
and highest in brackets. The product, its peers and the lower bounds are measured in one run in turns, each on one core,
with the load generator (wrk) on the other. A ratio is the median of the ratios of the same round, or turn: the cases
*page* have three turns in a round. *best peer* is the faster of two ways with Flask + SQLite (a scan of covering
indexes, or FTS5 trigrams), with the same data, and an index for every sort. All servers must give the same answers.
The product checks keys and counts limits; the peer does not.
"""
_NOTES = """## How to read it

- *new*: no request repeats one that the same process answered before. Words are pieces of names of at least 3 letters,
  each used once; one letter is combined with every sort and kind. The other cases repeat the same few requests, which
  the product may answer from its cache and the peers compute.
- *identity* and *gzip*: the encoding that the client accepts. The peer compresses with the product's own codec.
- *CPU* is the CPU time of all processes of a server per request; *by CPU* is a ratio of these, which other work on the
  machine disturbs less.
- *wrk busy* above {busy:.0%}: the load generator may be the limit.
- The peer holds the history of {details:,} products only, which the cases request in turn.
- Elsewhere, ratios hold better than rates.
- To repeat it, and where the time goes: [bench/README.md](../bench/README.md).
"""


def write(results: Results, folder: Path) -> Path:
    """Write `benchmarks.md`, and beside it plots and tables, below a folder, and return the path of the page."""
    plots = folder / "benchmarks"
    plots.mkdir(parents=True, exist_ok=True)
    drawn = _plots(results)
    for name, svg in drawn.items():
        (plots / f"{name}.svg").write_text(svg, encoding="utf-8")
    with (plots / "serving.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([_SERVING_COLUMNS, *_serving(results)])
    figures = "\n".join([*_shim(results), *_commands(results), *_generation(results)])
    (plots / "figures.txt").write_text(f"{figures.strip()}\n", encoding="utf-8")
    page = folder / "benchmarks.md"
    page.write_text("\n".join(_page(results, drawn)), encoding="utf-8")
    return page


def goal_tables(results: Results) -> Iterator[str]:
    """Yield the lines of a table of goals for each state: met, bounded, open, not measured."""
    groups: dict[str, list[list[str]]] = {"Met": [], "Bounded": [], "Open": [], "Not measured": []}
    for goal in GOALS:
        figure = goal.figure(results)
        groups[_state(goal, figure)].append(_goal_row(goal, figure))
    for state, rows in groups.items():
        if rows:
            yield f"\n### {state}\n"
            yield from table(("goal", "bound", "measured", "remark"), rows)


def _state(goal: Goal, figure: Figure | None) -> str:
    if figure is None:
        return "Not measured"
    return "Met" if goal.met(figure) else "Bounded" if goal.bounded_by else "Open"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines]


def _page(results: Results, drawn: dict[str, str]) -> Iterator[str]:
    raw = results.raw
    yield _INTRODUCTION.format(command=raw["command"], date=raw["date"], rounds=raw["size"]["rounds"])
    yield "## Goals\n"
    yield "A goal that is not met is *bounded* if a figure shows why nothing of this kind can reach it, else *open*."
    yield from goal_tables(results)
    for name in drawn:
        yield f"\n![{name}](benchmarks/{name}.svg)"
    yield "\n## Serving\n\nEvery case, server and encoding: [serving.csv](benchmarks/serving.csv)."
    yield "\nLatencies, first answers, memory, searches, commands and builds: [figures.txt](benchmarks/figures.txt)."
    yield "\n" + _NOTES.format(busy=_BUSY_SHARE, details=raw["size"]["details"])
    yield "## The machine\n"
    yield from (f"- {name}: {text}" for name, text in raw["machine"].items())
    yield f"- sizes: {', '.join(f'{name} {value}' for name, value in raw['size'].items())}\n"


def _goal_row(goal: Goal, figure: Figure | None) -> list[str]:
    bound = f"{'≥' if goal.at_least else '≤'} {number(goal.bound)} {goal.unit}".rstrip()
    if figure is None:
        return [goal.what, bound, "", goal.bounded_by]
    measured = f"**{f'{number(figure.spread.median)} {goal.unit}'.rstrip()}**" + _range(figure.spread)
    by_cpu = f", by CPU {number(figure.by_cpu.median)}" if figure.by_cpu else ""
    remark = (figure.of, "" if goal.met(figure) else goal.bounded_by)
    return [goal.what, bound, measured + by_cpu, "; ".join(filter(None, remark))]


def _range(values: Spread) -> str:
    return f" ({number(values.low)}–{number(values.high)})" if values.low != values.high else ""


def _serving(results: Results) -> Iterator[list[str]]:
    """Yield the values of `_SERVING_COLUMNS` of each case, server and encoding."""
    for case in results.cases():
        for server, encoding in results.servers(case):
            named = case, server, encoding
            rate, *others = (
                spread(results.series(*named, field)) for field in ("rate", "p50", "p99", "cpu_us", "body", "busy")
            )
            figures = [number(other.median) for other in others[:4]]
            yield [*named, number(rate.median) + _range(rate), *figures, f"{others[4].median:.0%}"]


def _shim(results: Results) -> Iterator[str]:
    if rounds := results.part("steady"):
        yield "\n### A mix of all endpoints\n"
        head = ("saturated, requests/s", "half, requests/s", "p50 ms", "p99 ms")
        yield from table(head, [[number(one[name]) for name in ("saturated", "rate", "p50", "p99")] for one in rounds])
    if cold := results.part("cold"):
        yield "\n### First answers\n\nThe first such request after a start, with the files not in memory; ms.\n"
        kinds = list(cold[OURS])
        rows = [[server, *(number(spread(times[kind]).median) for kind in kinds)] for server, times in cold.items()]
        yield from table(("server", *kinds), rows)
    if memory := results.part("memory"):
        yield "\n### Memory\n\nProportional set size (PSS) of all processes after a mix of requests; MB.\n"
        yield from table(list(memory), [[number(value) for value in memory.values()]])
    if found := results.part("beside search"):
        yield f"\n### Facets and matches beside the same search, {found['products']:,} products, CPU µs\n"
        rows = [
            [encoding, name, kind, *map(number, figures)]
            for encoding, endpoints in found["encodings"].items()
            for name, kinds in endpoints.items()
            for kind, figures in kinds.items()
        ]
        yield from table(("encoding", "request", "search by", "search", "request", "ratio"), rows)
    for found in results.part("searches") or ():
        yield f"\n### Searches in the shim, {found['products']:,} products\n"
        yield f"{len(found['ms'])} queries, p50 {number(found['p50 ms'])} ms, p99 {number(found['p99 ms'])} ms.\n"
        slowest = sorted(found["ms"].items(), key=lambda item: -item[1])[:3]
        yield from table(("slowest", "ms"), [[f"`{target}`", number(ms)] for target, ms in slowest])


def _commands(results: Results) -> Iterator[str]:
    if not (commands := results.part("commands")):
        return
    yield "\n## Commands\n"
    fields = ("wall", "cpu", "peak_mb")
    rows = [[name, *(_median([run[field] for run in runs]) for field in fields)] for name, runs in commands.items()]
    yield from table(("command", "wall s", "CPU s", "peak MB"), rows)


def _median(values: list[float]) -> str:
    figure = spread(values)
    return number(figure.median) + _range(figure)


def _generation(results: Results) -> Iterator[str]:
    generation = results.raw.get("generation")
    if not generation:
        return
    yield "\n## Generation\n"
    rows = []
    for name in generation["runs"]:
        rows.append([name, *(_median(results.runs(name, field)) for field in ("wall", "cpu", "peak_mb"))])
    yield from table(("build", "wall s", "CPU s", "peak MB"), rows)
    yield "\nThe build of the year, and its documents as JSON (bytes):\n"
    sizes = generation["bytes"]
    yield from table(list(sizes), [[f"{value:,.0f}" if value > 1000 else number(value) for value in sizes.values()]])


def _plots(results: Results) -> dict[str, str]:
    drawn = {}
    groups = []
    for case in (case for case in _PLOTTED if case in results.cases()):
        some = [
            (server, spread(results.series(case, server)))
            for server, kind in results.servers(case)
            if kind == "identity"
        ]
        groups.append((case, some))
    if groups:
        drawn["requests"] = bars("Requests per second, one core", "requests/s", groups)
    runs = results.raw.get("generation", {}).get("runs", {})
    if runs:
        drawn["builds"] = bars(
            "CPU seconds of builds", "s", [("", [(n, spread(results.runs(n, "cpu"))) for n in runs])]
        )
    return drawn
