"""`cardpress ingest watchlist`: lists of slugs or addresses, and the four endpoints that they reach."""

import json
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.commands import run
from tests.support.service import Service, issue

PAGE = "https://www.cardmarket.com/en/Pokemon/Products/Singles/Pokemon-GO/Charizard-PGO010"
OTHER = "https://www.cardmarket.com/en/Pokemon/Products/Singles/Celebrations/Charizard-PGO010"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake with a product that has a page, and a row of another watchlist."""
    folder = tmp_path / "lake"
    folder.mkdir()
    products = {"id_product": [1, 2], "name": ["Charizard", "Mew"], "kind": ["single"] * 2}
    pages = [PAGE, "https://www.cardmarket.com/en/Pokemon/Products/Singles/151/Mew"]
    pq.write_table(pa.table(products | {"url": pages}), folder / "products.parquet")
    mine = {"slug": ["mine"], "name": ["Mine"], "game": ["Pokémon"], "url": ["https://shop.example/mine"]}
    pq.write_table(pa.table(mine), folder / "watchlist-mine.parquet")
    return folder


def ingest(lake: Path, text: str, *more: object, status: int = 0) -> str:
    path = lake.parent / "list"
    path.write_text(text, "utf-8")
    result = run("ingest", "watchlist", "--lake", lake, path, *more, status=status)
    return result.stdout + result.stderr


def rows(lake: Path) -> dict[str, tuple]:
    found = pq.read_table(lake / "watchlist-imported.parquet").to_pylist()
    return {row["slug"]: (row["name"], row["game"], row["url"]) for row in found}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"url\n{PAGE}?language=1\n", {"charizard-pgo010": ("Charizard", "Pokémon", PAGE)}),
        (f"slug,name,url\nzard,My card,{PAGE}\n", {"zard": ("My card", "Pokémon", PAGE)}),
        (f"slug;game\n{PAGE};Pocket\n", {"charizard-pgo010": ("Charizard", "Pocket", PAGE)}),
        ("slug\nCharizard-PGO010\n", {"Charizard-PGO010": ("Charizard", "Pokémon", PAGE)}),
        (json.dumps({"url": OTHER}), {"charizard-pgo010": ("Charizard PGO010", "Pokémon", OTHER)}),
        (
            f"url\n{PAGE}\n{OTHER}\n",
            {"pokemon-go-charizard-pgo010": ("Charizard", "Pokémon", PAGE),
             "celebrations-charizard-pgo010": ("Charizard PGO010", "Pokémon", OTHER)},
        ),
        (f"slug,url,game\na/b,{PAGE},-\na/b,{PAGE},NULL\n", {"a/b": ("Charizard", "Pokémon", PAGE)}),
    ],
)  # fmt: skip
def test_lists_as_people_keep_them(lake: Path, text: str, wanted: dict) -> None:
    ingest(lake, text)
    assert rows(lake) == wanted


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("slug\nabsent\n", "line 2: slug absent: no product of the lake has such a page: give its url"),
        (f"slug,url\na,{PAGE}\nA,{OTHER}\n", "line 3: slug A is that of line 2: give each a slug of its own"),
        ("slug,name\na,\n,b\n", "line 3: it has no slug and no url"),
        ("slug,url\na,www.cardmarket.com/x\n", "line 2: url must begin with https://"),
        (f"slug,url\n{'ü' * 41},{PAGE}\n", "line 2: slug"),
        ("slug,url\n", "it has no lines"),
        ("Product URL\nx\n", "rename it to url"),
        (f"{PAGE}\n{OTHER}\n", "line 1: its header lacks url (or cardmarket_url, slug)"),
    ],
)
def test_a_list_that_is_refused(lake: Path, text: str, says: str) -> None:
    assert says in ingest(lake, text, status=1)
    assert not (lake / "watchlist-imported.parquet").exists()


def test_importing_again_and_replacing(lake: Path) -> None:
    first = f"slug,url,name\na,{PAGE},A\nmine,{OTHER},B\n"
    assert "1 rows, 1 new, 0 changed, 0 unchanged; 1 skipped, already in other files" in ingest(lake, first)
    assert "1 rows, 0 new, 0 changed, 1 unchanged" in ingest(lake, first)
    ingest(lake, f"url,name\n{OTHER},B\n")
    assert set(rows(lake)) == {"a", "charizard-pgo010"}
    ingest(lake, f"url,name\n{OTHER},B\n", "--replace")
    assert set(rows(lake)) == {"charizard-pgo010"}


@pytest.mark.thorough
def test_checks_meet_the_watchlist_whatever_the_case_of_their_slug(lake: Path, tmp_path: Path) -> None:
    ingest(lake, f"slug,url\nFlabébé-PGO,{PAGE}\n")
    slugs = ("flabebe-pgo", "FLABÉBÉ-pgo", "gone")
    checks = [
        {"slug": slug, "checked_at": f"2026-07-26T0{n}:00:00Z", "lowest_price": n, "offer_list": [{"price": n}]}
        for n, slug in enumerate(slugs, 1)
    ]
    (tmp_path / "checks").write_text("".join(json.dumps(check) + "\n" for check in checks))
    said = run("ingest", "watch-checks", "--lake", lake, tmp_path / "checks").stderr
    assert '1 slugs are those of no tracked product, such as "gone"' in said
    run("build", "--lake", lake, "--store", tmp_path / "store", "--publish")
    key = issue(tmp_path / "store")
    with Service(tmp_path / "store", tmp_path / "state") as service:
        get = service.client(key).get
        listed = get("/api/v1/watchlist").json["data"]
        item, history, offers = (
            get(f"/api/v1/watchlist/FLABEBE-pgo{action}").json for action in ("", "/history", "/offers")
        )
        by_page = get(f"/api/v1/watchlist/{quote(PAGE, safe='')}").json
    assert [row["slug"] for row in listed] == ["Flabébé-PGO", "mine"]
    assert by_page == item
    assert (item["slug"], item["lowest_price"], item["last_checked"]) == ("Flabébé-PGO", 2, "2026-07-26T02:00:00Z")
    assert [point["price"] for point in history["points"]] == [1.5]
    assert [offer["price"] for offer in offers["offers"]] == [2]
