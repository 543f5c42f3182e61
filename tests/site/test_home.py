"""The page at /: which form a client gets, under which headers, and what it says about the live build."""

import re

import pytest
from playwright.sync_api import expect

from tests.site.conftest import Visit
from tests.site.test_files import POLICY, Markup
from tests.support.service import Client, Service
from tests.support.site_lake import EMBERFOX

JSON_BODY = {
    "service": "cardpress",
    "version": "1.0.0",
    "docs": "/docs",
    "openapi": "/api/v1/openapi.json",
    "status": "/api/v1/status",
}
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
# Accept, and whether the answer is JSON.
FORMS = {
    "": False,
    "*/*": False,
    BROWSER: False,
    "text/html, application/json": False,
    "application/json, text/html": False,
    "application/json, */*": False,
    "text/plain": False,
    "nonsense": False,
    "application/json": True,
    "application/json;charset=utf-8": True,
    "application/json;q=0.002, text/html;q=0.001": True,
    "text/html;q=0.9, application/json": True,
    "text/html;level=1;q=0.4, application/json;q=0.5": True,
    "text/html;q=0.4, */*;q=0.5": True,
    "text/*;q=0.4, application/*;q=0.5": True,
    "application/json;q=0.4, application/*;q=0.9, text/html;q=0.5": False,
    "application/json;q=0, */*": False,
    "text/html;q=0, */*": True,
    'application/json;profile="a,b;q=0";q=0.9, text/html;q=0.8': True,
    "APPLICATION/JSON;Q=1, TEXT/HTML;Q=0.1": True,
    "text/html ; q=0.1 ,application/json ; q=0.2": True,
}


@pytest.fixture
def anonymous(site_service: Service) -> Client:
    return site_service.client()


@pytest.mark.parametrize(("accept", "is_json"), FORMS.items())
def test_the_form_follows_accept(anonymous: Client, accept: str, is_json: bool) -> None:
    answer = anonymous.get("/", **({"Accept": accept} if accept else {}))
    assert answer.status == 200
    assert answer["Content-Type"] == ("application/json" if is_json else "text/html; charset=utf-8")
    assert not is_json or answer.json == JSON_BODY
    assert "accept" in answer.listed("Vary")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert set(answer["Content-Security-Policy"].split("; ")) == POLICY
    head = anonymous.send("HEAD", "/", {"Accept": accept} if accept else {})
    assert (head.status, head.body, head["ETag"]) == (200, b"", answer["ETag"])
    assert head["Content-Length"] == str(len(answer.body))


def test_each_form_has_its_own_tag(anonymous: Client) -> None:
    page, form = anonymous.get("/"), anonymous.get("/", Accept="application/json")
    assert anonymous.get("/", If_None_Match=page["ETag"]).status == 304
    assert anonymous.get("/", Accept="application/json", If_None_Match=page["ETag"]).status == 200
    assert anonymous.get("/", Accept="application/json", If_None_Match=form["ETag"]).status == 304
    assert anonymous.get("/?a=1&a=1", X_Build="2020-01-01-000000000000").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(anonymous: Client, method: str) -> None:
    answer = anonymous.send(method, "/")
    assert (answer.status, answer.code, answer["Allow"]) == (405, "method_not_allowed", "GET, HEAD")


def test_it_says_what_is_there_and_how_fresh(anonymous: Client, site_service: Service, site_key: str) -> None:
    text = re.sub(r"\s+", " ", Markup(anonymous.get("/").text).text)
    status = site_service.client(site_key).get("/api/v1/status").json
    assert status["build"]["as_of"] in text and status["build"]["id"] in text
    assert f"{status['catalogue']['singles']:,} singles" in text
    assert "cardpress keys issue" in text


def test_it_speaks_to_collectors_first(visit: Visit) -> None:
    """The first screen of a phone: a plain sentence, and two buttons."""
    visit.page.set_viewport_size({"width": 390, "height": 844})
    page = visit.open("/")
    lead = page.locator(".lead")
    expect(lead).to_contain_text("See what any card costs today")
    assert not re.search("API|JSON|endpoint|request", lead.inner_text())
    for name, path in (("Look at the cards", "/explore"), ("Scan a card", "/explore/scan")):
        button = page.get_by_role("link", name=name, exact=True)
        expect(button).to_have_attribute("href", path)
        box = button.bounding_box()
        assert box is not None and box["y"] + box["height"] < 600


def test_its_three_requests_work(anonymous: Client, site_service: Service, site_key: str) -> None:
    targets = [given["data-url"] for _, given in Markup(anonymous.get("/").text).elements if "data-url" in given]
    assert len(targets) == 3 and f"/api/v1/cards/{EMBERFOX}?days=3" in targets
    answers = [site_service.client(site_key).get(target) for target in targets]
    assert [answer.status for answer in answers] == [200] * 3
    assert answers[1].json["data"]


def test_a_key_lasts_for_the_tab(visit: Visit) -> None:
    page = visit.open("/")
    expect(page.get_by_role("button", name="Send it")).to_have_count(0)
    page.get_by_label("API key").fill("cpm_live_wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#key-state")).to_have_class("error")
    visit.excused += ("401 (Unauthorized)",)
    page.get_by_label("API key").fill(visit.key)
    page.keyboard.press("Enter")
    expect(page.locator("#key-state")).to_contain_text("“visitor” is in use")
    page.get_by_role("button", name="Send it").last.click()
    expect(page.locator(".request").last).to_contain_text("200 OK")
    page.reload()
    expect(page.locator("#key-state")).to_contain_text("“visitor” is in use")
    visit.in_menu("button", "Forget the key").click()
    expect(page.get_by_role("button", name="Send it")).to_have_count(0)
