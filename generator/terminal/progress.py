"""Shows the progress of long work on standard error: a bar on a terminal, a plain line per step elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import click

from generator.terminal.output import say


class ProgressBar(Protocol):
    """A counter of steps."""

    def update(self, n_steps: int) -> None:
        """Count more steps as completed."""


class Progress:
    """Prints progress. With `quiet` it prints nothing; `prefix` begins each line."""

    def __init__(self, quiet: bool = False, prefix: str = ""):
        self.quiet = quiet
        self.prefix = prefix
        self._stored_bytes = 0

    def add_stored_bytes(self, size: int) -> None:
        """Count bytes that were written to the store. The bars show the sum."""
        self._stored_bytes += size

    def say(self, line: str) -> None:
        """Print one line."""
        if not self.quiet:
            say(self.prefix + line, err=True)

    @contextmanager
    def bar(self, label: str, length: int) -> Iterator[ProgressBar]:
        """Show a bar of about `length` steps, none if that is 0. Off a terminal, print one line at the end."""
        shown = bool(length) and not self.quiet and sys.stderr.isatty()
        with click.progressbar(
            range(length),
            label=f"{label:<14}",
            file=sys.stderr,
            hidden=not shown,
            item_show_func=lambda _: self._stored_text(),
        ) as bar:
            yield bar
        if length and not shown:
            self.say(f"{label}: {bar.pos:,} done")

    def _stored_text(self) -> str | None:
        return f"{self._stored_bytes / 1e6:,.1f} MB stored" if self._stored_bytes else None
