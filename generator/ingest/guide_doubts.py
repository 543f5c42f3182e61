"""What is doubtful about price guides: prices that are missing, days that are far away, guides that replace others."""

from collections.abc import Iterator
from datetime import date
from difflib import get_close_matches

import pyarrow as pa
import pyarrow.compute as pc

from generator import settings
from generator.ingest.findings import FAR_DAY, MISSING_PRICES, REPLACED, ImportFinding
from generator.ingest.marketplace_files import GuideColumns, ImportedFile
from generator.ingest.tables import TableFile, TableUpdate, price_guide_file, select
from generator.lake.files import GUIDE_PRICES, PRICE_FIGURES
from generator.lake.writer import LakeWriter

# A guide that lacks at most this many of the six columns lacks them by mistake. One that lacks more never had them.
_MAX_MISSING_COLUMNS = 2


def doubtful_guides(lake: LakeWriter, files: list[ImportedFile]) -> Iterator[ImportFinding]:
    """Yield what is doubtful about the guides among files."""
    guides = [file for file in files if file.columns]
    stored = lake.list_days("price_guide") if guides else []
    yield from _missing_prices(lake, guides, stored)
    yield from _far_days(guides, stored)
    yield from _replaced_guides(lake, guides)


def _missing_prices(lake: LakeWriter, guides: list[ImportedFile], stored: list[date]) -> Iterator[ImportFinding]:
    """Yield the price columns that guides lack, compared with the newest guide of an earlier day."""
    for guide in guides:
        columns, day = guide.columns, guide.day
        if columns and (columns.absent or columns.unknown):
            days = [other for other in (*stored, *(one.day for one in guides)) if other < day]
            rows = guide.rows
            previous = rows.schema.empty_table()
            if days:
                stored_rows = price_guide_file(max(days)).read(lake).select(previous.schema.names)
                imported = [one.rows for one in guides if one.day == max(days)]
                previous = pa.concat_tables([stored_rows, *imported])
            yield from _missing(guide, columns, rows, previous)


def _far_days(guides: list[ImportedFile], stored: list[date]) -> Iterator[ImportFinding]:
    """Yield the guides whose day is long before the newest one, such as 1970: a wrong clock made them."""
    near = _days_near_newest(stored, [guide.day for guide in guides])
    for guide in guides:
        if guide.day not in near or guide.day.year < settings.FIRST_GUIDE_YEAR:
            newest = f"the newest guide of the lake is of {max(stored)}" if stored else "no guide is that old"
            message = f"createdAt is {guide.created_at.isoformat()}, but {newest}"
            yield ImportFinding(FAR_DAY, str(guide.path), guide.target.path, 1, message)


def _days_near_newest(stored: list[date], imported: list[date]) -> set[date]:
    """Return the days that no long gap separates from the newest of the lake, or else of the import, and later days."""
    days, newest = {*stored, *imported}, max(stored or imported, default=date.min)
    near, last = {day for day in days if day >= newest}, newest
    for day in sorted(days - near, reverse=True):
        if (last - day).days > settings.MAX_DAYS_WITHOUT_GUIDE:
            break
        near.add(day)
        last = day
    return near


def _replaced_guides(lake: LakeWriter, guides: list[ImportedFile]) -> Iterator[ImportFinding]:
    """Yield the guides that replace another one of their day, in the lake or in this import."""
    by_target: dict[TableFile, list[ImportedFile]] = {}
    for guide in guides:
        by_target.setdefault(guide.target, []).append(guide)
    for target, of_day in by_target.items():
        update = TableUpdate(lake, target)
        for guide in sorted(of_day, key=lambda one: one.created_at):
            rows = guide.rows
            found = select("replaced_guide", {"prices": tuple(GUIDE_PRICES)}, previous=update.after, incoming=rows)
            for one in found.to_pylist():
                middle = "; in the middle their trend is {ratio:.3g} times what it was" if one["ratio"] else ""
                said = (
                    "replaces the guide of {created_at:%Y-%m-%dT%H:%M:%SZ}: "
                    "{changed:,} of {products:,} products have other prices" + middle
                )
                source, count = str(guide.path), one["changed"]
                yield ImportFinding(REPLACED, source, target.path, count, said.format(**one), is_refused=False)
            if len(of_day) > 1:
                update.merge(rows)


def _missing(guide: ImportedFile, columns: GuideColumns, rows: pa.Table, previous: pa.Table) -> Iterator[ImportFinding]:
    """Yield the columns that a guide lacks: refused if they had prices, if it has most others, or has a similar key."""
    if not rows.num_rows:
        return
    source, target = str(guide.path), guide.target.path
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
        keys = [key.casefold() for key in columns.unknown]
        is_like = (any(name in key for key in keys) or get_close_matches(name, keys) for name in missing)
        is_refused = len(missing) <= _MAX_MISSING_COLUMNS or any(is_like)
        yield ImportFinding(MISSING_PRICES, source, target, len(missing), message, is_refused)


def _listed(names: list[str]) -> str:
    return f"the price{'s' * (len(names) > 1)} {', '.join(names)}"
