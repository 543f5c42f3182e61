"""The scanner in a browser: it finds the cards of the demo on photos, asks this host only, and is easy to use."""

import base64
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps
from playwright.sync_api import Browser, FilePayload, Locator, Page, Request, expect

from bench.scan_photos import photo_of
from generator.fingerprints.match import views
from generator.fingerprints.recipe import fingerprint
from tests.site.conftest import watched_page
from tests.site.test_accessibility import assert_accessible, overflow
from tests.support.commands import issue
from tests.support.selection import mostly_thorough
from tests.support.service import ROOT, Client, Service

pytestmark = pytest.mark.thorough

VECTORS = json.loads((ROOT / "docs" / "fingerprint-vectors.json").read_text())
PARTS = ("art_p", "art_d", "card_p", "colour")
FINGERPRINT = """async ({name, width, height, bytes}) => {
  const {fingerprint, onWhite, texts, views} = await import("/explore/fingerprint.js");
  const data = Uint8ClampedArray.from(atob(bytes), (letter) => letter.charCodeAt(0));
  return views(onWhite({width, height, data})).map((view) => texts(fingerprint(view)));
}"""
DISTANCE = """async ({one, other}) => {
  const {readIndex, search} = await import("/explore/fingerprint.js");
  const index = (entry) => readIndex({
    version: "cardpress-1", image_url: "{key}", entries: [{...entry, key: "a", products: []}],
  });
  const {hashes} = index(one);
  const colour = Uint8Array.from(one.colour.match(/../g), (digits) => parseInt(digits, 16));
  return search([{hashes, colour}], index(other), 1)[0].distance;
}"""


@pytest.fixture
def page(browser: Browser, demo_service: tuple[Service, str], requests: list[Request]) -> Iterator[Page]:
    """A page in a new profile. Afterwards check console and requests: GETs to our host only."""
    with watched_page(browser, requests) as page:
        yield page
    base = f"http://127.0.0.1:{demo_service[0].port}/"
    assert [request.url for request in requests if not request.url.startswith((base, "data:"))] == []
    assert {request.method for request in requests} == {"GET"}


@pytest.fixture(scope="module")
def client(demo_service: tuple[Service, str]) -> Client:
    return demo_service[0].client(demo_service[1])


@pytest.fixture(scope="module")
def cards(client: Client) -> list[dict[str, Any]]:
    """Cards whose drawing no other product has."""
    alone = {
        ids["products"][0] for ids in client.get("/api/v1/fingerprints").json["entries"] if len(ids["products"]) == 1
    }
    found = client.get("/api/v1/cards?kind=single&limit=100&sort=name").json["data"]
    return [card for card in found if card["id_product"] in alone][1::12]


@pytest.fixture(scope="module")
def drawings(browser: Browser, demo_service: tuple[Service, str], cards: list[dict[str, Any]]) -> list[Image.Image]:
    """The pictures of the cards as a browser draws them."""
    page = browser.new_page(viewport={"width": 252, "height": 352})
    found = []
    for card in cards[:3]:
        page.goto(f"http://127.0.0.1:{demo_service[0].port}{card['image']}")
        found.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    page.close()
    return found


def as_file(picture: Image.Image, name: str = "photo.jpg") -> FilePayload:
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=80)
    return {"name": name, "mimeType": "image/jpeg", "buffer": data.getvalue()}


def scanner(page: Page, demo_service: tuple[Service, str], key: str = "") -> Page:
    page.goto(f"http://127.0.0.1:{demo_service[0].port}/explore/scan#key={key or demo_service[1]}")
    return page


def choose(page: Page, file: FilePayload) -> None:
    """Choose a picture when the scanner shows, which takes none before the key was accepted."""
    page.locator("#scanner").wait_for()
    page.get_by_label("Choose a picture").set_input_files(file)


def matches(page: Page) -> Locator:
    return page.locator("#matches .match")


@pytest.mark.parametrize("name", mostly_thorough(VECTORS["pictures"], "card", "turned"))
def test_the_browser_computes_the_vectors(page: Page, demo_service: tuple[Service, str], name: str) -> None:
    """The pixels come from Pillow: a canvas does not give back the colours of transparent pixels."""
    expected = VECTORS["pictures"][name]
    with Image.open(ROOT / "docs" / expected["file"]) as image:
        upright = ImageOps.exif_transpose(image).convert("RGBA")
    page.goto(f"http://127.0.0.1:{demo_service[0].port}/explore/scan")
    bytes_ = base64.b64encode(upright.tobytes()).decode()
    found = page.evaluate(FINGERPRINT, {"width": upright.width, "height": upright.height, "bytes": bytes_})
    assert found[0] == {part: expected[part] for part in PARTS}
    if upright.getextrema()[3][0] == 255:
        assert found == [fingerprint(view).texts() for view in views(np.asarray(upright.convert("RGB")))]


@pytest.mark.parametrize("expected", VECTORS["distances"], ids=lambda entry: " to ".join(entry["between"]))
def test_the_browser_computes_the_distances(page: Page, demo_service: tuple[Service, str], expected: dict) -> None:
    page.goto(f"http://127.0.0.1:{demo_service[0].port}/explore/scan")
    one, other = (VECTORS["pictures"][name] for name in expected["between"])
    assert page.evaluate(DISTANCE, {"one": one, "other": other}) == pytest.approx(expected["distance"], abs=1e-9)


def test_a_turned_card_seen_from_the_side_is_found(
    page: Page,
    demo_service: tuple[Service, str],
    cards: list[dict],
    drawings: list[Image.Image],
    requests: list[Request],
) -> None:
    scanner(page, demo_service)
    for card, drawing, degrees in zip(cards, drawings, (20, 140, 275), strict=False):
        choose(page, as_file(photo_of(drawing, degrees)))
        expect(page.get_by_role("status")).to_contain_text(card["name"])
        first = matches(page).first
        expect(first.get_by_role("link")).to_have_attribute("href", f"/explore#/cards/{card['id_product']}")
        price = (card["price_guide"] or {}).get("trend") or (card["filtered_price"] or {}).get("lowest")
        expect(first.locator(".price")).to_have_text(f"€{price:,.2f}" if price else "No price yet")
        expect(first.locator(".sureness")).to_have_text(re.compile(r"^(Very sure|Likely) difference \d+\.\d$"))
        expect(page.locator("#caption")).to_contain_text("The outline of the card.")
    asked = [request.url.partition("/api/v1/")[2] for request in requests if "/api/" in request.url]
    assert asked[:2] == ["me", "fingerprints"]
    assert len(asked) == 2 + 3 and all(path.startswith("cards?ids=") for path in asked[2:])


def test_a_sample_photo_can_be_tried(page: Page, demo_service: tuple[Service, str], requests: list[Request]) -> None:
    """It is a picture of the index, turned, so the page finds that picture and is sure."""
    scanner(page, demo_service)
    page.get_by_role("button", name="Try a sample photo").click()
    expect(matches(page)).to_have_count(5)
    (drawn,) = {r.url.partition("drawn/")[2] for r in requests if "/drawn/" in r.url} - {
        (matches(page).nth(at).locator("img").get_attribute("src") or "").partition("drawn/")[2] for at in range(1, 5)
    }
    expect(matches(page).first.locator("img")).to_have_attribute("src", f"/explore/drawn/{drawn}")
    expect(matches(page).first.locator(".sureness")).to_have_text(re.compile("^(Very sure|Likely) difference"))
    expect(page.locator("#caption")).to_contain_text("The outline of the card.")


def test_a_picture_without_a_card(page: Page, demo_service: tuple[Service, str]) -> None:
    scanner(page, demo_service)
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 256, (30, 21, 3), np.uint8)).resize((420, 600))
    choose(page, as_file(noise))
    expect(page.get_by_role("status")).to_contain_text("No card looks like this one.")
    expect(matches(page)).to_have_count(5)
    expect(matches(page).first).to_contain_text("Probably another card")


def test_a_pasted_and_a_dropped_picture(
    page: Page, demo_service: tuple[Service, str], cards: list[dict], drawings: list[Image.Image]
) -> None:
    scanner(page, demo_service)
    expect(page.locator("#index-size")).to_contain_text("pictures of cards")
    for event, field, card, drawing in (
        ("paste", "clipboardData", cards[0], drawings[0]),
        ("drop", "dataTransfer", cards[1], drawings[1]),
    ):
        page.evaluate(
            """async ({event, field, bytes}) => {
              const transfer = new DataTransfer();
              transfer.items.add(new File([Uint8Array.from(bytes)], "card.jpg", {type: "image/jpeg"}));
              const options = {bubbles: true, cancelable: true, [field]: transfer};
              document.getElementById("drop").dispatchEvent(
                event === "paste" ? new ClipboardEvent(event, options) : new DragEvent(event, options));
            }""",
            {"event": event, "field": field, "bytes": list(as_file(drawing)["buffer"])},
        )
        expect(page.get_by_role("status")).to_contain_text(card["name"])
        expect(page.locator("#caption")).to_contain_text("No outline: the whole photo was compared.")


def test_what_is_no_picture(page: Page, demo_service: tuple[Service, str]) -> None:
    scanner(page, demo_service)
    wrong: FilePayload = {"name": "a.jpg", "mimeType": "image/jpeg", "buffer": b"no picture"}
    choose(page, wrong)
    expect(page.get_by_role("status")).to_have_text("This is no picture that your browser can read.")
    choose(page, as_file(Image.new("RGB", (20, 300))))
    expect(page.get_by_role("status")).to_contain_text("too small")


def test_keys(page: Page, demo_service: tuple[Service, str]) -> None:
    """The form takes a key by keyboard alone. A key without the scope is refused in a line."""
    service, key = demo_service
    limited = issue(service.store, "cards:read", name="no fingerprints")
    page.goto(f"http://127.0.0.1:{service.port}/explore/scan")
    expect(page.get_by_label("API key")).to_be_focused()
    page.keyboard.type(limited)
    page.keyboard.press("Enter")
    expect(page.locator("#key-error")).to_contain_text("lacks the scope fingerprints:read")
    page.get_by_label("API key").fill(key)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Choose a picture")).to_be_focused()
    page.reload()
    expect(page.get_by_label("Choose a picture")).to_be_focused()
    page.get_by_text("Menu", exact=True).click()
    page.get_by_role("button", name="Forget the key").click()
    expect(page.get_by_label("API key")).to_be_focused()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_card_whose_artwork_another_shares(
    page: Page, demo_service: tuple[Service, str], client: Client, cards: list[dict], drawings: list[Image.Image]
) -> None:
    """The second entry has the artwork of the first, and a product of its own."""
    index = client.get("/api/v1/fingerprints").json
    first = next(entry for entry in index["entries"] if cards[0]["id_product"] in entry["products"])
    other = next(entry for entry in index["entries"] if entry is not first)
    shared = {part: first[part] for part in ("art_p", "art_d", "colour")}
    other |= shared | {"card_p": f"{int(first['card_p'], 16) ^ 0b11111:016x}"}
    page.context.route("**/api/v1/fingerprints", lambda route: route.fulfill(json=index))
    scanner(page, demo_service)
    choose(page, as_file(drawings[0]))
    expect(page.get_by_role("status")).to_contain_text("Another card looks nearly the same: compare the pictures.")
    expect(matches(page).first.locator(".sureness")).to_contain_text("Likely")  # not sure, however near it is
    expect(matches(page).nth(1)).to_contain_text("It looks nearly the same")
    expect(page.locator(".second")).to_have_count(1)


def test_an_index_without_entries_is_explained(page: Page, demo_service: tuple[Service, str]) -> None:
    empty = {"version": "none", "image_url": "{key}", "count": 0, "entries": []}
    page.context.route("**/api/v1/fingerprints", lambda route: route.fulfill(json=empty))
    scanner(page, demo_service)
    expect(page.locator("#drop").get_by_role("status")).to_have_text(
        "There are no pictures to compare with: the index of fingerprints has no entries."
    )
    expect(page.locator("#drop").get_by_role("link")).to_have_text("Look the card up by its name")
    expect(page.get_by_label("Choose a picture")).to_have_count(0)


def test_accessible_in_both_themes_at_all_widths(
    page: Page, demo_service: tuple[Service, str], drawings: list[Image.Image]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"http://127.0.0.1:{demo_service[0].port}/explore/scan")
    assert_accessible(page)
    scanner(page, demo_service).reload()
    choose(page, as_file(photo_of(drawings[0], 20)))
    expect(matches(page)).to_have_count(5)
    assert_accessible(page)
    for width in (390, 600, 768, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert overflow(page) == [], width
