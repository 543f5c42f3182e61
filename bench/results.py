"""The raw results of a run, and the figures that goals and tables are made of."""

from dataclasses import dataclass, replace
from statistics import median

from bench.peers.datasette import Datasette
from bench.peers.fastapi_postgres import FastapiPostgres
from bench.peers.flask_duckdb import FlaskDuckdb
from bench.peers.flask_sqlite import FlaskSqlite, FlaskSqliteTrigram
from bench.peers.ours import Ours
from bench.stats import Spread, ratios, spread

OURS = Ours.name
# The plain way of writing it in SQLite is shown beside them, but the best of peers must be written as experts do.
RIVALS = tuple(peer.name for peer in (FlaskSqlite, FlaskSqliteTrigram, FastapiPostgres, FlaskDuckdb, Datasette))


@dataclass(frozen=True)
class Figure:
    """A figure with its spread.

    Attributes:
        of: what it is of, where that is not fixed: the best peer, the worst query.
        by_cpu: of a ratio of rates, the ratio by CPU time per request, which other work on the machine disturbs less.
    """

    spread: Spread
    of: str = ""
    by_cpu: float | None = None


class Results:
    """A run's results by name.

    Args:
        raw: what the run wrote: `serving` (a list of Measured as dicts), `steady`, `memory`, `cold`, `searches` and
            `generation`, of which any may be absent.
    """

    def __init__(self, raw: dict):
        self.raw = raw
        self._series: dict[tuple[str, str, str], list[dict]] = {}
        for measured in raw.get("serving", []):
            key = measured["case"], measured["server"], measured["encoding"]
            self._series.setdefault(key, []).append(measured)

    def cases(self) -> list[str]:
        """Names of the cases, in the order of the run."""
        return list(dict.fromkeys(case for case, _, _ in self._series))

    def servers(self, case: str) -> list[tuple[str, str]]:
        """Server and encoding of each series of a case."""
        return [(server, encoding) for name, server, encoding in self._series if name == case]

    def series(self, case: str, server: str, encoding: str = "identity", field: str = "rate") -> list[float]:
        """A field of a case's measurements, by round; empty where there are none."""
        return [measured[field] for measured in self._series.get((case, server, encoding), [])]

    def ratio(self, above: tuple[str, ...], below: tuple[str, ...]) -> Figure | None:
        """Ratio of two series' rates, each named as for `series`."""
        one, other = self.series(*above), self.series(*below)
        if not one or not other:
            return None
        cpu = [
            median(self.series(case, server, *encoding, field="cpu_us")) for case, server, *encoding in (below, above)
        ]
        return Figure(ratios(one, other), by_cpu=cpu[0] / cpu[1] if cpu[1] else None)

    def best_rival(self, case: str, encoding: str) -> str | None:
        """The peer that answers a case fastest."""
        rates = {name: median(rates) for name in RIVALS if (rates := self.series(case, name, encoding))}
        return max(rates, key=rates.__getitem__) if rates else None

    def over_rival(self, case: str, encoding: str) -> Figure | None:
        """Our rate over the best peer's in the same encoding."""
        rival = self.best_rival(case, encoding)
        found = self.ratio((case, OURS, encoding), (case, rival, encoding)) if rival else None
        return replace(found, of=f"÷ {rival}") if found else None

    def runs(self, name: str, field: str) -> list[float]:
        """A field of the runs of a build, by round; empty where there are none."""
        return [run[field] for run in self.raw.get("generation", {}).get("runs", {}).get(name, [])]

    def runs_ratio(self, above: str, below: str, field: str) -> Figure | None:
        """Ratio of a field of two builds."""
        one, other = self.runs(above, field), self.runs(below, field)
        if not one or not other:
            return None
        paired = min(len(one), len(other))
        return Figure(ratios(one[-paired:], other[-paired:]))

    def part(self, name: str) -> dict | list | None:
        """A part of the raw results, or None."""
        return self.raw.get(name)


def single(value: float, of: str = "") -> Figure:
    """A figure that was measured once."""
    return Figure(spread([value]), of)
