"""`cardpress report`: how fresh and how complete a build is, as one page."""

import sys
from pathlib import Path

import click

from edge_auth.contract.store.open import open_store
from generator.commands.build_names import BuildName, named_build
from generator.commands.options import memory_option, store_option, threads_option
from generator.progress import Progress
from generator.reading.report.summary import gather
from generator.reading.report.html_page import as_html
from generator.reading.report.write_pages import TOP, changes
from generator.releases.run_reports import DIFF_PAGE


@click.command()
@click.argument("build", required=False, type=BuildName())
@store_option
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write there.  [default: print it]"
)
@click.option(
    "--against", type=BuildName(), metavar="BUILD",
    help=f"Write {DIFF_PAGE} beside FILE as well: what changed since that build. The pages link to each other.",
)  # fmt: skip
@threads_option
@memory_option
def report(
    build: str | None, store: str, out: Path | None, against: str | None, threads: int | None, memory: str
) -> None:
    """Report on a build as one HTML page.

    Freshness, counts by game and kind, coverage and distribution of prices, gates, the slowest layers, history.
    BUILD is an id, `live` or `previous`; without it the live one is meant. `nightly` leaves such a page of each build
    that it makes, with what it changed.

    \b
    Example: cardpress report --store site_out --out report.html --against previous
    """
    if against and not out:
        raise click.UsageError("--against writes a second page beside the first: say with --out FILE where")
    opened = open_store(store)
    chosen = named_build(opened, build)
    told = gather(opened, chosen, threads=threads, memory=memory)
    if against and out:
        old = named_build(opened, against)
        page = changes(old, chosen, TOP, out.name, threads=threads, memory=memory, progress=Progress())
        _write(out.with_name(DIFF_PAGE), page)
    page = "".join(as_html(told, DIFF_PAGE if against else None)).encode()
    if out:
        _write(out, page)
    else:
        sys.stdout.buffer.write(page)
        sys.stdout.buffer.flush()


def _write(file: Path, page: bytes) -> None:
    file.write_bytes(page)
    click.echo(file)
