"""The gates and remarks of a night, with their default thresholds and what they measure, as their SQL files say it."""

from collections.abc import Iterator
from typing import NamedTuple

from generator import settings
from generator.database import sql_text


class Gate(NamedTuple):
    """A gate, or a remark, which stops nothing.

    Attributes:
        threshold: The greatest value that passes by default.
        stops: Whether a greater value stops the night.
        measures: What its value is, in sentences.
    """

    name: str
    threshold: float
    stops: bool
    measures: str


def gates() -> Iterator[Gate]:
    """Yield the gates, then the remarks."""
    for folder, limits, stops in (("gates", settings.GATES, True), ("remarks", settings.REMARKS, False)):
        for name, threshold in limits.items():
            yield Gate(name, threshold, stops, _header(sql_text(f"checks/{folder}/{name}")))


def _header(sql: str) -> str:
    """Return the comment at the head of an SQL file as one line."""
    lines = []
    for line in sql.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return " ".join(lines)
