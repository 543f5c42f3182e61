"""Fixtures for tests of the page that values a list: a shim over its lake, the page, and what it may ask."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Request

from tests.site.conftest import watched_page
from tests.support.commands import build, issue
from tests.support.lakes import write
from tests.support.list_worth import Worth
from tests.support.oracle import Oracle
from tests.support.service import Service
from tests.support.value_lake import LAKE

ASKED: dict[str, set[str]] = {  # what requests may carry: products and names, nothing else of the list
    "me": set(),
    "cards/named": {"names", "printings"},
    "identifiers/set_number": {"values"},
    "identifiers/tcgdex": {"values"},
    "identifiers/scryfall": {"values"},
    "identifiers/tcgplayer": {"values"},
    "series": {"ids"},
    "sets": {"limit", "offset"},
    "cards": {"ids", "q", "set", "number", "kind", "sort", "limit", "offset"},
}


@pytest.fixture(scope="session")
def value_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("value")
    build(write(LAKE, folder / "lake"), folder / "store")
    return folder


@pytest.fixture(scope="session")
def worth(value_folder: Path) -> Worth:
    return Worth(Oracle(value_folder / "lake"))


@pytest.fixture(scope="session")
def service(value_folder: Path) -> Iterator[Service]:
    with Service(value_folder / "store", value_folder / "state") as service:
        yield service


@pytest.fixture(scope="session")
def key(value_folder: Path) -> str:
    return issue(value_folder / "store", "cards:read", name="collector")


@pytest.fixture
def page(browser: Browser, service: Service, key: str, requests: list[Request]) -> Iterator[Page]:
    """The page in a new profile. Afterwards check console, policy and what was sent."""
    with watched_page(browser, requests, "Failed to load resource") as page:
        page.goto(f"http://127.0.0.1:{service.port}/explore/value#key={key}")
        page.get_by_role("button", name="Value this list").wait_for()
        yield page
    assert_only_products_are_asked(requests, service)


def assert_only_products_are_asked(requests: list[Request], service: Service) -> None:
    for request in requests:
        url = urlsplit(request.url)
        if url.scheme in ("data", "blob"):
            continue
        assert (request.method, url.netloc, request.post_data) == ("GET", f"127.0.0.1:{service.port}", None)
        if url.path.startswith("/api/v1/"):
            assert set(parse_qs(url.query)) <= ASKED[url.path.removeprefix("/api/v1/")], request.url


def choose(page: Page, content: bytes) -> Locator:
    """Choose a file. Return the status line, which says what became of it."""
    status = page.locator("#status")
    page.get_by_label("Choose a file").set_input_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": content})
    return status


def paste(page: Page, text: str) -> None:
    page.get_by_label("Or type or paste a list").fill(text)
    page.get_by_role("button", name="Value this list").click()


def asked(requests: list[Request]) -> list[str]:
    return [request.url.partition("/api/v1/")[2] for request in requests if "/api/v1/" in request.url]
