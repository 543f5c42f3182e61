"""URLs of the lake that a browser could run as a script: null in the API, counted in the report of the build."""

import json
from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.lakes import Rows, write

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
