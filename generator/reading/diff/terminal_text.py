"""Formats a diff report for a terminal: counts first, then the first rows of each list.

Names come last in a row, at full length.
"""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal

from generator.compare.diff import PERCENT_FLOOR_EUROS, ObjectCounts
from generator.compare.figures import title
from generator.reading.diff.report import DiffReport, PriceMoves, Row, RowList
from generator.reading.render import set_name

_PRICE_TITLES = {"trend": "trend", "low": "low", "filtered": "lowest under the seller filter"}
_COUNT_COLUMNS = ("added", "removed", "changed", "unchanged")
_ITEM_COLUMNS = ("added", "removed", "changed")
_PRICE_COLUMNS = ("up", "down", "appeared", "went")
_FIELD_COLUMNS = ("changed", "appeared", "went")
_IDENTIFIER_COLUMNS = ("added", "lost")

# A row of a table: its title and its counts.
_TableRow = tuple[str, list[int]]


def as_text(report: DiffReport) -> Iterator[str]:
    """Yield the lines of a report."""
    yield f"{report.old['id']} → {report.new['id']}"
    if report.same:
        yield "nothing differs"
        return
    yield from _night(report)
    yield from _prices_table(report)
    for moves in report.moves:
        yield from _price_moves(moves)
    yield from _products(report)
    yield from _other_resources(report)
    yield from _counts(report)


def _night(report: DiffReport) -> Iterator[str]:
    yield report.night.sentence
    yield from (_printable(f"  {message}") for message in report.night.more)
    yield ""
    yield f"{'':<42}{'now':>11}" + "".join(f"{day:>14}" for day in report.night.days)
    for row in report.night.facts:
        figures = (row.tonight, row.yesterday, row.last_week)
        places = zip(figures, (11, 14, 14), strict=True)
        numbers = "".join(f"{'-' if figure is None else f'{figure:,}':>{width}}" for figure, width in places)
        yield f"  {title(row.name):<40}{numbers}{'' if row.ordinary else '  unusual'}"
    if report.night.zeros:
        yield f"  none, as usual: {report.night.zeros}"


def _prices_table(report: DiffReport) -> Iterator[str]:
    all_kinds = [row for row in report.prices if row["kind"] == "all"]
    prices = [_row(_PRICE_TITLES[row["price"]], row, _PRICE_COLUMNS) for row in all_kinds]
    yield from _table("prices", _PRICE_COLUMNS, prices)


def _counts(report: DiffReport) -> Iterator[str]:
    yield from _table("objects", _COUNT_COLUMNS, map(_count_row, report.resources))
    differing = [layer for layer in report.layers if layer.old_digest != layer.new_digest]
    same = len(report.layers) - len(differing)
    yield from _table("stored, by layer", _COUNT_COLUMNS, map(_count_row, differing))
    yield f"  {same} of {len(report.layers)} layers are the same in both builds"
    yield from _value_tables(report)


def _value_tables(report: DiffReport) -> Iterator[str]:
    items = [_row(row["resource"], row, _ITEM_COLUMNS) for row in report.items]
    yield from _table("values", _ITEM_COLUMNS, items)
    fields = [_row(f"{row['resource']}: {row['field']}", row, _FIELD_COLUMNS) for row in report.fields]
    yield from _table("fields", _FIELD_COLUMNS, fields)
    identifiers = [_row(row["scheme"], row, _IDENTIFIER_COLUMNS) for row in report.identifiers]
    yield from _table("ids of other catalogues", _IDENTIFIER_COLUMNS, identifiers)


def _products(report: DiffReport) -> Iterator[str]:
    yield from _list("products added", report.added, _product)
    yield from _list("products removed", report.removed, _product)
    yield from _list(
        "products renamed", report.renamed, lambda row: f"{row['id']:>10}  {row['old_name']} → {row['name']}"
    )
    yield from _list(
        "products moved to another set",
        report.moved,
        lambda row: f"{row['id']:>10}  {set_name(row, 'old_')} → {set_name(row)}: {row['name']}",
    )
    yield from _list(
        "products with another rarity",
        report.rarities,
        lambda row: f"{row['id']:>10}  {row['old'] or 'none'} → {row['new'] or 'none'}: {row['name']}",
    )


def _price_moves(moves: PriceMoves) -> Iterator[str]:
    price = _PRICE_TITLES[moves.price]
    for (way, measure), list_ in moves.largest.items():
        floor = f" of prices from {PERCENT_FLOOR_EUROS} euro on" if measure == "percent" else ""
        yield from _list(f"{price} {way}, largest in {measure}{floor}", list_, _move)
    for way, list_ in moves.nulls.items():
        yield from _list(f"{price} {way}, highest price first", list_, _null)


def _other_resources(report: DiffReport) -> Iterator[str]:
    yield from _list("sets", report.sets, _set_change)
    yield from _list("watchlist, by percent of the lowest price", report.watchlist, _watched)
    for field in report.index_fields:
        yield from ("", f"fingerprint index: {field['field']} {_printable(field['old'])} → {_printable(field['new'])}")
    yield from _list("fingerprints", report.fingerprints, lambda row: f"  {row['event']:<8}  {row['key']}")


def _count_row(counts: ObjectCounts) -> _TableRow:
    return counts.name, [counts.added, counts.removed, counts.changed, counts.unchanged]


def _row(title: str, row: Row, columns: Iterable[str]) -> _TableRow:
    return title, [row[column] for column in columns]


def _table(title: str, columns: tuple[str, ...], rows: Iterable[_TableRow]) -> Iterator[str]:
    rows = list(rows)
    if rows:
        width = max(40, *(len(name) for name, _ in rows))
        yield ""
        yield f"{title:<{width + 2}}" + "".join(f"{column:>11}" for column in columns)
        for name, numbers in rows:
            yield f"  {name:<{width}}" + "".join(f"{number:>11,}" for number in numbers)


def _list(title: str, list_: RowList, line: Callable[[Row], str]) -> Iterator[str]:
    if list_.rows:
        more = f", the first {len(list_.rows):,}" if list_.total > len(list_.rows) else ""
        yield from ("", f"{title}: {list_.total:,}{more}")
        yield from (_printable(line(row)) for row in list_.rows)


def _product(row: Row) -> str:
    return f"{row['id']:>10}  {row['kind']:<6}  {row['name']} ({set_name(row)})"


def _move(row: Row) -> str:
    return f"{row['id']:>10}  {_prices(row)}  {row['name']} ({set_name(row)})"


def _null(row: Row) -> str:
    price = row["new"] if row["old"] is None else row["old"]
    return f"{row['id']:>10}  {_euros(price)}  {row['name']} ({set_name(row)})"


def _watched(row: Row) -> str:
    return f"  {row['event']:<8}  {_prices(row)}  {row['slug']}"


def _set_change(row: Row) -> str:
    counts = (row["old_products"], row["products"])
    products = (
        " → ".join(f"{count:,}" for count in counts if count is not None) if len(set(counts)) > 1 else f"{counts[0]:,}"
    )
    name = f"{row['old_name']} → {row['name']}" if row["old_name"] not in (None, row["name"]) else row["name"]
    return f"{row['id']:>10}  {row['event']:<8}  {products:>15} products  {name}"


def _prices(row: Row) -> str:
    percent = f"{row['change_pct']:+,.2f} %" if row["change_pct"] is not None else ""
    change = f"{row['change']:+,.2f}" if row["change"] is not None else ""
    return f"{_euros(row['old'])} →{_euros(row['new'])}  {change:>11}  {percent:>13}"


def _euros(price: Decimal | None) -> str:
    return f"{price:>11,.2f}" if price is not None else f"{'none':>11}"


def _printable(text: str | None) -> str:
    """Replace characters that are not printable, so that text cannot control a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text or "none")
