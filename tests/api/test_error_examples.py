"""Every example of an error in the published description is what a service says to the same request.

`make golden` records these messages in `generator/site/refusals.csv`.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from edge_auth.api.blueprints import ENDPOINTS
from edge_auth.api.endpoint import Endpoint
from edge_auth.errors import (
    ApiError,
    ExpiredKey,
    InsufficientScope,
    InternalError,
    InvalidKey,
    InvalidParameter,
    MethodNotAllowed,
    NoKey,
    RateLimited,
    RevokedKey,
)
from edge_auth.parameters import BuildId, Choice, IdList, Integer, NameList, Price, ProductId, Rule, Text, TextList
from generator.releases.publish import publish
from generator.site.openapi import document, errors_of
from generator.site.texts import PARAMETERS, STATUSES, Prose
from generator.storage import layout
from generator.storage.keys import DEFAULT_RATE_LIMIT, KEY_PREFIX, SCOPES, issue, open_key_file
from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.lakes import write
from tests.support.nights import make
from tests.support.recorded import Recorded
from tests.support.service import ROOT, HttpAnswer, Service
from tests.support.shim_clients import WsgiClient

pytestmark = [pytest.mark.xdist_group("error examples"), pytest.mark.thorough]  # one process: one shim
LIVE_BUILD = "2026-08-22-3f9a1c0b7d52"
EXPIRY = "2025-12-31T23:59:59Z"
SLUGS = ("emberfox-ex-asp012", "emberfox-v-asp013", "emberfox-vmax-asp014")
RECORDED = ROOT / "generator" / "site" / "refusals.csv"
DOCUMENT = json.loads(document())
OPERATIONS = {path: item["get"] for path, item in DOCUMENT["paths"].items()}
REFUSALS = {  # of each path by status
    path: {
        status: response["content"]["application/json"].get("examples", {})
        for status, response in operation["responses"].items()
        if status >= "400"
    }
    for path, operation in OPERATIONS.items()
}
MESSAGES = {
    (path, code): example["value"]["error"]["message"]
    for path, of_path in REFUSALS.items()
    for of_status in of_path.values()
    for code, example in of_status.items()
}
WAIT = re.compile(r"wait \d+ seconds")
FILE_SIZE = re.compile(r"the file has \d+ bytes")
FOR_FILES = 10  # times the limit of a key


_KEY_OF: Mapping[type[ApiError], str] = {
    NoKey: "",
    InvalidKey: "wrong",
    ExpiredKey: "expired",
    RevokedKey: "revoked",
    InsufficientScope: "without scopes",
    RateLimited: "spent",
}

_BAD_TEXTS = {ProductId: "x", Choice: "other", Price: "1.234", IdList: "1,x", TextList: "a,,b", NameList: "\n"}


@dataclass(frozen=True)
class RefusedRequest:
    target: str
    method: str = "GET"
    key: str = "valid"  # or what is wrong with it; '' for none
    headers: Mapping[str, str] = field(default_factory=dict)


def refused_requests(
    endpoint: Endpoint, errors: Sequence[type[ApiError]], prose: Prose
) -> dict[type[ApiError], RefusedRequest]:
    """Return a request for each error of an endpoint that a request can get."""
    subject = "...".join(prose.sentence(endpoint.path, PARAMETERS, name).example for name in endpoint.subjects)
    path = _target(endpoint, subject)
    target = path + _needed_query(endpoint, prose)
    key = "" if endpoint.public else "valid"
    found: dict[type[ApiError], RefusedRequest] = {
        InvalidParameter: RefusedRequest(f"{path}?{_bad_query(endpoint)}", key=key),
        MethodNotAllowed: RefusedRequest(target, "POST", key),
        InternalError: RefusedRequest(target, key=key),
        **{error: RefusedRequest(target, key=kind) for error, kind in _KEY_OF.items()},
    }
    if endpoint.scope is None:
        del found[InsufficientScope]
    of_prose: list[type[ApiError]] = [InvalidParameter, *endpoint.errors]
    for error in of_prose:
        if given := prose.sentence(endpoint.path, STATUSES, str(error.status)).example:
            found[error] = _given_request(endpoint, target, given, key)
        else:
            assert error not in endpoint.errors, (
                f"generator/site/operations.md: the row '{error.status}' for {endpoint.path} has no request: "
                "write it below 'such as'"
            )
    return {error: found[error] for error in errors if error in found}


def _target(endpoint: Endpoint, subject: str) -> str:
    before, _, rest = endpoint.path.partition("{")
    return before + subject + rest.rpartition("}")[2] if rest else before


def _needed_query(endpoint: Endpoint, prose: Prose) -> str:
    names = [name for name, one in endpoint.parameters.items() if one.required]
    examples = {name: prose.sentence(endpoint.path, PARAMETERS, name).example for name in names}
    return f"?{urlencode(examples)}" if examples else ""


def _bad_query(endpoint: Endpoint) -> str:
    for name, one in endpoint.parameters.items():
        return urlencode({name: _bad_text(one.rule)})
    return "limit=5"


def _bad_text(rule: Rule) -> str:
    match rule:
        case Integer():
            return str(rule.low - 1 if rule.high is None else rule.high + 1)
        case BuildId():
            return ""
        case Text():
            return "" if rule.refuses_empty else "x" * (rule.max_characters + 1)
    return _BAD_TEXTS[type(rule)]


def _given_request(endpoint: Endpoint, target: str, given: str, key: str) -> RefusedRequest:
    """Return the request that a row gives as a query, as a header, or as the variable part of the path."""
    name, colon, value = given.partition(": ")
    if colon:
        return RefusedRequest(target, key=key, headers={name: value})
    return RefusedRequest(target + given if given.startswith("?") else _target(endpoint, given), key=key)


@dataclass
class Tried:
    """A service, its keys by what is wrong with them, and the real names of what the examples name."""

    service: Service
    keys: dict[str, str]
    live: str
    file: str

    def send(self, request: RefusedRequest) -> HttpAnswer:
        key = self.keys.get(request.key)
        target = re.sub(r"sets-[0-9a-f]{12}\.parquet", self.file, request.target)
        attempts = DEFAULT_RATE_LIMIT * FOR_FILES * 3 if request.key == "spent" else 1  # a minute may end meanwhile
        client = self.service.client(key)
        for _ in range(attempts):
            answer = client.send(request.method, target, request.headers)
            if answer.status == 429:
                break
        return answer

    def as_in_examples(self, message: str) -> str:
        """A message of this service with the names and numbers of the examples."""
        message = message.replace(self.live, LIVE_BUILD)
        return FILE_SIZE.sub("the file has 4096 bytes", WAIT.sub("wait 17 seconds", message))


def keys_of_each_kind(location: Path) -> dict[str, str]:
    found = {"wrong": KEY_PREFIX + "a" * 32}
    kinds = {"valid": {"rate_limit": 10**6}, "spent": {}, "without scopes": {"scopes": ()}}
    for kind, more in (kinds | {"expired": {"expires_at": EXPIRY}, "revoked": {"revoked": True}}).items():
        found[kind], record = issue(kind, SCOPES, DEFAULT_RATE_LIMIT, None, 0)
        open_key_file(str(location)).add(replace(record, **more))
    return found


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose watchlist is that of the examples."""
    folder = tmp_path_factory.mktemp("examples")
    rows = small_store.rows(small_store.products(20))
    url = "https://www.cardmarket.com/en/Pokemon/Products/Singles/Ashen-Peaks/{}"
    watched = [{"slug": slug, "name": slug, "url": url.format(slug)} for slug in SLUGS]
    make(write(replace(rows, watchlist=watched), folder / "lake"), FolderStore(str(folder / "store")))
    return folder / "store"


@pytest.fixture(scope="module")
def tried(location: Path) -> Iterator[Tried]:
    store = FolderStore(str(location))
    [live] = map(layout.id_of, store.list(layout.BUILDS))
    publish(store, live, by_hand=True)
    keys = keys_of_each_kind(location)
    with Service(location, location.parent / "state") as service:
        listed = service.client(keys["valid"]).get("/api/v1/bulk").json["files"]
        yield Tried(service, keys, live, listed[0]["name"])


Messages = dict[tuple[str, str], str]  # by path and code


def requests() -> dict[tuple[str, str], RefusedRequest]:
    prose = Prose()
    return {
        (endpoint.path, error.code): request
        for endpoint in ENDPOINTS
        for error, request in refused_requests(endpoint, errors_of(endpoint), prose).items()
    }


@pytest.fixture(scope="module")
def said(tried: Tried, broken: WsgiClient) -> Messages:
    """What the service, and one without its store, say to these requests."""
    found = {}
    for (path, code), request in requests().items():
        if code == "internal_error":
            answer = broken.get(request.target, key="" if request.key else None)
        else:
            answer = tried.send(request)
        assert answer.code == code, f"the example of {code} at {request.target}: {answer.code}: {answer.message}"
        found[path, code] = tried.as_in_examples(answer.message)
    return found


def as_table(said: Messages) -> str:
    """The rows of the recorded file: what most paths say stands once, with an empty path."""
    usual: Messages = {}
    for code in dict.fromkeys(code for _, code in said):
        of_code = [message for (_, other), message in said.items() if other == code]
        [(message, count)] = Counter(of_code).most_common(1)
        usual |= {("", code): message} if count > 1 else {}
    rows = usual | {(path, code): text for (path, code), text in said.items() if text != usual.get(("", code))}
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("path", "code", "message"), *((*of, rows[of]) for of in rows)])
    return text.getvalue()


def test_the_service_says_what_is_recorded(said: Messages, recorded: Recorded) -> None:
    if not recorded.write(RECORDED, as_table(said)):
        assert RECORDED.read_text() == as_table(said), "run make golden"


def test_the_description_shows_it(said: Messages) -> None:
    assert said == MESSAGES


@pytest.fixture(scope="module")
def broken(location: Path, tried: Tried, tmp_path_factory: pytest.TempPathFactory) -> WsgiClient:
    """A service whose store breaks before its first request."""
    copy = tmp_path_factory.mktemp("broken")
    client = WsgiClient(str(copy), str(copy.parent / "broken-state"), 1000)
    for name in (layout.POINTER, layout.KEYS):
        (copy / name).write_text("{")
    client.reopen()
    return client


def test_every_error_of_every_endpoint_has_an_example_unless_no_request_gets_it() -> None:
    without = {(path, status) for path, found in REFUSALS.items() for status in found if not found[status]}
    assert without == {("/api/v1/me", "403"), ("/api/v1/status", "403")}
    assert {path for path, _ in MESSAGES} == {endpoint.path for endpoint in ENDPOINTS}


def test_the_example_of_the_schema_is_one_of_them() -> None:
    [example] = DOCUMENT["components"]["schemas"]["Error"]["examples"]
    assert example["error"]["message"] in MESSAGES.values()
