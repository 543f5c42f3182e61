"""nginx-static.conf over an exported tree: what is left of the API without Python."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.commands import run
from tests.support.nginx import Nginx
from tests.support.programs import needs
from tests.support.service import Client, Service

pytestmark = [
    needs("nginx"),
    pytest.mark.xdist_group("nginx"),
]
API = "/api/v1"
SAME_PATHS = ("status", "fingerprints", "openapi.json", "cards/100", "watchlist/Charizard-Base",
              "watchlist/Charizard-Base/offers", "watchlist/Charizard-Base/history",
              "watchlist/Charizard-Base/history?view=weekly&range=90d")  # fmt: skip
SLUGS = ("sealed/Booster-Box", "sealed/Booster-Box/offers", "Épée")


@pytest.fixture(scope="module")
def tree(fixed_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "tree"
    run("export", folder, "--gzip", "--store", fixed_store)
    (folder.parent / "secret.json").write_text("{}")
    return folder


@pytest.fixture(scope="module")
def client(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("static") / "nginx"
    with Nginx(folder, "nginx-static.conf", {"/srv/cardpress/tree;": f"{tree};"}) as running:
        yield Client(running.port)


@pytest.mark.parametrize("path", SAME_PATHS)
def test_the_apis_own_paths(client: Client, fixed_service: Service, fixed_key: str, path: str) -> None:
    actual, expected = client.get(f"{API}/{path}"), fixed_service.client(fixed_key).get(f"{API}/{path}")
    assert (actual.status, actual.text) == (200, expected.text)
    assert actual["Content-Type"].partition(";")[0] == "application/json"


@pytest.mark.parametrize("path", SLUGS)
def test_a_slug_is_written_as_in_file_names(client: Client, fixed_service: Service, fixed_key: str, path: str) -> None:
    slug = path.removesuffix("/offers")
    name = re.sub("[^A-Za-z0-9_.-]", lambda found: "".join(f"~{byte:02X}" for byte in found[0].encode()), slug)
    suffix = "/offers" if path != slug else ""
    expected = fixed_service.client(fixed_key).get(f"{API}/watchlist/{quote(slug, safe='')}{suffix}")
    assert (expected.status, client.get(f"{API}/watchlist/{name}{suffix}").text) == (200, expected.text)


def test_pages_of_lists(client: Client, fixed_service: Service, fixed_key: str) -> None:
    expected = fixed_service.client(fixed_key).get(f"{API}/cards").text
    assert {client.get(f"{API}/cards/all/trend/{name}").text for name in ("0", "0.json")} == {expected}


def test_an_etag_for_each_encoding(client: Client) -> None:
    plain, packed = client.get(f"{API}/cards/100"), client.get(f"{API}/cards/100", Accept_Encoding="gzip")
    assert (plain["Content-Encoding"], packed["Content-Encoding"]) == (None, "gzip")
    assert plain.text == packed.text and plain["ETag"] != packed["ETag"] and packed["ETag"][0] == '"'
    assert packed.listed("Vary") == {"accept-encoding"} and packed["Cache-Control"] == "no-cache"
    again = client.get(f"{API}/cards/100", Accept_Encoding="gzip", If_None_Match=packed["ETag"])
    assert (again.status, again.body) == (304, b"")


def test_the_sites_pages(client: Client) -> None:
    for path in ("/", "/docs", "/docs/", "/docs/index.html", "/explore", "/explore/scan", "/explore/value"):
        answer = client.get(path)
        assert (answer.status, answer["Content-Type"].partition(";")[0]) == (200, "text/html")


@pytest.mark.parametrize(
    "path",
    [f"{API}", f"{API}/cards", f"{API}/cards/1", f"{API}/nowhere", f"{API}/watchlist/never/history?view=x",
     f"{API}/watchlist/never/history?view=../../x", "/docs/none.html",
     f"{API}/watchlist/x/../../../../secret.json"],
)  # fmt: skip
def test_what_is_not_there(client: Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status, answer.code) == (404, "not_found")
    assert answer["Content-Type"] == "application/json"


def test_nothing_but_get(client: Client) -> None:
    answer = client.send("POST", f"{API}/status")
    assert (answer.status, answer.code, answer["Allow"]) == (405, "method_not_allowed", "GET, HEAD")
