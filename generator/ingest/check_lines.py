"""Checks the rows of scraped lines: against the rules that stop a build, and against the clock."""

from collections.abc import Collection, Iterator
from datetime import UTC

import pyarrow as pa
import pyarrow.compute as pc

from generator import settings
from generator.clock import timestamp, utc_now
from generator.errors import IngestError
from generator.ingest.findings import FUTURE, ImportFinding, refuse
from generator.ingest.lake_rules import check_rows
from generator.ingest.table_files import DailyTable


def check_lines(table: DailyTable, rows: pa.Table, accepted: Collection[str]) -> tuple[ImportFinding, ...]:
    """Return what is doubtful about rows, if it is accepted.

    Raises:
        IngestError: No build would accept the rows, or a case is not accepted.
    """
    for broken in check_rows(table.name, rows.select(table.schema.names)):
        raise IngestError(f"{table.name}: {broken}: no build would accept it")
    findings = tuple(_future(table, rows))
    refuse(findings, accepted)
    return findings


def _future(table: DailyTable, rows: pa.Table) -> Iterator[ImportFinding]:
    latest = (utc_now() + settings.MAX_LINES_AHEAD_OF_CLOCK).replace(tzinfo=None)
    ahead = rows.filter(pc.greater(rows[table.time], pa.scalar(latest, pa.timestamp("us"))))
    if ahead.num_rows:
        product, moment = ahead[table.product][0].as_py(), ahead[table.time][0].as_py()
        example = f"{table.product} {product} at {timestamp(moment.replace(tzinfo=UTC))}"
        message = f"{ahead.num_rows:,} lines have a {table.time} that the clock has not reached, such as {example}"
        yield ImportFinding(FUTURE, table.name, table.name, ahead.num_rows, message)
