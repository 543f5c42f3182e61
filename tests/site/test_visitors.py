"""Visitors without a key: at the form, as guests, and in an exported tree on a plain host."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.site.conftest import Visit
from tests.support.commands import run
from tests.support.file_server import file_server
from tests.support.nginx import Nginx
from tests.support.programs import needs
from tests.support.s3_servers import S3Server
from tests.support.service import Service
from tests.support.site_lake import EMBERFOX

pytestmark = pytest.mark.thorough


def test_the_form_shows_what_is_behind_it(visit: Visit, demo_service: tuple[Service, str]) -> None:
    service, visit.key = demo_service
    visit.base = f"http://127.0.0.1:{service.port}"
    page = visit.open("/explore")
    expect(page.get_by_label("API key")).to_be_visible()
    examples = page.get_by_role("region", name="Examples")
    expect(examples.get_by_role("heading")).to_have_text("What you will see")
    expect(examples.get_by_role("link").first).to_have_attribute("href", re.compile("^/explore#/cards/"))
    page.get_by_label("API key").fill(visit.key)
    page.get_by_role("button", name="Open").click()
    expect(page.locator(".card")).to_have_count(50)
    expect(examples.get_by_role("heading")).to_have_count(0)
    page.evaluate("sessionStorage.clear()")


@pytest.fixture
def guest(visit: Visit, site_store: Path, tmp_path: Path) -> Iterator[Visit]:
    """A visit to a service with guests."""
    with Service(site_store, tmp_path / "state", "--guest-limit", "600") as service:
        visit.base = f"http://127.0.0.1:{service.port}"
        yield visit


def test_guests_need_no_form_and_learn_once_what_a_key_adds(guest: Visit) -> None:
    page = guest.open("/")
    expect(page.locator("#key-need")).to_contain_text("Without a key you may ask 600 times a minute")
    page.get_by_role("link", name="look at the cards").click()
    expect(page.locator(".card")).to_have_count(50)
    expect(page.get_by_label("API key")).to_be_hidden()
    expect(page.locator("#visitor")).to_contain_text("as a guest, with 600 requests a minute")
    page.goto(f"{guest.base}/explore#/cards/{EMBERFOX}")
    expect(page.get_by_role("heading", level=2)).to_have_text(re.compile("Emberfox ex"))
    page.goto(f"{guest.base}/explore/value")
    expect(page.get_by_label("Or type or paste a list")).to_be_visible()
    page.goto(f"{guest.base}/explore#/movers")
    expect(page.get_by_role("heading", name="Largest price moves")).to_be_visible()
    expect(page.locator("#visitor")).to_be_hidden()
    sent = [request.headers for request in guest.requests if "/api/v1/" in request.url]
    assert sent and not any({"authorization", "x-api-key"} & headers.keys() for headers in sent)


def test_all_links_of_the_first_page_open_for_guests(guest: Visit) -> None:
    guest.excused += ("403 (Forbidden)", "401 (Unauthorized)")  # of downloads and of the scanner
    page = guest.open("/")
    links = page.locator("a[href]").evaluate_all("links => links.map(link => link.href)")
    paths = sorted({link.removeprefix(guest.base) for link in links if link.startswith(guest.base)} - {"/"})
    assert {"/docs", "/explore#/movers", "/explore#/market", "/explore#/watchlist", "/explore/value"} <= set(paths)
    for path in paths:
        answer = page.goto(guest.base + path)
        assert answer is None or answer.ok, path
        if path.startswith("/explore"):
            expect(page.locator("#key-form")).to_be_visible(visible=path == "/explore/scan")
            expect(page.locator("#view .lost")).to_have_count(int(path == "/explore#/downloads"))
    page.goto(f"{guest.base}/explore#/downloads")
    expect(page.get_by_role("heading", level=2)).to_have_text("This needs a key")
    expect(page.locator(".lost p").last).to_have_text("Open to all: Cards, Watchlist. How to get a key")


@contextmanager
def in_a_folder(store: Path, folder: Path, _: Callable[[str], S3Server]) -> Iterator[str]:
    run("export", folder / "tree", "--store", store)
    with file_server(folder / "tree") as base:
        yield base


@contextmanager
def in_a_folder_of_nginx(store: Path, folder: Path, _: Callable[[str], S3Server]) -> Iterator[str]:
    run("export", folder / "tree", "--store", store)
    with Nginx.of_files(folder / "plain-nginx", folder / "tree") as nginx:
        yield f"http://127.0.0.1:{nginx.port}"


@contextmanager
def in_a_public_bucket(store: Path, _: Path, servers: Callable[[str], S3Server]) -> Iterator[str]:
    server = servers("ceph")
    bucket = server.bucket()
    with pytest.MonkeyPatch.context() as patch:
        server.enter(patch)
        run("export", f"s3://{bucket}", "--store", store)
    yield server.publish(bucket)


HOSTS = [
    in_a_folder,
    pytest.param(in_a_folder_of_nginx, marks=needs("nginx")),
    pytest.param(in_a_public_bucket, marks=needs("Ceph")),
]
Host = Callable[[Path, Path, Callable[[str], S3Server]], AbstractContextManager[str]]


@pytest.fixture(scope="module", params=HOSTS, ids=lambda host: host.__name__)
def tree(
    request: pytest.FixtureRequest, site_store: Path, servers: Callable, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of an exported tree on a plain host."""
    host: Host = request.param
    with host(site_store, tmp_path_factory.mktemp("tree"), servers) as base:
        yield base


@pytest.fixture
def reader(visit: Visit, tree: str) -> Page:
    """The explorer of an exported tree, on a host that knows nothing of it."""
    return opened(visit, tree)


def opened(visit: Visit, tree: str) -> Page:
    visit.excused = (*visit.excused, "/healthz")
    visit.base = tree
    page = visit.open("/explore/")
    expect(page.locator(".card")).to_have_count(50)
    return page


def failed(visit: Visit) -> list[str]:
    """Return the requests that were not answered, or with an error, but for the one that looks for a service.

    Those that the browser gave up, since it left their page, are no failures.
    """
    asked = (request for request in visit.requests if request.failure != "net::ERR_ABORTED")
    answers = {request: request.response() for request in asked if not request.url.endswith("/healthz")}
    return [request.url for request, answer in answers.items() if answer is None or not answer.ok]


def test_a_tree_shows_cards_sets_moves_and_the_watchlist(visit: Visit, reader: Page) -> None:
    expect(reader.locator("#visitor")).to_contain_text("plain files")
    reader.get_by_text("Filters and order").click()
    reader.get_by_label("Sort by").select_option("name")
    expect(reader.locator(".card .name").first).to_have_text(re.compile("^(?!Emberfox)"))
    names = reader.locator(".card .name")
    expect(names).to_have_count(50)
    first = names.all_text_contents()
    reader.get_by_label("Order").select_option("desc")
    expect(names.first).not_to_have_text(first[0])
    reader.goto(re.sub("#.*", "", reader.url) + f"#/cards/{EMBERFOX}")
    expect(reader.get_by_role("heading", level=2)).to_have_text(re.compile("Emberfox ex"))
    expect(reader.get_by_role("figure")).to_be_visible()
    reader.goto(re.sub("#.*", "", reader.url) + "#/cards?set=6204&sort=trend")
    expect(reader.locator(".card").first).to_be_visible()
    headings = {"movers?confirmed=": "Largest price moves", "market": "Market", "watchlist": "Watchlist"}
    for view, heading in headings.items():
        reader.goto(re.sub("#.*", "", reader.url) + f"#/{view}")
        expect(reader.get_by_role("heading", name=heading)).to_be_visible()
        expect(reader.locator("#view tbody tr").first).to_be_visible()
        expect(reader.locator("#status.error")).to_have_count(0)
    assert [url for url in failed(visit) if "missing" not in url] == []


@pytest.mark.parametrize("host", HOSTS[::2], ids=lambda host: host.__name__)
def test_a_tree_has_the_pictures_that_the_service_draws(
    visit: Visit, demo_service: tuple[Service, str], servers: Callable, tmp_path: Path, host: Host
) -> None:
    """Such an image has no host in its address: it is a file of the tree."""
    store = Path(demo_service[0].store)
    with host(store, tmp_path, servers) as base:
        page = opened(visit, base)
        shown = page.locator(".card img")
        expect(shown.first).to_have_js_property("complete", True)
        assert (shown.first.get_attribute("src") or "").startswith("/explore/drawn/")
        assert shown.first.evaluate("image => image.naturalWidth") > 0
        page.locator(".card:has(img)").first.click()
        expect(page.locator(".product .picture img")).to_have_js_property("complete", True)
        assert page.locator(".product .picture img").evaluate("image => image.naturalWidth") > 0
        expect(page.get_by_role("figure").first).to_be_visible()
        page.goto(f"{base}/")
        expect(page.get_by_role("link", name="look at the cards")).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert failed(visit) == []


def test_a_tree_says_what_needs_the_service(reader: Page) -> None:
    reader.get_by_label("Find a card").fill("ember")
    expect(reader.locator("#status")).to_contain_text("Searching needs the service itself")


def test_the_reference_of_a_tree_is_read_and_searched(reader: Page, tree: str) -> None:
    reader.goto(f"{tree}/docs/#getBulkFile")
    expect(reader).to_have_url(f"{tree}/docs/bulk.html#getBulkFile")
    reader.get_by_role("searchbox").fill("rarity card")
    reader.locator("#found a", has_text="rarity").first.click()
    expect(reader.locator("h1")).to_be_visible()
    expect(reader.get_by_role("link", name="Start", exact=True)).to_be_visible()
