"""What a build leaves out and counts: URLs that a browser could run as a script, and ids that no product has."""

import json
from contextlib import closing
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from generator.lake.files import PRICE_TABLES
from generator.lake.lake import open_lake
from generator.making.layer import open_month
from generator.making.work import BuildContext
from generator.releases.publish import publish
from generator.storage.builds import open_build
from generator.storage.stores.folder import FolderStore
from generator.threads import Resources
from tests.support.commands import run
from tests.support.lakes import Rows, write
from tests.support.nights import demo_lake, make
from tests.support.selection import mostly_thorough

DAY = "2026-03-01"
SHOWN = ("https://market.example/a?b#c", "HTTP://market.example/a")
HIDDEN = ("javascript:alert(1)//https://market.example", " https://market.example", "//market.example", "")
REASON = "urls that are neither http nor https shown as null"


@pytest.mark.thorough
def test_only_http_is_shown(tmp_path: Path) -> None:
    urls = [*HIDDEN, None, *SHOWN]
    rows = Rows(
        products=[{"id_product": id_, "name": "x", "kind": "single", "url": url} for id_, url in enumerate(urls, 5)],
        expansions=[{"id": id_, "name": "x", "url": url} for id_, url in enumerate(urls, 50)],
        watchlist=[{"slug": f"s{place}", "name": "x", "url": url} for place, url in enumerate(SHOWN)],
        price_guide={DAY: []},
    )
    lake, store = write(rows, tmp_path / "lake"), tmp_path / "store"
    built = run("build", "--lake", lake, "--store", store, "--publish", "--json")
    counts = {"rows": len(HIDDEN), "reason": REASON}
    assert json.loads(built.stdout.splitlines()[0])["left_out"] == [
        {"table": "expansions", "example": "id 50"} | counts,
        {"table": "products", "example": "id_product 5"} | counts,
    ]
    assert f"products: {len(HIDDEN)} {REASON}, such as id_product 5" in built.stderr
    filter_ = "?sellerCountry=23&language=1"
    shown = [None] * 5 + [f"https://market.example/a{filter_}", f"HTTP://market.example/a{filter_}"]
    for key in ("cards/all/name/0.json", "sets/0.json"):
        data = json.loads(run("cat", key, "--store", store).stdout)["data"]
        assert [row["cardmarket_url"] for row in data] == shown, key
    items = json.loads(run("cat", "watchlist/pages/0.json", "--store", store).stdout)["data"]
    assert [item["cardmarket_url"] for item in items] == shown[-2:]


_MANY = 1_200_000  # DuckDB reads more than a batch ahead
DAYS = [date(2026, 2, day) for day in (3, 4, 6)]


def test_in_identifiers_in_their_order(tmp_path: Path) -> None:
    """The build's id is made of them, and must not depend on the order in which threads find them."""
    named = [{"id_product": id_ * 7919 % 10_007, "scheme": "mine", "value": "v"} for id_ in range(10_007)]
    products = [{"id_product": 5, "name": "Emberfox", "kind": "single"}]
    lake = open_lake(str(write(Rows(products=products, identifiers=named), tmp_path / "lake")), DAYS[0])
    with closing(BuildContext(lake, FolderStore(str(tmp_path / "store")), Resources(2))) as context:
        found = context.tables.named_ids(open_month(DAYS[0]), "identifiers")
    assert found.tolist() == list(range(10_007))


@pytest.mark.parametrize("table", mostly_thorough(PRICE_TABLES, "listings"))
@pytest.mark.thorough
def test_a_file_that_is_broken_after_many_rows(table: str, tmp_path: Path) -> None:
    lake = demo_lake(tmp_path / "lake", 3, 50)
    [path, *_] = sorted((lake / table).glob("*/*.parquet"))
    rows = pq.read_table(path, partitioning=None).take(np.zeros(_MANY, int))
    many = rows.set_column(rows.schema.get_field_index("id_product"), "id_product", pa.array(np.arange(_MANY)))
    pq.write_table(many, path, row_group_size=_MANY // 10, use_dictionary=False)
    _break_page(path, "id_product", 9)
    refused = run("build", "--lake", lake, "--store", tmp_path / "store", status=1)
    assert refused.stderr.startswith(f"cardpress: {table}: cannot be read: ") and refused.stderr.count("\n") == 1


@pytest.mark.thorough
def test_only_products_that_identifiers_name_change_their_layers(tmp_path: Path) -> None:
    store = FolderStore(str(tmp_path / "store"))
    named = [{"id_product": id_, "scheme": "tcgplayer", "value": str(id_ % 3)} for id_ in (1, 2, 3, 3, 4)]

    def layers(*ids: int) -> dict[str, str]:
        products = [{"id_product": id_, "name": "Emberfox", "kind": "single"} for id_ in ids]
        rows = Rows(products=products, identifiers=named, price_guide={str(DAYS[0]): [{"id_product": 1, "trend": 1.0}]})
        build = make(write(rows, tmp_path / "lake"), store)
        publish(store, build, by_hand=True)
        record = open_build(store, build).record
        left_out = {row["table"]: row["rows"] for row in record["left_out"]}
        assert left_out == {"identifiers": sum(row["id_product"] not in ids for row in named)}
        return {name: record["layers"][name]["digest"] for name in ("identifiers", "bulk-identifiers")}

    first = layers(1, 2, 9)
    assert layers(1, 2, 9, 10) == first, "a product without identifiers"
    third = layers(1, 2, 3, 10)
    assert not set(third.values()) & set(first.values())


def _break_page(path: Path, column: str, group: int) -> None:
    """Overwrite the head of the first page of a column in a row group."""
    metadata = pq.read_metadata(path).row_group(group)
    [chunk] = [
        metadata.column(number)
        for number in range(metadata.num_columns)
        if metadata.column(number).path_in_schema == column
    ]
    data = bytearray(path.read_bytes())
    data[chunk.data_page_offset + 14 : chunk.data_page_offset + 60] = b"\xff" * 46
    path.write_bytes(data)
