"""`cardpress gates`: list what a night judges a build by."""

import textwrap

import click

from generator.commands.options import json_option
from generator.compare.gates import gates as all_gates
from generator.terminal import say, say_json, say_lines


@click.command()
@json_option
def gates(as_json: bool) -> None:
    """List the gates of a night: what each measures, and the greatest value that passes.

    A remark stops nothing; the report of the night and its notices have it.

    \b
    Example: cardpress gates
    """
    if as_json:
        say_json([gate._asdict() for gate in all_gates()])
        return
    for gate in all_gates():
        kind = "gate" if gate.stops else "remark"
        say(f"{gate.name} ({kind}, up to {gate.threshold:g})")
        say_lines(textwrap.wrap(gate.measures, 100, initial_indent="    ", subsequent_indent="    "))
