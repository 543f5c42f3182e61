"""A night in the text format of Prometheus, for the textfile collector of its node exporter."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from generator.clock import moment
from generator.releases.run_reports import RunReport

_Sample = tuple[dict[str, str], float]
_HELP = {
    "run_timestamp_seconds": "When the last nightly run ended.",
    "success": "Whether the last nightly run did what it should: published, or found nothing new.",
    "last_success_timestamp_seconds": "When a nightly run last did what it should.",
    "outcome": "How the last nightly run ended.",
    "step_seconds": "How long each step of the last nightly run took.",
    "layer_seconds": "How long each layer took that the last nightly run made.",
    "gate_value": "What each gate measured in the last nightly run.",
    "gate_threshold": "The greatest value that passes each gate.",
    "gate_breached": "Whether the gate was breached.",
    "build_as_of_timestamp_seconds": "The as-of day of the build that the last nightly run made.",
    "build_objects": "Objects of that build by layer.",
    "build_bytes": "Bytes of that build by layer.",
    "pruned_bytes": "Bytes that the last nightly run deleted.",
}


def write_textfile(path: Path, report: RunReport) -> None:
    """Put the metrics of a run in place whole. Raises OSError where that is not possible."""
    text = "".join(_lines(report, _last_success(path)))
    handle, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)  # a name that the collector does not read
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _last_success(path: Path) -> float | None:
    """What the file that is there says, for a run that failed."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return float(next(x for x in lines if x.startswith("cardpress_nightly_last_success")).split()[-1])
    except (OSError, ValueError, StopIteration):
        return None


def _lines(report: RunReport, last_success: float | None) -> Iterator[str]:
    for name, samples in _samples(report, last_success).items():
        if samples:
            yield f"# HELP cardpress_nightly_{name} {_HELP[name]}\n# TYPE cardpress_nightly_{name} gauge\n"
        for labels, value in samples:
            inside = ",".join(f'{label}="{text}"' for label, text in labels.items())
            yield f"cardpress_nightly_{name}{'{' + inside + '}' if inside else ''} {value:.15g}\n"


def _samples(report: RunReport, last_success: float | None) -> dict[str, list[_Sample]]:
    ended = moment(report.finished).timestamp() if report.finished else 0.0
    success = ended if report.done else last_success
    as_of = report.record.get("as_of")
    day = [({}, datetime.fromisoformat(as_of).replace(tzinfo=UTC).timestamp())] if as_of else []
    verdicts = report.judgement.get("verdicts", [])
    return {
        "run_timestamp_seconds": [({}, ended)],
        "success": [({}, float(report.done))],
        "last_success_timestamp_seconds": [({}, success)] if success is not None else [],
        "outcome": [({"outcome": report.outcome}, 1.0)],
        "step_seconds": _by("step", report.seconds.items()),
        "layer_seconds": _by("layer", report.layer_seconds.items()),
        "gate_value": _by("gate", ((verdict["gate"], verdict["value"]) for verdict in verdicts)),
        "gate_threshold": _by("gate", ((verdict["gate"], verdict["threshold"]) for verdict in verdicts)),
        "gate_breached": _by("gate", ((verdict["gate"], verdict["breached"]) for verdict in verdicts)),
        "build_as_of_timestamp_seconds": day,
        "build_objects": _by("layer", report.record.get("objects", {}).items()),
        "build_bytes": _by("layer", report.record.get("bytes", {}).items()),
        "pruned_bytes": [({}, float(report.pruned.get("bytes", 0)))],
    }


def _by(label: str, values: Iterable[tuple[str, float]]) -> list[_Sample]:
    return [({label: name}, float(value)) for name, value in values]
