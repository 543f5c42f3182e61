"""One import of scraped lines from first to last: read every file, merge under the lake's lock, put in place together.

`import_list_pages`, `import_offers` and `import_watch_checks` share it. Nothing is written before every line was read
and judged, and then the files of all days and tables appear together or not at all.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from generator.errors import IngestError
from generator.ingest.daily import FILTERED_CHECKS, LISTINGS, WATCH_CHECKS, merge_days
from generator.ingest.drafts import Draft, fill
from generator.ingest.lines import Sheet, keep_refused
from generator.ingest.merge import Change, DayCounts, MergeCounts
from generator.ingest.pages import LIST_PAGES, merge_pages
from generator.ingest.shapes import LIST_PAGE, OFFERS, WATCH_CHECK, Shape
from generator.ingest.tables import EXPANSIONS, PRODUCTS, LakeWriter, encode
from generator.ingest.values import CONDITIONS


@dataclass(frozen=True)
class LineFiles:
    """The files of one import, and where their refused lines are kept; None refuses a file that has one."""

    paths: Sequence[Path]
    bad_lines: Path | None


@dataclass(frozen=True)
class Imported:
    """What an import did.

    Attributes:
        lines: how many there were, refused ones included; `refused`: how many of them.
        incomplete_offers: offers under the seller filter that lack a price, a seller or a condition, which a build
            leaves out.
        tables: the counts of each file of the lake that the lines are about.
    """

    lines: int
    refused: int
    incomplete_offers: int
    tables: dict[str, MergeCounts | DayCounts]


def import_list_pages(lake: LakeWriter, files: LineFiles, read: Callable[[Path], None]) -> Imported:
    """Rows of list pages: listings, and what the pages say of products and expansions.

    Raises:
        IngestError: a file or a lake table cannot be read, or lines are refused and not to be kept, and nothing was
            written; or writing failed.
    """
    return _import(lake, files, read, LIST_PAGE, _with_pages)


def import_offers(lake: LakeWriter, files: LineFiles, read: Callable[[Path], None]) -> Imported:
    """Checks of products under the seller filter: filtered_checks. Raises as `import_list_pages` does."""
    return _import(lake, files, read, OFFERS, lambda lake, rows: merge_days(lake, FILTERED_CHECKS, rows))


def import_watch_checks(lake: LakeWriter, files: LineFiles, read: Callable[[Path], None]) -> Imported:
    """Checks of tracked products: watch_checks. Raises as `import_list_pages` does."""
    return _import(lake, files, read, WATCH_CHECK, lambda lake, rows: merge_days(lake, WATCH_CHECKS, rows))


def _import(
    lake: LakeWriter,
    files: LineFiles,
    read: Callable[[Path], None],
    shape: Shape,
    merged: Callable[[LakeWriter, pa.Table], Iterator[Change]],
) -> Imported:
    sheet = _sheet(files, read, shape)
    rows = sheet.table()
    with lake.locked():
        changes = list(merged(lake, rows))
        if files.bad_lines and sheet.refused:
            keep_refused(files.bad_lines, sheet.refused)  # first, so that no moment has them nowhere
        lake.put({change.name: change.data for change in changes if change.data is not None})
    tables = {change.name: change.counts for change in changes if change.counts is not None}
    incomplete = _incomplete_offers(rows) if shape is OFFERS else 0
    return Imported(sheet.lines, len(sheet.refused), incomplete, tables)


def _sheet(files: LineFiles, read: Callable[[Path], None], shape: Shape) -> Sheet:
    sheet = Sheet(shape)
    for path in files.paths:
        sheet.read(path)
        read(path)
    if sheet.refused and not files.bad_lines:
        first, others = sheet.refused[0], len(sheet.refused) - 1
        more = f" (and {others:,} more refused line{'s' * (others > 1)})" if others else ""
        raise IngestError(f"{first}{more}; nothing was imported: --bad-lines FILE keeps bad lines and imports the rest")
    return sheet


def _with_pages(lake: LakeWriter, rows: pa.Table) -> Iterator[Change]:
    yield from merge_days(lake, LISTINGS, rows.select(LISTINGS.schema.names))
    before = lake.read(LIST_PAGES)
    pages = merge_pages(before, rows)
    products, expansions = Draft.of(lake, PRODUCTS, []), Draft.of(lake, EXPANSIONS, [])
    products.incoming = rows.select(["id_product"])
    fill(products, expansions, pages)
    if not pages.equals(before):
        yield Change(LIST_PAGES.name, None, encode(pages))
    changes = (draft.change() for draft in (products, expansions))
    yield from (change for change in changes if change.counts.rows or change.counts.elsewhere)


def _incomplete_offers(checks: pa.Table) -> int:
    offers = pc.list_flatten(checks["offer_list"].combine_chunks())
    known = pc.is_in(offers.field("condition"), pa.array(CONDITIONS))
    complete = pc.and_(pc.and_(offers.field("price").is_valid(), offers.field("seller").is_valid()), known)
    return len(offers) - (pc.sum(complete).as_py() or 0)
