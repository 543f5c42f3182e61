"""Views, sessions, extensions and handlers of one's own, added to the application as to any of Flask."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from flask import Flask, Response, g, got_request_exception, request, session
from flask.views import MethodView
from flask_cors import CORS

from edge_auth import create_app, needs_key
from edge_auth.api.auth import address_of
from generator.storage.keys import CARDS_READ, WATCHLIST_READ, issue, open_key_file
from tests.support.ports import free_port
from tests.support.service import ROOT, Client, answers, environment, running

CARDS = "/api/v1/cards?limit=1"
RATE = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}


class OutOfStock(Exception):
    """An error of the added views."""


def bearer(location: str, *scopes: str, limit: int = 100) -> dict[str, str]:
    key, record = issue("a visitor", scopes, limit, None, 0)
    open_key_file(location).add(record)
    return {"Authorization": f"Bearer {key}"}


pytestmark = pytest.mark.shim_only("makes its own applications")


@pytest.fixture
def app(store: str, tmp_path: Path) -> Flask:
    app = create_app(store=store, state=str(tmp_path / "state"), trusted_proxies=["10.0.0.0/8"])
    app.secret_key = "of this test"
    CORS(app, expose_headers=["X-Mine"], supports_credentials=True)

    @app.get("/mine/<name>")
    @needs_key("cards:read")
    def mine(name: str) -> dict[str, str]:
        return {"name": name, "for": g.key.name}

    @app.get("/visits")
    def visits() -> dict[str, int]:
        session["visits"] = session.get("visits", 0) + 1
        return {"visits": session["visits"]}

    @app.get("/sold")
    def sold() -> str:
        raise OutOfStock

    @app.errorhandler(OutOfStock)
    def out_of_stock(error: OutOfStock) -> tuple[str, int]:
        return "sold", 410

    @app.after_request
    def mark(response: Response) -> Response:
        response.headers["X-Mine"] = str(response.status_code)
        response.set_cookie("seen", "1")
        return response

    return app


def test_a_view_asks_for_key_limit_and_scope(app: Flask, store: str) -> None:
    client, headers = app.test_client(), bearer(store, CARDS_READ, limit=2)
    answer = client.get("/mine/fox", headers=headers)
    assert (answer.status_code, answer.json) == (200, {"name": "fox", "for": "a visitor"})
    assert answer.headers["X-RateLimit-Limit"] == "2" and set(answer.headers.keys()) >= RATE
    assert answer.headers["Cache-Control"] == "private, no-cache" and "Authorization" in answer.vary
    assert client.get("/mine/fox").json["error"]["code"] == "unauthorized"
    assert client.get("/mine/fox", headers={"X-API-Key": "wrong"}).json["error"]["code"] == "invalid_api_key"
    client.get(CARDS, headers=headers)
    refused = client.get("/mine/fox", headers=headers)
    assert (refused.status_code, refused.json["error"]["code"]) == (429, "rate_limited")
    assert int(refused.headers["Retry-After"]) > 0 and set(refused.headers.keys()) >= RATE
    other = client.get("/mine/fox", headers=bearer(store, WATCHLIST_READ))
    assert (other.status_code, other.json["error"]["code"]) == (403, "insufficient_scope")
    assert set(other.headers.keys()) >= RATE


def test_every_answer_can_be_changed(app: Flask, store: str) -> None:
    client, headers = app.test_client(), bearer(store, CARDS_READ)
    plain = client.get(CARDS, headers=headers)
    tag = plain.headers["ETag"]
    answers = {
        200: plain,
        304: client.get(CARDS, headers=headers | {"If-None-Match": tag}),
        400: client.get("/api/v1/cards?limit=0", headers=headers),
        401: client.get(CARDS),
        403: client.get("/api/v1/bulk", headers=headers),
        404: client.get("/nowhere"),
        405: client.post(CARDS),
        204: client.options(CARDS, headers={"Origin": "https://a.example", "Access-Control-Request-Method": "GET"}),
    }
    for status, answer in answers.items():
        assert (answer.status_code, answer.headers["X-Mine"]) == (status, str(status))
        assert answer.headers["Set-Cookie"].startswith("seen=1")
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert plain.json["pagination"]["returned"] == 1
    assert int(plain.headers["Content-Length"]) == len(plain.data)
    assert not answers[304].data and answers[304].headers["ETag"] == tag


def test_what_an_extension_does_to_the_content_is_sent(app: Flask, store: str) -> None:
    @app.after_request
    def shout(response: Response) -> Response:
        response.data = response.get_data().upper()
        response.status_code = 203
        return response

    answer = app.test_client().get("/api/v1/me", headers=bearer(store))
    assert (answer.status_code, answer.data[:8]) == (203, b'{"ID":"K')
    assert int(answer.headers["Content-Length"]) == len(answer.data)


def test_sessions_and_handlers_are_those_of_flask(app: Flask) -> None:
    client = app.test_client()
    assert [client.get("/visits").json["visits"] for _ in range(3)] == [1, 2, 3]
    answer = client.get("/sold")
    assert (answer.status_code, answer.data, answer.headers["X-Mine"]) == (410, b"sold", "410")


def test_extensions_see_what_the_application_answers_from(app: Flask, store: str) -> None:
    with app.app_context():
        service = app.extensions["cardpress"]
    assert service.builds.select().id == app.test_client().get("/healthz").json["build"]
    asked = {"environ_overrides": {"REMOTE_ADDR": "10.1.2.3", "HTTP_X_FORWARDED_FOR": "192.0.2.7"}}
    with app.test_request_context("/", **asked) as context:
        assert address_of(context.request, service) == "192.0.2.7"


def test_flask_lists_the_endpoints(store: str, tmp_path: Path) -> None:
    program = f'edge_auth:create_app(store="{store}", state="{tmp_path / "state"}")'
    listed = subprocess.run(
        [sys.executable, "-m", "flask", "--app", program, "routes"],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert listed.returncode == 0, listed.stderr
    rows = {tuple(line.split()[:3]) for line in listed.stdout.splitlines()}
    assert ("cards.list_cards", "GET", "/api/v1/cards") in rows
    assert ("watchlist.get_watchlist_item", "GET", "/api/v1/watchlist/<text:slug>") in rows


def test_each_view_of_the_api_has_a_name_and_a_module(app: Flask) -> None:
    view = app.view_functions["cards.list_cards"]
    assert (view.__name__, view.__module__) == ("list_cards", "edge_auth.api.cards")


def test_whatever_flask_takes_as_a_view_may_need_a_key(app: Flask, store: str) -> None:
    class Shelf(MethodView):
        decorators = (needs_key("cards:read"),)

        def get(self) -> str:
            return g.key.name

    @app.get("/later")
    @needs_key("cards:read")
    async def later() -> str:
        return g.key.name

    app.add_url_rule("/shelf", view_func=Shelf.as_view("shelf"))
    headers = bearer(store, CARDS_READ)
    with ThreadPoolExecutor(1) as thread:  # a browser of other tests leaves an event loop in this one
        for path in ("/shelf", "/later"):
            answer = thread.submit(app.test_client().get, path, headers=headers).result()
            assert (answer.status_code, answer.text) == (200, "a visitor")
            refused = thread.submit(app.test_client().get, path).result()
            assert refused.json["error"]["code"] == "unauthorized"


@pytest.fixture
def broken(app: Flask) -> Flask:
    """An application of which each answer fails where its address says `broken`."""

    @app.before_request
    def fail() -> None:
        if "broken" in request.args:
            raise ZeroDivisionError

    return app


@pytest.mark.parametrize("path", ["/api/v1/cards", "/docs", "/visits"])
def test_a_failure_is_told_to_extensions_and_raised_where_flask_raises_it(broken: Flask, path: str) -> None:
    told = []
    got_request_exception.connect(note := lambda _, exception: told.append(type(exception)), broken)
    answer = broken.test_client().get(f"{path}?broken")
    assert (answer.status_code, answer.is_json) == (500, path != "/visits")
    assert told == [ZeroDivisionError] and note
    for setting in ("TESTING", "PROPAGATE_EXCEPTIONS"):
        broken.config[setting] = True
        with pytest.raises(ZeroDivisionError):
            broken.test_client().get(f"{path}?broken")
        broken.config[setting] = None


def test_handlers_of_ones_own_are_for_ones_own_views(broken: Flask) -> None:
    for error in (Exception, 404):
        broken.register_error_handler(error, lambda _: ("of my own", 418))
    client = broken.test_client()
    for path in ("/visits?broken", "/nowhere"):
        assert (client.get(path).status_code, client.get(path).data) == (418, b"of my own")
    for path, status in (("/api/v1/cards?broken", 500), ("/api/v1/cards", 401), ("/api/v1/nowhere", 404)):
        answer = client.get(path)
        assert (answer.status_code, set(answer.json)) == (status, {"error"})
        assert answer.headers["Access-Control-Allow-Origin"] == "*"


def test_the_debugger_of_flask_shows_what_failed(store: str, tmp_path: Path) -> None:
    lines = (
        f"from edge_auth import create_app\napp = create_app(store={store!r}, state={str(tmp_path / 'state')!r})",
        "@app.get('/sold')\ndef sold(): raise ZeroDivisionError",
    )
    (tmp_path / "shop.py").write_text("\n".join(lines))
    port = free_port()
    command = [sys.executable, "-m", "flask", "--app", "shop", "run", "--debug", "--no-reload", "--port", port]
    env = environment() | {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    with running(command, tmp_path / "log", lambda: answers(port), cwd=tmp_path, env=env):
        answer = Client(port).get("/sold")
    assert answer.status == 500 and b"ZeroDivisionError" in answer.body and b"Werkzeug Debugger" in answer.body


def test_a_target_without_a_slash_is_refused(app: Flask) -> None:
    answer = app.test_client().get("/", environ_overrides={"PATH_INFO": "cards", "REQUEST_URI": "cards"})
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "invalid_parameter")
