"""`cardpress report`: the freshness and completeness of a build, as one HTML page."""

import sys
from pathlib import Path

import click

from edge_auth.store.open import open_store
from generator.clock import utc_now
from generator.commands.options import FILE, BuildName, named_build, resources_options, store_option
from generator.compare.comparison import compare
from generator.compare.run_reports import DIFF_PAGE
from generator.reading.report import DIFF_ROWS, as_html, diff_page, summarize_build
from generator.terminal import Progress, say
from generator.threads import Resources


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

    Freshness, counts by game and kind, coverage and distribution of prices, gates, the slowest layers, history.
    BUILD is an id, `live` or `previous`; the default is the live build. `nightly` writes such a page for each build
    that it makes, and a page of what the build changed.

    \b
    Example: cardpress report --store site_out --out report.html --against previous
    """
    if against and not out:
        raise click.UsageError("--against writes a second page beside the first: choose its folder with --out FILE")
    opened = open_store(store)
    chosen = named_build(opened, build)
    summary = summarize_build(opened, chosen, utc_now, resources)
    if against and out:
        with compare(named_build(opened, against), chosen, resources) as comparison:
            page = diff_page(comparison, DIFF_ROWS, out.name, progress=Progress())
        _write(out.with_name(DIFF_PAGE), page)
    page = as_html(summary, DIFF_PAGE if against else None).encode()
    if out:
        _write(out, page)
    else:
        sys.stdout.buffer.write(page)
        sys.stdout.buffer.flush()


def _write(file: Path, page: bytes) -> None:
    file.write_bytes(page)
    say(file)
