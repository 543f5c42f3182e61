"""Progress of long work: a bar on a terminal, a plain line per step elsewhere, always on standard error."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import click


class Bar(Protocol):
    """What counts steps."""

    def update(self, n_steps: int) -> None: ...


class Progress:
    """Says what is being done. `quiet` says nothing; `prefix` stands before each line."""

    def __init__(self, quiet: bool = False, prefix: str = ""):
        self.quiet = quiet
        self.prefix = prefix
        self._stored = 0

    def stored(self, size: int) -> None:
        """Count bytes that are in the store now; bars say how many there are."""
        self._stored += size

    def say(self, line: str) -> None:
        """One plain line."""
        if not self.quiet:
            click.echo(self.prefix + line, err=True)

    @contextmanager
    def bar(self, label: str, length: int) -> Iterator[Bar]:
        """A bar of about `length` steps, none where that is 0; off a terminal one line when the work is done."""
        shown = bool(length) and not self.quiet and sys.stderr.isatty()
        with click.progressbar(
            length=length,
            label=f"{label:<14}",
            file=sys.stderr,
            hidden=not shown,
            item_show_func=lambda _: f"{self._stored / 1e6:,.1f} MB stored" if self._stored else None,
        ) as bar:
            yield bar
        if length and not shown:
            self.say(f"{label}: {bar.pos:,} done")
