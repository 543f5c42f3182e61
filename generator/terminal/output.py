"""Prints the output of the commands. Texts of the data must not control the terminal of the operator.

Control characters, escape sequences, line breaks inside a text and characters that change the direction of writing are
escaped. Names, slugs and sellers come from a marketplace, so anyone may have written them.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

import click

_NOT_PLAIN = re.compile(r"[^\x20-\x7e]")


def say(line: object = "", *, err: bool = False) -> None:
    """Print one line on standard output, or on standard error."""
    click.echo(clean(str(line)), err=err)


def say_lines(lines: Iterable[object]) -> None:
    """Print lines on standard output. No lines print nothing."""
    for line in lines:
        say(line)


def say_json(value: Any, *, indent: int | None = None, err: bool = False) -> None:
    """Print a value as JSON. A character that cannot be printed becomes a JSON escape."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    click.echo(clean_json(text), err=err)


def clean_json(text: str) -> str:
    """Return lines of JSON with a JSON escape in place of each character that cannot be printed."""
    return "\n".join(_escaped(line, _json_escape) for line in text.split("\n"))


def clean(text: str) -> str:
    """Return a text with an escape such as `\\x1b` in place of each character that cannot be printed."""
    return _escaped(text, lambda character: character.encode("unicode_escape").decode())


def _escaped(text: str, escape: Any) -> str:
    if text.isprintable():
        return text
    return _NOT_PLAIN.sub(lambda found: found[0] if found[0].isprintable() else escape(found[0]), text)


def _json_escape(character: str) -> str:
    return json.dumps(character)[1:-1]
