"""Fixtures for tests of the site: a shim over the lake of the examples, and a browser that records violations."""

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, Route, expect, sync_playwright

from generator.demo.lake import write_demo
from generator.storage import layout
from generator.storage.builds import read_pointer
from generator.storage.changes import DocumentEntry, Index, index_to_bytes
from generator.storage.stores.codec import sha256
from generator.storage.stores.folder import FolderStore
from tests.support.commands import build, issue
from tests.support.lakes import write
from tests.support.programs import BROWSERS, path_of, require
from tests.support.service import Service
from tests.support.site_lake import IMAGES, LAKE

# Each new window would load two hidden pages for its address bar, which cost more than ours.
UNUSED = "WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess,PaintHolding,MediaRouter"
QUIET = ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
QUIET += [f"--disable-features={UNUSED}"]
EXAMPLE_STEP = ("2026-08-21-b06af40c7d77", "2026-08-22-f3a5bc844755")
PIXEL = base64.b64decode("R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")
PATIENCE = 30_000  # milliseconds: a busy machine takes longer than the 5 seconds that `expect` waits by itself
expect.set_options(timeout=PATIENCE)
REMEMBER_VIOLATIONS = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective + event.blockedURI));
"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run each half of the alphabet in a process of its own, which starts service and browser once."""
    for item in items:
        if item.nodeid.startswith("tests/site/"):
            half = "first" if item.path.name < "test_l" else "second"
            item.add_marker(pytest.mark.xdist_group(f"site, {half} half"))


def ending(text: str) -> re.Pattern[str]:
    """Return a pattern of addresses that end in a text, for `to_have_url`, which waits."""
    return re.compile(re.escape(text) + "$")


@dataclass
class Visit:
    """A page, and the console messages and requests while it was open."""

    page: Page
    base: str
    key: str
    console: list[str] = field(default_factory=list)
    keeps_key: bool = False  # whether the tab should remember the key at the end
    excused: tuple[str, ...] = (IMAGES,)  # parts of what the browser itself may write to the console
    requests: list[Request] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page

    def enter(self, fragment: str = "#/cards") -> Page:
        """Open the explorer and enter the key."""
        page = self.open("/explore" + fragment)
        page.get_by_label("API key").fill(self.key)
        page.get_by_role("button", name="Open").click()
        page.locator("#key-name", has_text="Key:").wait_for(state="attached")
        self.keeps_key = True
        return page

    def in_menu(self, role: Literal["button", "link"], name: str) -> Locator:
        """Open the menu of the page. Return one of its buttons or links."""
        self.page.get_by_text("Menu", exact=True).click()
        return self.page.locator(".menu").get_by_role(role, name=name)

    def foreign(self) -> list[str]:
        """Return the URLs of requests to other hosts, except for images."""
        ours = urlsplit(self.base).netloc
        return [r.url for r in self.requests if urlsplit(r.url).netloc != ours and r.resource_type != "image"]


@pytest.fixture(scope="session")
def site_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(write(LAKE, folder / "lake"), folder / "store")
    add_example_step(FolderStore(str(folder / "store")))
    return folder / "store"


def add_example_step(store: FolderStore) -> None:
    """Record the step of the examples, as if its builds had been live."""
    old, new = EXAMPLE_STEP
    pointer, etag = read_pointer(store)
    assert pointer and etag
    index: Index = {}
    for from_, to in ((old, new), (new, pointer.build)):
        document = f'{{"from":"{from_}","to":"{to}"}}'.encode()
        store.put(layout.changes_name(from_, to), document)
        index[layout.pair(from_, to)] = DocumentEntry(0, 0, 0, len(document), sha256(document).hex())
    store.put(layout.CHANGES_INDEX, index_to_bytes(index))
    store.swap(layout.POINTER, replace(pointer, moved_from=[new, old]).to_bytes(), etag)


@pytest.fixture(scope="session")
def site_key(site_store: Path) -> str:
    return issue(site_store, name="visitor")


@pytest.fixture(scope="session")
def site_service(site_store: Path, site_key: str) -> Iterator[Service]:
    with Service(site_store, site_store.parent / "state") as service:
        yield service


@pytest.fixture(scope="session")
def demo_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str]]:
    """A shim over a small demo lake, and a key."""
    folder = tmp_path_factory.mktemp("site-demo")
    write_demo(folder / "lake", 300, 40, 1)
    build(folder / "lake", folder / "store")
    key = issue(folder / "store", name="demo")
    with Service(folder / "store", folder / "state") as service:
        yield service, key


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    require("Chromium")
    chromium = next(filter(None, map(path_of, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET, chromium_sandbox=False)
        yield browser
        browser.close()


@contextmanager
def watched_page(browser: Browser, requests: list[Request], excused: str = "nothing") -> Iterator[Page]:
    """Open a page in a new profile. Afterwards its console is empty, and it broke no rule of its policy.

    Args:
        requests: Where its requests are noted.
        excused: What messages begin with that the browser itself may write to the console.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.add_init_script(REMEMBER_VIOLATIONS)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    context.on("request", lambda request: requests.append(request))
    yield page
    assert [text for text in said if not text.startswith(excused)] == []
    assert page.evaluate("violations") == []
    context.close()


@pytest.fixture
def requests() -> list[Request]:
    return []


@pytest.fixture
def visit(browser: Browser, site_service: Service, site_key: str) -> Iterator[Visit]:
    """Open a page in a new browser profile. Afterwards check console, requests to other hosts and stored keys."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(REMEMBER_VIOLATIONS)
    context.route(f"{IMAGES}/**", _image)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    visit = Visit(page, f"http://127.0.0.1:{site_service.port}", site_key)
    page.on("console", lambda said: visit.console.append(f"{said.type} {said.location['url']} {said.text}"))
    page.on("pageerror", lambda error: visit.console.append(str(error)))
    page.on("request", lambda request: visit.requests.append(request))
    yield visit
    assert visit.foreign() == []
    assert [text for text in visit.console if not any(part in text for part in visit.excused)] == []
    assert page.evaluate("violations") == []
    assert [request.url for request in visit.requests if site_key in request.url] == []
    assert site_key not in page.url
    assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    remembered = [["cardpress-key", site_key]] if visit.keeps_key else []
    assert page.evaluate("Object.entries(sessionStorage).filter(([, value]) => value)") == remembered
    context.unroute_all(behavior="ignoreErrors")  # an answer may be on its way through one
    context.close()


def _image(route: Route) -> None:
    """Answer requests for images: 404 for the one that is missing."""
    if "missing" in route.request.url:
        route.fulfill(status=404, body="")
    else:
        route.fulfill(status=200, content_type="image/gif", body=PIXEL)
