"""The raw results of a run, and the figures in goals and tables."""

from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from bench.peers.flask_sqlite import FlaskSqlite, FlaskSqliteTrigram
from bench.peers.ours import Ours
from bench.stats import Spread, ratios, spread

OURS = Ours.name
RIVALS = tuple(peer.name for peer in (FlaskSqlite, FlaskSqliteTrigram))


SeriesName = tuple[str, str] | tuple[str, str, str]


@dataclass(frozen=True)
class Figure:
    """A figure with its spread.

    Attributes:
        of: What was measured, if the goal does not fix it: the best peer, the slowest query.
        by_cpu: For a ratio of rates, the ratio by CPU time per request, which other work on the machine disturbs less.
    """

    spread: Spread
    of: str = ""
    by_cpu: Spread | None = None


class Results:
    """The results of a run by name.

    Args:
        raw: The JSON that the run wrote: `serving` (a list of Measurement as dicts), `steady`, `memory`, `cold`,
            `searches`, `switch`, `commands` and `generation`. Any of these may be absent.
    """

    def __init__(self, raw: dict[str, Any]):
        self.raw = raw
        self._series: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for measured in raw.get("serving", []):
            key = measured["case"], measured["server"], measured["encoding"]
            self._series.setdefault(key, []).append(measured)

    def cases(self) -> list[str]:
        """Return the names of the cases, in the order of the run."""
        return list(dict.fromkeys(case for case, _, _ in self._series))

    def servers(self, case: str) -> list[tuple[str, str]]:
        """Return server and encoding of each series of a case."""
        return [(server, encoding) for name, server, encoding in self._series if name == case]

    def series(self, case: str, server: str, encoding: str = "identity", field: str = "rate") -> list[float]:
        """Return a field of a case's measurements, by turn; empty if there are none."""
        return [measured[field] for measured in self._series.get((case, server, encoding), [])]

    def ratio(self, above: SeriesName, below: SeriesName) -> Figure | None:
        """Return the ratio of two series' rates, each named by case, server and, unless it is identity, encoding."""
        one, other = self._field(above, "rate"), self._field(below, "rate")
        if not one or not other:
            return None
        return Figure(ratios(one, other), by_cpu=ratios(self._field(below, "cpu_us"), self._field(above, "cpu_us")))

    def _field(self, name: SeriesName, field: str) -> list[float]:
        case, server, *encoding = name
        return self.series(case, server, encoding[0] if encoding else "identity", field)

    def best_rival(self, case: str, encoding: str) -> str | None:
        """Return the peer that answers a case fastest."""
        rates = {name: median(rates) for name in RIVALS if (rates := self.series(case, name, encoding))}
        return max(rates, key=rates.__getitem__) if rates else None

    def over_rival(self, case: str, encoding: str) -> Figure | None:
        """Return the ratio of our rate to that of the best peer, in the same encoding."""
        rival = self.best_rival(case, encoding)
        found = self.ratio((case, OURS, encoding), (case, rival, encoding)) if rival else None
        return replace(found, of=f"÷ {rival}") if found else None

    def runs(self, name: str, field: str) -> list[float]:
        """Return a field of the runs of a build, by round; empty if there are none."""
        return [run[field] for run in self.raw.get("generation", {}).get("runs", {}).get(name, [])]

    def runs_ratio(self, above: str, below: str, field: str) -> Figure | None:
        """Return the ratio of a field of two builds."""
        one, other = self.runs(above, field), self.runs(below, field)
        if not one or not other:
            return None
        paired = min(len(one), len(other))
        return Figure(ratios(one[-paired:], other[-paired:]))

    def part(self, name: str) -> Any:
        """Return a part of the raw results, or None."""
        return self.raw.get(name)


def single(value: float, of: str = "") -> Figure:
    """Return a figure that was measured once."""
    return Figure(spread([value]), of)
