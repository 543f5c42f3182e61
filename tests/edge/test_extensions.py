"""Extensions of Flask beside the API and beside views of one's own: one test each."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sentry_sdk
from flask import Flask, request
from flask_cors import CORS
from flask_limiter import Limiter
from flask_login import LoginManager, UserMixin, current_user, login_required, login_user
from opentelemetry.instrumentation.flask import FlaskInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sentry_sdk.envelope import Envelope
from sentry_sdk.integrations.flask import FlaskIntegration
from sentry_sdk.transport import Transport

from edge_auth import create_app, needs_key
from edge_auth.api.auth import address_of
from edge_auth.api.flask_app import this_request, this_service
from generator.storage.keys import CARDS_READ, issue, open_key_file

pytestmark = pytest.mark.shim_only("makes its own applications")
CARDS = "/api/v1/cards?limit=1"
PAGE = "https://shop.example"


@pytest.fixture
def app(store: str, tmp_path: Path) -> Flask:
    app = create_app(store=store, state=str(tmp_path / "state"))

    @app.get("/mine")
    @needs_key("cards:read")
    def mine() -> str:
        return "mine"

    @app.get("/sold")
    def sold() -> str:
        raise ZeroDivisionError

    return app


@pytest.fixture
def bearer(store: str) -> Callable[[int], dict[str, str]]:
    def made(limit: int = 100) -> dict[str, str]:
        key, record = issue("a visitor", [CARDS_READ], limit, None, 0)
        open_key_file(store).add(record)
        return {"Authorization": f"Bearer {key}"}

    return made


def test_flask_limiter_bounds_views_of_the_api_and_ones_own(app: Flask, bearer: Callable[..., Any]) -> None:
    def who() -> str:
        return address_of(this_request(), this_service())

    Limiter(who, app=app, default_limits=["2/minute"], storage_uri="memory://")
    client, key = app.test_client(), bearer()
    for path in ("/mine", CARDS):  # each view is counted by its name
        assert [client.get(path, headers=key).status_code for _ in range(3)] == [200, 200, 429]


@pytest.fixture
def events() -> Iterator[list[Any]]:
    """What Sentry would send."""
    sent: list[Any] = []

    class Kept(Transport):
        def capture_envelope(self, envelope: Envelope) -> None:
            sent.append(envelope.get_event())

    sentry_sdk.init("http://key@127.0.0.1/1", integrations=[FlaskIntegration()], transport=Kept)
    yield sent
    sentry_sdk.init()


def test_sentry_is_told_of_failures_with_their_view(events: list[Any], app: Flask) -> None:
    app.before_request(lambda: 1 // len(request.args))
    for path in ("/sold", "/api/v1/cards"):
        assert app.test_client().get(path).status_code == 500
    told = [(one["transaction"], one["exception"]["values"][-1]["type"]) for one in events]
    assert told == [("sold", "ZeroDivisionError"), ("cards.list_cards", "ZeroDivisionError")]


def test_opentelemetry_names_spans_by_route(app: Flask, bearer: Callable[..., Any]) -> None:
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    FlaskInstrumentor().instrument_app(app, tracer_provider=provider)
    try:
        for path in (CARDS, "/mine"):
            assert app.test_client().get(path, headers=bearer()).status_code == 200
        assert app.test_client().get("/sold").status_code == 500
    finally:
        FlaskInstrumentor().uninstrument_app(app)
    found = [(span.name, bool(span.events)) for span in spans.get_finished_spans()]
    assert found == [("GET /api/v1/cards", False), ("GET /mine", False), ("GET /sold", True)]


def test_cors_with_credentials_on_views_of_ones_own(app: Flask, bearer: Callable[..., Any]) -> None:
    CORS(app, resources={"/mine": {"origins": [PAGE]}}, supports_credentials=True)
    client, key = app.test_client(), bearer(1)
    answers = [client.get("/mine", headers=sent | {"Origin": PAGE}) for sent in ({}, key, key)]
    assert [answer.status_code for answer in answers] == [401, 200, 429]
    for answer in answers:
        assert answer.headers.getlist("Access-Control-Allow-Origin") == [PAGE]
        assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    asked = client.get(CARDS, headers={"Origin": PAGE})
    assert (asked.status_code, asked.headers["Access-Control-Allow-Origin"]) == (401, "*")


def test_flask_login_keeps_who_is_logged_in(app: Flask) -> None:
    class User(UserMixin):
        id = "7"

    app.secret_key = "of this test"
    LoginManager(app).user_loader(lambda id_: User())
    app.add_url_rule("/login", view_func=lambda: str(login_user(User())), endpoint="login")
    app.add_url_rule("/account", view_func=login_required(lambda: current_user.id), endpoint="account")
    client = app.test_client()
    assert client.get("/account").status_code == 401
    assert client.get("/login").text == "True"
    assert client.get("/account").text == "7"
    assert client.get(CARDS).json["error"]["code"] == "unauthorized"
