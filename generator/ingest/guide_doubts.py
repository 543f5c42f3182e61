"""What is doubtful about price guides: prices that are missing, days that are far away, guides that replace others."""

from collections.abc import Iterator
from datetime import date, datetime
from difflib import get_close_matches
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from generator import settings
from generator.ingest.findings import FAR_DAY, MISSING_PRICES, REPLACED, ImportFinding
from generator.ingest.marketplace_files import GuideColumns, ImportedFile
from generator.ingest.merge import connect_tables, merge, quoted
from generator.ingest.table_files import TableFile, price_guide_file
from generator.lake.files import PRICE_FIGURES
from generator.lake.writer import LakeWriter, decode_parquet

# A guide that lacks at most this many of the six columns lacks them by mistake. One that lacks more never had them.
_MAX_MISSING_COLUMNS = 2
# The rows of products that both have, unless the earlier guide is newer.
_REPLACED = """
SELECT count(*), count(*) FILTER ({differs}), max(previous.created_at),
    median(incoming.trend / previous.trend) FILTER (incoming.trend > 0 AND previous.trend > 0)
FROM incoming JOIN previous USING ({key})
WHERE incoming.created_at >= previous.created_at
HAVING count(*) FILTER ({differs} OR incoming.created_at > previous.created_at) > 0
"""


class ReplacedGuide(NamedTuple):
    """What a guide replaces.

    Attributes:
        products: The products of both guides.
        changed: Those that have other prices now.
        created_at: The newest time of the rows that are replaced, in UTC.
        ratio: The middle ratio of the trend now to the trend before, or None.
    """

    products: int
    changed: int
    created_at: datetime
    ratio: float | None

    def __str__(self) -> str:
        middle = "" if self.ratio is None else f"; in the middle their trend is {self.ratio:.3g} times what it was"
        return (
            f"replaces the guide of {self.created_at:%Y-%m-%dT%H:%M:%SZ}: "
            f"{self.changed:,} of {self.products:,} products have other prices{middle}"
        )


class PackedFile(NamedTuple):
    """A file that was read, without its rows, and the rows as Parquet: a year of price guides has to fit in memory."""

    file: ImportedFile
    rows: pa.Buffer


def doubtful_guides(lake: LakeWriter, packed: list[PackedFile]) -> Iterator[ImportFinding]:
    """Yield what is doubtful about the guides among files."""
    yield from _missing_prices(lake, packed)
    yield from _far_days(lake, packed)
    yield from _replaced_guides(lake, packed)


def _missing_prices(lake: LakeWriter, packed: list[PackedFile]) -> Iterator[ImportFinding]:
    """Yield the price columns that guides lack, compared with the newest guide of an earlier day."""
    guides = [one for one in packed if one.file.columns]
    stored = lake.list_days("price_guide") if guides else []
    for guide in guides:
        columns, day = guide.file.columns, guide.file.day
        if columns and (columns.absent or columns.unknown):
            days = [other for other in (*stored, *(one.file.day for one in guides)) if other < day]
            previous = _guide_of(lake, max(days), guides) if days else guide.file.rows
            yield from _missing(
                str(guide.file.path), guide.file.target.path, columns, decode_parquet(guide.rows), previous
            )


def _far_days(lake: LakeWriter, packed: list[PackedFile]) -> Iterator[ImportFinding]:
    """Yield the guides whose day is long before the newest one, such as 1970: a wrong clock made them."""
    guides = [one.file for one in packed if one.file.columns]
    stored = lake.list_days("price_guide") if guides else []
    near = _days_near_newest(stored, [guide.day for guide in guides])
    for guide in guides:
        if guide.day not in near or guide.day.year < settings.FIRST_GUIDE_YEAR:
            newest = f"the newest guide of the lake is of {max(stored)}" if stored else "no guide is that old"
            message = f"createdAt is {guide.created_at.isoformat()}, but {newest}"
            yield ImportFinding(FAR_DAY, str(guide.path), guide.target.path, 1, message)


def _days_near_newest(stored: list[date], imported: list[date]) -> set[date]:
    """Return the days of guides that no long gap separates from the newest of the lake, or else of the import.

    Later days are near: imports go on after a pause, however long it was.
    """
    days, newest = {*stored, *imported}, max(stored or imported, default=date.min)
    near, last = {day for day in days if day >= newest}, newest
    for day in sorted(days - near, reverse=True):
        if (last - day).days > settings.MAX_DAYS_WITHOUT_GUIDE:
            break
        near.add(day)
        last = day
    return near


def _replaced_guides(lake: LakeWriter, packed: list[PackedFile]) -> Iterator[ImportFinding]:
    """Yield the guides that replace another one of their day, in the lake or in this import."""
    by_target: dict[TableFile, list[PackedFile]] = {}
    for one in packed:
        if one.file.columns:
            by_target.setdefault(one.file.target, []).append(one)
    for target, guides in by_target.items():
        before = target.read(lake)
        for one in sorted(guides, key=lambda one: one.file.created_at):
            rows = decode_parquet(one.rows)
            if replaced := _replaced(target, before, rows):
                source, message = str(one.file.path), str(replaced)
                yield ImportFinding(REPLACED, source, target.path, replaced.changed, message, is_refused=False)
            if len(guides) > 1:
                before = merge(target, before, rows, target.keys_in_other_files(lake))


def _guide_of(lake: LakeWriter, day: date, guides: list[PackedFile]) -> pa.Table:
    """Return the guide of a day, in the lake and in the files of this import."""
    file = price_guide_file(day)
    imported = [decode_parquet(one.rows) for one in guides if one.file.day == day]
    return pa.concat_tables([file.read(lake).select(file.imported), *imported])


def _missing(
    source: str, target: str, columns: GuideColumns, rows: pa.Table, previous: pa.Table
) -> Iterator[ImportFinding]:
    """Yield what is wrong with the columns of a guide that has rows.

    A missing column is refused if the guide before it had prices there, if the guide has most of the other columns, or
    if an unknown key looks like its new name. Otherwise it is reported: a guide that was made by hand may have few.

    Args:
        previous: The guide before it, with the columns of the lake. Only its rows of the same products count.
    """
    if not rows.num_rows:
        return
    same = previous.filter(pc.is_in(previous["id_product"], rows["id_product"]))
    prices = {name: len(same) - same[name].null_count for name in columns.absent}
    lost = {name: count for name, count in prices.items() if count}
    missing = [name for name in columns.absent if name in PRICE_FIGURES]
    if lost:
        message = f"no row has {_listed(list(lost))}, where the guide before it has {max(lost.values()):,} prices"
        yield ImportFinding(MISSING_PRICES, source, target, len(lost), message)
    elif missing:
        renamed = f"; perhaps renamed: {', '.join(columns.unknown)}" if columns.unknown else ""
        message = f"no row has {_listed(missing)}{renamed}"
        is_refused = len(missing) <= _MAX_MISSING_COLUMNS or any(_is_like(name, columns.unknown) for name in missing)
        yield ImportFinding(MISSING_PRICES, source, target, len(missing), message, is_refused)


def _is_like(name: str, keys: tuple[str, ...]) -> bool:
    folded = [key.casefold() for key in keys]
    return any(name in key for key in folded) or bool(get_close_matches(name, folded))


def _listed(names: list[str]) -> str:
    return f"the price{'s' * (len(names) > 1)} {', '.join(names)}"


def _replaced(file: TableFile, previous: pa.Table, incoming: pa.Table) -> ReplacedGuide | None:
    """Return what a guide replaces in the rows of its day. None if it replaces nothing, or is the same guide."""
    compared = (quoted(name) for name in file.imported if name not in (file.key, "created_at"))
    differs = " OR ".join(f"incoming.{name} IS DISTINCT FROM previous.{name}" for name in compared)
    with connect_tables(previous=previous, incoming=incoming) as database:
        rows = database.sql(_REPLACED.format(differs=differs, key=quoted(file.key))).fetchall()
    return ReplacedGuide(*rows[0]) if rows else None
