"""A report for a terminal: counts first, then the first rows of each list. Names come last in a row, uncut."""

from collections.abc import Iterator
from decimal import Decimal

from generator.reading.diff.compare import Count
from generator.reading.diff.report import DiffReport, Listing, Moves

_PRICE = {"trend": "trend", "low": "low", "filtered": "lowest under the seller filter"}


def as_text(report: DiffReport) -> Iterator[str]:
    """The lines of a report."""
    yield f"{report.old['id']} → {report.new['id']}"
    if report.same:
        yield "nothing differs"
        return
    yield from _counts(report)
    yield from _products(report)
    for moves in report.moves:
        yield from _moves(moves)
    yield from _rest(report)


def _counts(report: DiffReport) -> Iterator[str]:
    yield from _table("objects", ("added", "removed", "changed", "unchanged"), map(_count, report.resources))
    differing = [layer for layer in report.layers if layer.old_digest != layer.new_digest]
    same = len(report.layers) - len(differing)
    yield from _table("stored, by layer", ("added", "removed", "changed", "unchanged"), map(_count, differing))
    yield f"  {same} of {len(report.layers)} layers are the same in both builds"
    yield from _table("values", ("added", "removed", "changed"), (_row(row, "resource") for row in report.items))
    ways = ("up", "down", "appeared", "went")
    of_all = [row for row in report.prices if row["kind"] == "all"]
    yield from _table("prices", ways, ((_PRICE[row["price"]], *(row[way] for way in ways)) for row in of_all))
    fields = (
        (f"{row['resource']}: {row['field']}", row["changed"], row["appeared"], row["went"]) for row in report.fields
    )
    yield from _table("fields", ("changed", "appeared", "went"), fields)


def _products(report: DiffReport) -> Iterator[str]:
    yield from _listing("products added", report.added, _product)
    yield from _listing("products removed", report.removed, _product)
    yield from _listing(
        "products renamed", report.renamed, lambda row: f"{row['id']:>10}  {row['old_name']} → {row['name']}"
    )
    yield from _listing(
        "products moved to another set",
        report.moved,
        lambda row: f"{row['id']:>10}  {_set(row, 'old_')} → {_set(row)}: {row['name']}",
    )


def _moves(moves: Moves) -> Iterator[str]:
    for (way, measure), listing in moves.largest.items():
        yield from _listing(f"{_PRICE[moves.price]} {way}, the most in {measure}", listing, _move)
    for way, listing in moves.nulls.items():
        yield from _listing(f"{_PRICE[moves.price]} {way}, the dearest", listing, _null)


def _rest(report: DiffReport) -> Iterator[str]:
    yield from _listing("sets", report.sets, _set_change)
    yield from _listing("watchlist, by percent of the lowest price", report.watchlist, _watched)
    for field in report.index_fields:
        yield from ("", f"fingerprint index: {field['field']} {_plain(field['old'])} → {_plain(field['new'])}")
    yield from _listing("fingerprints", report.fingerprints, lambda row: f"  {row['what']:<8}  {row['key']}")


def _count(count: Count) -> tuple:
    return count.name, count.added, count.removed, count.changed, count.unchanged


def _row(row: dict, first: str) -> tuple:
    return row[first], *(value for name, value in row.items() if name != first)


def _table(title: str, columns: tuple[str, ...], rows) -> Iterator[str]:
    rows = list(rows)
    if rows:
        width = max(40, *(len(name) for name, *_ in rows))
        yield ""
        yield f"{title:<{width + 2}}" + "".join(f"{column:>11}" for column in columns)
        for name, *numbers in rows:
            yield f"  {name:<{width}}" + "".join(f"{number:>11,}" for number in numbers)


def _listing(title: str, listing: Listing, line) -> Iterator[str]:
    if listing.rows:
        more = f", the first {len(listing.rows):,}" if listing.total > len(listing.rows) else ""
        yield from ("", f"{title}: {listing.total:,}{more}")
        yield from (_plain(line(row)) for row in listing.rows)


def _product(row: dict) -> str:
    return f"{row['id']:>10}  {row['kind']:<6}  {row['name']} ({_set(row)})"


def _move(row: dict) -> str:
    return f"{row['id']:>10}  {_prices(row)}  {row['name']} ({_set(row)})"


def _null(row: dict) -> str:
    return f"{row['id']:>10}  {_euros(row['new'] if row['old'] is None else row['old'])}  {row['name']} ({_set(row)})"


def _watched(row: dict) -> str:
    return f"  {row['what']:<8}  {_prices(row)}  {row['slug']}"


def _set_change(row: dict) -> str:
    counts = (row["old_products"], row["products"])
    products = (
        " → ".join(f"{count:,}" for count in counts if count is not None) if len(set(counts)) > 1 else f"{counts[0]:,}"
    )
    name = f"{row['old_name']} → {row['name']}" if row["old_name"] not in (None, row["name"]) else row["name"]
    return f"{row['id']:>10}  {row['what']:<8}  {products:>15} products  {name}"


def _set(row: dict, prefix: str = "") -> str:
    name, id_ = row[f"{prefix}set_name"], row[f"{prefix}set_id"]
    return name or ("no set" if id_ is None else f"set {id_}")


def _prices(row: dict) -> str:
    percent = f"{row['change_pct']:+,.2f} %" if row["change_pct"] is not None else ""
    change = f"{row['change']:+,.2f}" if row["change"] is not None else ""
    return f"{_euros(row['old'])} →{_euros(row['new'])}  {change:>11}  {percent:>13}"


def _euros(price: Decimal | None) -> str:
    return f"{price:>11,.2f}" if price is not None else f"{'none':>11}"


def _plain(text: str | None) -> str:
    """Text that cannot steer a terminal: what is not printable is shown as such."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text or "none")
