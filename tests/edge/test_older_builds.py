"""Builds of version 1.0 still answer its requests. Requests for newer data are refused with a reason."""

import pytest

from edge_auth.api.endpoints import API
from edge_auth.api.flask_app import client_of
from edge_auth.builds import index
from edge_auth.builds.builds import open_build
from edge_auth.live.open_build import LruCache, OpenBuild
from edge_auth.store.folder import FolderStore
from tests.support import small_store

# What version 1.0 wrote. Every column that the contract declares since is missing in an old build.
FIRST_SORTS = ("trend", "low", "avg", "filtered", "name", "number", "newest")
FIRST_COLUMNS = {"id", "single", "set", "rarity", "number", "size", "digest", "name"}
FIRST_COLUMNS |= {f"{kind}_{sort}" for kind in ("order", "rank") for sort in FIRST_SORTS}
map_table = index.map_table


def opened(folder: str) -> OpenBuild:
    store = FolderStore(folder)
    build = open_build(store, small_store.add_build(store))
    return OpenBuild(build, LruCache(0), lambda hit: None)


@pytest.fixture
def new(tmp_path):
    return opened(str(tmp_path / "new"))


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A build without the layers and the columns that version 1.0 did not write."""

    def without_new_columns(path):
        table = map_table(path)
        new = {name for name in table.column_names if name not in FIRST_COLUMNS}
        if "id" not in table.column_names:
            return table
        metadata = {name: value for name, value in (table.schema.metadata or {}).items() if name != b"spellings"}
        return table.drop_columns(list(new)).replace_schema_metadata(metadata)

    build = opened(str(tmp_path / "old"))
    for layer in list(build.objects.layers):
        if layer in ("games", "names", "identifiers", "movers") or layer.startswith(("series-", "market")):
            del build.objects.layers[layer]
    with monkeypatch.context() as patched:
        patched.setattr(index, "map_table", without_new_columns)
        build.prepare()
    assert not build.catalogue.cents and set(build.catalogue.texts) == {"rarity", "number"}
    return build


def body(build: OpenBuild, path: str, query: str = "") -> bytes:
    answer = client_of(build).get(f"{API}{path}?{query}")
    assert answer.status_code == 200
    return answer.data


def refusal(build: OpenBuild, path: str, query: str) -> tuple[int, str]:
    answer = client_of(build).get(f"{API}{path}?{query}")
    return answer.status_code, answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("path", "query"),
    [("cards", "q=ex&sort=low&order=asc"), ("cards", "offset=20"), ("sets", "q=e"), ("watchlist", ""), ("status", "")],
)
def test_what_was_answered_before_is_answered(old, new, path, query):
    assert body(old, path, query) == body(new, path, query)


def test_ids_need_no_new_column(old, new, products):
    query = "ids=" + ",".join(str(product["id_product"]) for product in products[:40]) + ",123456"
    assert body(old, "cards", query) == body(new, "cards", query)


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("games", "", 404),
        ("names", "", 404),
        ("facets", "", 404),
        ("facets", "game=x", 404),
        ("series", "ids=1", 404),
        ("cards/named", "names=x", 404),
        ("movers", "game=x", 404),
        ("identifiers", "", 404),
        ("identifiers/tcgplayer", "values=1", 404),
        ("cards/1/identifiers", "", 404),
        ("market", "", 404),
        ("market/history", "set=1", 404),
        ("cards", "min_price=1", 400),
        ("cards", "game=x", 400),
        ("cards", "q=ex&sort=match", 400),
        ("sets", "game=x", 400),
    ],
)
def test_what_is_new_is_refused_with_a_reason(old, path, query, status):
    refused, message = refusal(old, path, query)
    assert refused == status
    assert "an older version made it" in message


def test_a_sort_that_is_newer_than_the_build_is_refused(old):
    del old.catalogue.order["newest"]
    assert body(old, "cards", "sort=name")
    assert "cannot be sorted by newest: an older version made it" in refusal(old, "cards", "sort=newest")[1]


def test_a_build_without_lists_of_confirmed_moves(new, monkeypatch):
    before = body(new, "movers", "min_price=0")
    monkeypatch.setattr(index, "map_table", lambda path: _without(map_table(path), "confirmed"))
    del new.movers, new.objects.movers
    assert body(new, "movers", "min_price=0") == body(new, "movers", "min_price=0&confirmed=false") == before
    _, message = refusal(new, "movers", "confirmed=true")
    assert "cannot be asked for confirmed moves: an older version made it" in message


def _without(table, name):
    return table.drop_columns([name]) if name in table.column_names else table


def test_an_empty_game_is_no_filter(old, new):
    assert body(old, "cards", "game=") == body(new, "cards", "game=")
