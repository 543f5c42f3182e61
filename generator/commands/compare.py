"""`cardpress report`, `diff` and `gates`: what a build holds, what differs between two, and what a night judges by."""

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from generator.clock import utc_now
from generator.commands.options import FILE, BuildName, json_option, named_build, resources_options, store_option
from generator.compare.comparison import compare
from generator.compare.diff import Diff
from generator.compare.documents import DocumentChanges, ExportedTree, of_trees
from generator.compare.gates import gates as all_gates
from generator.compare.run_reports import DIFF_PAGE
from generator.errors import GeneratorError
from generator.reading.diff_pages import as_html, as_json, as_text, trees_as_json, trees_as_text
from generator.reading.overview import LIVE, PREVIOUS
from generator.reading.report import pages_of
from generator.storage.builds import Build
from generator.storage.errors import StorageError
from generator.storage.stores.open import is_folder, open_store
from generator.terminal import Progress, clean_json, printable, say, say_result
from generator.threads import Resources
from generator.tree.export import ReadAhead


@click.command()
@click.argument("build", required=False, type=BuildName())
@store_option
@click.option("--out", type=FILE, metavar="FILE", help="Write there.  [default: print it]")
@click.option(
    "--against", type=BuildName(), metavar="BUILD",
    help=f"Also write {DIFF_PAGE} beside FILE: what changed since that build. The pages link to each other.",
)  # fmt: skip
@resources_options
def report(build: str | None, store: str, out: Path | None, against: str | None, resources: Resources) -> None:
    """Report on a build as one HTML page.

    Freshness, counts by game and kind, coverage and distribution of prices, gates, the slowest layers.
    BUILD is an id, `live` or `previous`; the default is the live build. `nightly` writes such a page for each build
    that it makes, and a page of what the build changed.

    \b
    Example: cardpress report --store site_out --out report.html --against previous
    """
    if against and not out:
        raise click.UsageError("--against writes a second page beside the first: choose its folder with --out FILE")
    opened = open_store(store)
    older = named_build(opened, against) if against else None
    name = out.name if out else ""
    for file, data in pages_of(named_build(opened, build), older, utc_now, resources, Progress(), name=name).items():
        if out:
            out.with_name(file).write_bytes(data)
            say(out.with_name(file))
        else:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


_FORMATS: dict[str, Callable[[Diff, int], Iterator[str]]] = {
    "text": lambda diff, top: (printable(line) + "\n" for line in as_text(diff, top)),
    "json": lambda diff, top: map(clean_json, as_json(diff)),
    "html": lambda diff, top: iter([as_html(diff, top)]),
}
_TREE_FORMATS: dict[str, Callable[[ExportedTree, ExportedTree, DocumentChanges, int], Iterator[str]]] = {
    "text": lambda *trees: (printable(line) + "\n" for line in trees_as_text(*trees)),
    "json": lambda *trees: map(clean_json, trees_as_json(*trees[:3])),
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
@click.option("--exit-code", is_flag=True, help="Exit with 1 if they differ, and with 2 if they cannot be compared.")
@resources_options
def diff(old: str, new: str, store: str, format_: str, top: int, exit_code: bool, resources: Resources) -> None:
    """Show what differs between two builds, in objects and values.

    OLD and NEW are ids of builds, `live` or `previous`, or STORE@BUILD for one of another store. Or both are trees that
    `export` wrote. The exit status is 0 whether they differ or not, unless you give --exit-code.

    \b
    Example: cardpress diff previous live --store site_out --format html > diff.html
    """
    try:
        differ = _write_diff(_side(old, store), _side(new, store), format_, top, resources)
        sys.stdout.buffer.flush()
    except (GeneratorError, StorageError, OSError) as error:
        vars(error)["exit_status"] = 2 if exit_code else 1  # 1 means that they differ
        raise
    if exit_code and differ:
        sys.exit(1)


def _side(name: str, store: str) -> Build | ExportedTree:
    """Return what an argument of `diff` names."""
    if name not in (LIVE, PREVIOUS):
        if Path(name).is_dir():
            return ExportedTree(name)
        location, _, build = name.rpartition("@")
        if location and "/" not in build:
            return named_build(ReadAhead(open_store(location)), build)
        if not is_folder(name):
            return ExportedTree(name)
    return named_build(ReadAhead(open_store(store)), name)


def _write_diff(
    old: Build | ExportedTree, new: Build | ExportedTree, format_: str, top: int, resources: Resources
) -> bool:
    """Print what differs, and return whether anything does."""
    if isinstance(old, Build) and isinstance(new, Build):
        with compare(old, new, resources) as comparison:
            found = Diff(comparison, Progress())
            _write_pieces(_FORMATS[format_](found, top))
            return found.differs()
    if isinstance(old, Build) or isinstance(new, Build):
        raise click.UsageError("a tree is compared with a tree: `cardpress export TREE` writes one of a build")
    if format_ == "html":
        raise click.UsageError("trees are compared as text or json")
    changes = of_trees(old, new, Progress())
    _write_pieces(_TREE_FORMATS[format_](old, new, changes, top))
    return bool(changes.changes)


def _write_pieces(pieces: Iterator[str]) -> None:
    for piece in pieces:
        sys.stdout.buffer.write(piece.encode())


@click.command()
@json_option
def gates(as_json: bool) -> None:
    """List the gates of a night: what each measures, and the greatest value that passes.

    A remark stops nothing; the report of the night and its notices have it.

    \b
    Example: cardpress gates
    """
    lines = []
    for gate in all_gates():
        lines.append(f"{gate.name} ({'gate' if gate.stops else 'remark'}, up to {gate.threshold:g})")
        lines += textwrap.wrap(gate.measures, 100, initial_indent="    ", subsequent_indent="    ")
    say_result(as_json, [gate._asdict() for gate in all_gates()], lines)
