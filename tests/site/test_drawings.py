"""The drawn cards of a demo: no other host is asked for them, and a photo is recognised."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

from generator.fingerprints.match import match_photo
from generator.fingerprints.pictures import open_picture
from generator.fingerprints.references import read_index
from tests.support.service import Client, Service
from tests.support.serving import eventually

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def client(demo_service: tuple[Service, str]) -> Client:
    service, key = demo_service
    return service.client(key)


@pytest.fixture(scope="module")
def cards(client: Client) -> list[dict]:
    return [
        card for offset in (0, 100, 200) for card in client.get(f"/api/v1/cards?limit=100&offset={offset}").json["data"]
    ]


@pytest.fixture
def page(browser: Browser, demo_service: tuple[Service, str]) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    base = f"http://127.0.0.1:{demo_service[0].port}/"
    page.on("request", lambda request: None if request.url.startswith((base, "data:")) else wrong.append(request.url))
    yield page
    assert wrong == []
    context.close()


def test_pictures_are_served_to_everybody(demo_service: tuple[Service, str], cards: list[dict]) -> None:
    anonymous = demo_service[0].client()
    paths = [card["image"] for card in cards if card["image"]]
    assert len(paths) > 200 and {card["image_large"] for card in cards} <= {None, *paths}
    for path in paths[::20]:
        answer = anonymous.get(path)
        assert (answer.status, answer["Content-Type"]) == (200, "image/svg+xml")
        assert ElementTree.fromstring(answer.text).tag.endswith("svg")
    assert anonymous.get("/explore/drawn/0000000000000000.svg").status == 404


def test_the_demo_asks_no_other_host_and_logs_nothing(page: Page, demo_service: tuple[Service, str]) -> None:
    service, key = demo_service
    page.goto(f"http://127.0.0.1:{service.port}/explore#key={key}")
    expect(page.locator(".card .picture")).to_have_count(50)
    # The page forbids eval, with which `wait_for_function` repeats what is not true at once.
    drawn = "[...document.images].filter((image) => image.complete && image.naturalWidth).length"
    assert eventually(lambda: page.evaluate(drawn) > 8)
    page.locator(".card").first.click()
    expect(page.locator(".headline")).to_be_visible()


def test_a_picture_of_the_screen_is_recognised(
    page: Page, demo_service: tuple[Service, str], client: Client, cards: list[dict], tmp_path: Path
) -> None:
    """The browser draws the pictures here, with its own fonts and edges."""
    index = read_index("the demo", client.get("/api/v1/fingerprints").body)
    singles = [card for card in cards if card["kind"] == "single" and card["image"]]
    assert {card["id_product"] for card in singles} == {id_ for ids in index.products for id_ in ids}
    plain = page.context.new_page()
    plain.set_viewport_size({"width": 252, "height": 352})
    for card in singles[::40]:
        plain.goto(f"http://127.0.0.1:{demo_service[0].port}{card['image']}")
        plain.screenshot(path=tmp_path / "card.png")
        best, second = match_photo(open_picture(tmp_path / "card.png"), index, 2)
        assert card["id_product"] in best.products
        assert best.distance < 20 < second.distance, (card["name"], best, second)
