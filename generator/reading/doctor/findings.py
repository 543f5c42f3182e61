"""The result of a check: ok, or a problem with advice."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edge_auth.errors import EdgeError
from edge_auth.store.remedies import cause_of, remedy_of
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
    """Yield the findings of a check. If the check fails, yield its error as a problem.

    A code of the operating system or of an S3 server has a remedy of its own, or else its text, in place of `advice`.
    """
    try:
        yield from findings
    except (GeneratorError, EdgeError, OSError, ValueError) as error:
        message, cause, remedy = str(error), cause_of(error), remedy_of(error)
        if cause:
            advice = remedy or (f"{cause.code}, {cause.text}" if cause.text else cause.code)
        yield problem(check, message.removesuffix(f": {advice}"), advice)
