"""Writes the metrics of a run in the text format of Prometheus, for the textfile collector of its node exporter."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from edge_auth.store.disk import replace_file
from generator.clock import parse_timestamp
from generator.compare.judgements import LATE, NOT_JUDGED
from generator.compare.run_reports import RunReport
from generator.making.game_coverage import NO_GAME

_Sample = tuple[dict[str, str], float]
_HELP = {
    "run_timestamp_seconds": "Time at which the last nightly run ended.",
    "success": "Whether the last nightly run succeeded: it published its build, or found nothing new.",
    "last_success_timestamp_seconds": "Time at which a nightly run last succeeded.",
    "outcome": "Outcome of the last nightly run.",
    "failed_step": "The step in which the last nightly run failed.",
    "data_timestamp_seconds": "The newest day of the price guide in the live build.",
    "data_advanced": "Whether the last nightly run made that day later.",
    "step_seconds": "Duration of each step of the last nightly run.",
    "layer_seconds": "Duration of each layer that the last nightly run made.",
    "gate_value": "Value that each gate measured in the last nightly run.",
    "gate_threshold": "The greatest value that passes each gate.",
    "gate_breached": "Whether the gate was breached, and not forced.",
    "build_as_of_timestamp_seconds": "The as-of day of the build that the last nightly run made.",
    "build_objects": "Objects of that build by layer.",
    "build_bytes": "Bytes of that build by layer.",
    "damaged_layers": "Layers that were damaged in the store, and that the last nightly run made again.",
    "quarantined_files": "Day files of the lake that wait in quarantine, left out of builds.",
    "quarantined_file": "Each of them.",
    "late_sources": "Sources, each a table and a game, that are late or thin in the build of the last nightly run.",
    "reread_bytes": "Bytes of layers that the store had, and that the last nightly run read again.",
    "game_guide_timestamp_seconds": "The day that half of the game's rows in the price guide reach, in the live build.",
    "game_products": "Products of the game in the live build.",
    "game_guide_rows": "Products of the game with a row in the price guide.",
    "game_prices": "Products of the game with a price in a column of the price guide.",
    "pruned_bytes": "Bytes that the last nightly run deleted.",
}


def write_textfile(path: Path, report: RunReport) -> None:
    """Write the metrics of a run, replacing the file at once."""
    text = "".join(_lines(report, _last_success(path)))
    replace_file(path, [text.encode()], mode=0o644)  # the collector ignores names without .prom, as the temporary one


def _last_success(path: Path) -> float | None:
    """Return the last success in the existing file, for a run that failed."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return float(next(line for line in lines if line.startswith("cardpress_nightly_last_success")).split()[-1])
    except (OSError, ValueError, StopIteration):
        return None


def _lines(report: RunReport, last_success: float | None) -> Iterator[str]:
    for name, samples in _samples(report, last_success).items():
        if samples:
            yield f"# HELP cardpress_nightly_{name} {_HELP[name]}\n# TYPE cardpress_nightly_{name} gauge\n"
        for labels, value in samples:
            inside = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
            yield f"cardpress_nightly_{name}{'{' + inside + '}' if inside else ''} {value:.15g}\n"


def _escaped(text: str) -> str:
    """Return a text as a label's value. Games come from a marketplace, so their names may hold anything."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _samples(report: RunReport, last_success: float | None) -> dict[str, list[_Sample]]:
    ended = parse_timestamp(report.finished).timestamp() if report.finished else 0.0
    success = ended if report.succeeded else last_success
    judgement = report.judgement or NOT_JUDGED
    verdicts, remarks = judgement.verdicts, judgement.remarks
    return {
        "run_timestamp_seconds": [({}, ended)],
        "success": [({}, float(report.succeeded))],
        "last_success_timestamp_seconds": _optional(success),
        "outcome": [({"outcome": report.outcome}, 1.0)],
        "failed_step": [({"step": report.failed_step}, 1.0)] if report.failed_step else [],
        "data_timestamp_seconds": _optional(_day_seconds(report.data_day)),
        "data_advanced": [({}, float(report.advanced))],
        "step_seconds": _by_label("step", report.seconds.items()),
        "layer_seconds": _by_label("layer", report.layer_seconds.items()),
        "gate_value": _by_label("gate", ((verdict.gate, verdict.value) for verdict in verdicts)),
        "gate_threshold": _by_label("gate", ((verdict.gate, verdict.threshold) for verdict in verdicts)),
        "gate_breached": _by_label("gate", ((verdict.gate, verdict.stops) for verdict in verdicts)),
        "build_as_of_timestamp_seconds": _optional(_day_seconds(report.record.get("as_of"))),
        "build_objects": _by_label("layer", report.record.get("objects", {}).items()),
        "build_bytes": _by_label("layer", report.record.get("bytes", {}).items()),
        "damaged_layers": [({}, float(len(report.damaged)))],
        "quarantined_files": [({}, float(len(report.quarantine)))],
        "quarantined_file": [
            ({name: file[name] for name in ("table", "day", "sha256")}, 1.0) for file in report.quarantine
        ],
        "late_sources": [({}, sum(remark.value for remark in remarks if remark.gate == LATE))],
        "reread_bytes": [({}, float(report.reread_bytes))],
        **_game_samples(report.games),
        "pruned_bytes": [({}, float(report.pruned.get("bytes", 0)))],
    }


def _game_samples(games: list[dict[str, Any]]) -> dict[str, list[_Sample]]:
    games = [game | {"game": game["game"] or NO_GAME} for game in games]  # an empty label counts as none
    days = ((game["game"], _day_seconds(game["usual"])) for game in games)
    return {
        "game_guide_timestamp_seconds": [({"game": game}, time) for game, time in days if time is not None],
        "game_products": _by_label("game", ((game["game"], game["products"]) for game in games)),
        "game_guide_rows": _by_label("game", ((game["game"], game["rows"]) for game in games)),
        "game_prices": [
            ({"game": game["game"], "column": column}, float(prices))
            for game in games
            for column, prices in game["prices"].items()
        ],
    }


def _day_seconds(day: str | None) -> float | None:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() if day else None


def _optional(value: float | None) -> list[_Sample]:
    return [] if value is None else [({}, value)]


def _by_label(label: str, values: Iterable[tuple[str, float]]) -> list[_Sample]:
    return [({label: name}, float(value)) for name, value in values]
