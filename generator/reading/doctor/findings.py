"""The result of a check: ok, or a problem with advice."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edge_auth.errors import EdgeError
from generator.errors import GeneratorError

OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(frozen=True)
class Finding:
    """The result of one check. `advice`: what to do next, for a warning or a problem."""

    check: str
    level: str
    message: str
    advice: str = ""

    def line(self) -> str:
        """Return the finding as one line of text."""
        return f"{self.level:<8} {self.check:<10} {self.message}{f': {self.advice}' if self.advice else ''}"


def ok(check: str, message: str) -> Finding:
    """Return a finding without any problem."""
    return Finding(check, OK, message)


def warning(check: str, message: str, advice: str) -> Finding:
    """Return a finding that needs attention soon."""
    return Finding(check, WARNING, message, advice)


def problem(check: str, message: str, advice: str) -> Finding:
    """Return a finding that must be fixed."""
    return Finding(check, PROBLEM, message, advice)


def guarded(check: str, findings: Iterable[Finding], advice: str) -> Iterator[Finding]:
    """Yield the findings of a check. If the check fails, yield its error as a problem."""
    try:
        yield from findings
    except (GeneratorError, EdgeError, OSError, ValueError) as error:
        yield problem(check, str(error), advice)
