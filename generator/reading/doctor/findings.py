"""What a check says: that all is well, or what is wrong and what to do about it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edge_auth.errors import EdgeError
from generator.errors import GeneratorError

OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(frozen=True)
class Finding:
    """One line: what was looked at, how it is, and for a warning or a problem what to do next."""

    check: str
    level: str
    message: str
    advice: str = ""

    def line(self) -> str:
        return f"{self.level:<8} {self.check:<10} {self.message}{f': {self.advice}' if self.advice else ''}"


def ok(check: str, message: str) -> Finding:
    return Finding(check, OK, message)


def warning(check: str, message: str, advice: str) -> Finding:
    return Finding(check, WARNING, message, advice)


def problem(check: str, message: str, advice: str) -> Finding:
    return Finding(check, PROBLEM, message, advice)


def guarded(check: str, findings: Iterable[Finding], advice: str) -> Iterator[Finding]:
    """The findings of a check; where it fails, what failed, as one more."""
    try:
        yield from findings
    except (GeneratorError, EdgeError, OSError, ValueError) as error:
        yield problem(check, str(error), advice)
