"""Which prices the rows of a price guide have, and which of them the guide before it had."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from generator.ingest.findings import MISSING_PRICES, UNKNOWN_KEYS, ImportFinding
from generator.lake.prices_and_conditions import PRICE_FIGURES

# A guide that lacks at most this many of the six columns lacks them by mistake. One that lacks more never had them.
_MAX_MISSING_COLUMNS = 2
_FOIL_SUFFIXES = ("-holo", "-foil")
_KNOWN_KEYS = frozenset({"idProduct", "idCategory"}) | {
    figure + suffix for figure in PRICE_FIGURES for suffix in ("", *_FOIL_SUFFIXES)
}


class GuideColumns(NamedTuple):
    """The price columns of the lake that no row of a guide has a key for, and the keys that are not known."""

    absent: tuple[str, ...]
    unknown: tuple[str, ...]


def columns_of(rows: list[dict[str, Any]]) -> GuideColumns:
    """Return the absent columns and the unknown keys of a guide's rows."""
    keys: set[str] = set().union(*rows)
    absent = [figure for figure in PRICE_FIGURES if figure not in keys]
    absent += [f"{figure}_holo" for figure in PRICE_FIGURES if not keys & {figure + s for s in _FOIL_SUFFIXES}]
    return GuideColumns(tuple(absent), tuple(sorted(keys - _KNOWN_KEYS)))


def find_missing(
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
    if columns.unknown:
        message = f"rows have keys that are not known: {', '.join(columns.unknown)}"
        yield ImportFinding(UNKNOWN_KEYS, source, target, len(columns.unknown), message, is_refused=False)
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
