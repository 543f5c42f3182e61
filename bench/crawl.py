"""Reads the peers' data from the product's own API, page by page, and writes it as Parquet files.

Peers store each Card as ready JSON, with the keys by which it is found and sorted, folded as the product folds them. So
they do the same work for a search, and no work to assemble a Card. History has one row per day, for some of the
products only: the cases request the details of these, and a smaller table makes no peer slower.
"""

import http.client
import json
import random
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.data import Site, print_progress
from generator.storage.text import fold, number_filter_key, number_sort_key

Json = dict[str, Any]
TABLES = {
    "price_guide": ("day", "low", "avg", "trend", "low_holo", "avg_holo", "trend_holo"),
    "filtered": ("day", "lowest", "offers"),
    "listing": ("day", "available", "from_price", "available_foil", "from_price_foil"),
}
# The keys of the sorts in which the peers are measured. `added` is when the marketplace added the product.
_KEYS: dict[str, Callable[[Json, datetime | None], Any]] = {
    "trend": lambda card, _: (card["price_guide"] or {}).get("trend"),
    "low": lambda card, _: (card["price_guide"] or {}).get("low"),
    "avg": lambda card, _: (card["price_guide"] or {}).get("avg"),
    "filtered": lambda card, _: (card["filtered_price"] or {}).get("lowest"),
    "name": lambda card, _: fold(card["name"]),
    "number": lambda card, _: number_sort_key(card["number"] or "") or None,
    "newest": lambda _, added: added and int(added.timestamp()),
}
SORTS = tuple(_KEYS)
_COUNTS = ("offers", "available", "available_foil")


def crawl(port: int, site: Site, folder: Path, details: int) -> None:
    """Write cards.parquet and a Parquet file per history table, with the history of `details` products."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def get(target: str) -> Json:
        connection.request("GET", target, headers={"Authorization": f"Bearer {site.key}"})
        body: Json = json.loads(connection.getresponse().read())
        return body

    print_progress("reading the catalogue for the peers")
    products = pq.read_table(site.lake / "products.parquet", columns=["id_product", "date_added"]).to_pydict()
    added = dict(zip(products["id_product"], products["date_added"], strict=True))
    rows = [_row(card, added[card["id_product"]]) for card in _cards(get)]
    pq.write_table(pa.Table.from_pylist(rows), folder / "cards.parquet")
    chosen = random.Random(1).sample([row["id"] for row in rows if row["trend_key"] is not None], details)
    histories = {id_: get(f"/api/v1/cards/{id_}")["history"] for id_ in sorted(chosen)}
    for table, columns in TABLES.items():
        pq.write_table(_history(histories, table, columns), folder / f"{table}.parquet")


def _cards(get: Callable[[str], Json]) -> Iterator[Json]:
    offset: int | None = 0
    while offset is not None:
        page = get(f"/api/v1/cards?sort=newest&limit=100&offset={offset}")
        yield from page["data"]
        offset = page["pagination"]["next_offset"]


def _row(card: Json, added: datetime | None) -> Json:
    number, rarity = card["number"], card["rarity"]
    return {
        "id": card["id_product"],
        "kind": card["kind"],
        "rarity": fold(rarity) if rarity else None,
        "set_id": card["set"]["id"],
        "number": number_filter_key(number) if number else None,
        **{f"{sort}_key": key(card, added) for sort, key in _KEYS.items()},
        "json": json.dumps(card, ensure_ascii=False, separators=(",", ":")),
    }


def _history(histories: dict[int, Json], table: str, columns: tuple[str, ...]) -> pa.Table:
    ids = [id_ for id_, history in histories.items() for _ in history[table]]
    rows = [row for history in histories.values() for row in history[table]]
    types = {name: pa.int64() if name in _COUNTS else pa.float64() for name in columns} | {"day": pa.string()}
    arrays = {name: pa.array([row[name] for row in rows], types[name]) for name in columns}
    return pa.table({"id": pa.array(ids, pa.int64()), **arrays})
