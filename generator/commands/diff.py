"""`cardpress diff`: the differences between two builds, in objects and in values."""

import sys
from collections.abc import Callable, Iterator

import click

from edge_auth.store.open import open_store
from generator.commands.options import BuildName, named_build, resources_options, store_option
from generator.compare.comparison import compare
from generator.compare.diff import Diff
from generator.reading.diff.json_document import as_json
from generator.reading.diff.report import as_html, as_text, make_report
from generator.terminal import Progress, clean, clean_json
from generator.threads import Resources

_FORMATS: dict[str, Callable[[Diff, int], Iterator[str]]] = {
    "text": lambda diff, top: (clean(line) + "\n" for line in as_text(make_report(diff, top))),
    "json": lambda diff, top: map(clean_json, as_json(diff)),
    "html": lambda diff, top: iter([as_html(make_report(diff, top))]),
}


@click.command()
@click.argument("old", type=BuildName())
@click.argument("new", type=BuildName())
@store_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(_FORMATS)),
    default="text",
    help="text for a terminal, json with all changes, html for one page.",
)
@click.option("--json", "format_", flag_value="json", help="The same as --format json.")
@click.option("--top", type=click.IntRange(1), default=20, help="Rows of each list; json has all rows.")
@resources_options
def diff(old: str, new: str, store: str, format_: str, top: int, resources: Resources) -> None:
    """Show what differs between two builds, in objects and values.

    OLD and NEW are ids of builds, or `live` or `previous`. The exit status is 0 whether they differ or not.

    \b
    Example: cardpress diff previous live --store site_out --format html > diff.html
    """
    opened = open_store(store)
    before, after = named_build(opened, old), named_build(opened, new)
    with compare(before, after, resources) as comparison:
        for piece in _FORMATS[format_](Diff(comparison, Progress()), top):
            sys.stdout.buffer.write(piece.encode())
    sys.stdout.buffer.flush()
