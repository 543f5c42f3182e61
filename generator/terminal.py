"""Prints the output and the progress of the commands. Texts of the data must not control the operator's terminal.

Control characters, escape sequences, line breaks inside a text and characters that change the direction of writing are
escaped. Names, slugs and sellers come from a marketplace, so anyone may have written them.

Progress goes to standard error: a bar on a terminal, a plain line per step elsewhere.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import click

from generator.errors import GeneratorError

_MANY_STEPS = 1000
_NOT_PLAIN = re.compile(r"[^\x20-\x7e]")


def say(line: object = "", *, err: bool = False) -> None:
    """Print one line on standard output, or on standard error."""
    click.echo(printable(str(line)), err=err)


def say_lines(lines: Iterable[object]) -> None:
    for line in lines:
        say(line)


def say_result(as_json: bool, value: Any, lines: Iterable[object]) -> None:
    """Print the result of a command: a value as JSON, or else lines of text."""
    if as_json:
        say_json(value)
    else:
        say_lines(lines)


def say_json(value: Any, *, err: bool = False) -> None:
    """Print a value as JSON. A character that cannot be printed becomes a JSON escape."""
    click.echo(clean_json(json.dumps(value, ensure_ascii=False, default=str)), err=err)


def clean_json(text: str) -> str:
    """Return lines of JSON with a JSON escape in place of each character that cannot be printed."""
    return "\n".join(_escaped(line, _json_escape) for line in text.split("\n"))


def printable(text: str) -> str:
    """Return a text with an escape such as `\\x1b` in place of each character that cannot be printed."""
    return _escaped(text, lambda character: character.encode("unicode_escape").decode())


def aligned(rows: Sequence[Sequence[str]], right: Callable[[int, str], bool] = lambda at, cell: False) -> Iterator[str]:
    """Yield the lines of a table; `right` says by the place and the text of a cell whether it is aligned right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{'>' if right(at, cell) else '<'}{widths[at]}}" for at, cell in enumerate(row))
        yield "  ".join(cells).rstrip()


class ProgressBar(Protocol):
    """A counter of steps."""

    def update(self, n_steps: int) -> None: ...


class Progress:
    """Prints progress. With `quiet` it prints nothing; `prefix` begins each line."""

    def __init__(self, quiet: bool = False, prefix: str = ""):
        self.quiet, self.prefix = quiet, prefix
        self._stored_bytes = 0

    def add_stored_bytes(self, size: int) -> None:
        """Count bytes that were written to the store. The bars show the sum."""
        self._stored_bytes += size

    def say(self, line: str) -> None:
        """Print one line. Raise GeneratorError if standard error, perhaps a log on a full disk, takes none."""
        if self.quiet:
            return
        try:
            say(self.prefix + line, err=True)
        except OSError as error:
            raise GeneratorError(f"standard error takes no line ({error.strerror}): see to the log's disk") from error

    @contextmanager
    def bar(self, label: str, length: int) -> Iterator[ProgressBar]:
        """Show a bar of about `length` steps, none if that is 0. Off a terminal, print one line at the end."""
        shown = bool(length) and not self.quiet and sys.stderr.isatty()
        with click.progressbar(
            range(length),
            label=f"{label:<14}",
            file=sys.stderr,
            hidden=not shown,
            item_show_func=lambda _: f"{self._stored_bytes / 1e6:,.1f} MB stored" if self._stored_bytes else None,
        ) as bar:
            yield bar
        if length and not shown:
            self.say(f"{label}: {bar.pos:,} done")

    def bar_if_long(self, label: str, length: int) -> AbstractContextManager[ProgressBar]:
        """Show a bar as `bar` does, but only of many steps."""
        return self.bar(label, length if length >= _MANY_STEPS else 0)


def _escaped(text: str, escape: Any) -> str:
    if text.isprintable():
        return text
    return _NOT_PLAIN.sub(lambda found: found[0] if found[0].isprintable() else escape(found[0]), text)


def _json_escape(character: str) -> str:
    return json.dumps(character)[1:-1]
