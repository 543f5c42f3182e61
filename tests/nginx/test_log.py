"""The log and the metrics of nginx: each answer is in one log, without keys, and in one count."""

import json
import re
import signal
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.nginx import CARDS, LIMIT, cached
from tests.support.raw_requests import MALFORMED, get, send
from tests.support.service import API, Client, HttpAnswer, Service, children, until

FIELDS = {"time", "method", "path", "endpoint", "status", "bytes", "ms", "key", "request", "build"}
USABLE = ["a.b:c_d-1", "0123456789abcdef" * 2, "9b2e0f0c-8a53-4a6e-9d55-2f6d6a1e4d3c", "x" * 31]


class Logs:
    """The logs of a shim and of the nginx before it, as they are written from now on."""

    def __init__(self, service: Service):
        self._files = {"edge": service.folder / "access.log", "shim": service.log}
        self._from = {side: file.stat().st_size for side, file in self._files.items()}

    def text(self, side: str) -> bytes:
        return self._files[side].read_bytes()[self._from[side] :].rpartition(b"\n")[0]

    def lines(self, side: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text(side).splitlines() if b'"method"' in line]

    def requests(self, number: int) -> dict[str, list[dict[str, Any]]]:
        """Return the lines of both logs, as soon as they are so many."""

        def complete() -> bool:
            return sum(self.text(side).count(b'"method"') for side in self._files) >= number

        until(complete, LIMIT, f"{number} requests are logged")
        return {side: self.lines(side) for side in self._files}


@pytest.fixture
def logs(service: Service) -> Logs:
    return Logs(service)


def scraped(service: Service) -> Counter[tuple[str, str, str]]:
    """Return what nginx has counted, by endpoint, status and cache."""
    answer = Client(service.metrics_port).get("/metrics")
    assert (answer.status, answer["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    [family] = text_string_to_metric_families(answer.text)
    labels = ("endpoint", "status", "cache")
    assert {sample.name for sample in family.samples} <= {"cardpress_edge_requests_total"}
    return Counter({tuple(s.labels[label] for label in labels): int(s.value) for s in family.samples})


@pytest.mark.thorough
def test_a_line_of_nginx_says_what_one_of_the_shim_says(service: Service, key: str, logs: Logs) -> None:
    client = service.client(key)
    tag = client.get(CARDS)["ETag"]
    sent = [{"If_None_Match": tag}, {}, {"Accept_Encoding": "gzip"}]  # the shim answers each of them first
    hits = [until(lambda headers=headers: hit(client.get(CARDS, **headers)), LIMIT, "a hit") for headers in sent]
    own = ("time", "ms", "request")
    for answer in hits:
        line, of_shim = (line_of(answer, side, logs) for side in ("edge", "shim"))
        assert line.pop("cache") == "hit" and line.keys() == of_shim.keys() == FIELDS
        assert abs(datetime.fromisoformat(line["time"]) - datetime.now(UTC)) < timedelta(minutes=5)
        assert isinstance(line["ms"], float) and re.fullmatch("[0-9]+-[0-9]+-[0-9]+", line["request"])
        assert [line.get(name) for name in FIELDS.difference(own)] == [of_shim[name] for name in FIELDS.difference(own)]


def line_of(answer: HttpAnswer, side: str, logs: Logs) -> dict[str, Any]:
    """Return the line of one log that has the status and the size of an answer, as soon as it is there."""
    wanted = answer.status, len(answer.body)

    def found() -> dict[str, Any] | None:
        return next((line for line in logs.lines(side) if (line["status"], line["bytes"]) == wanted), None)

    return until(found, LIMIT, f"{side} logs {wanted}")


def hit(answer: HttpAnswer) -> HttpAnswer | None:
    return answer if answer["X-Cache"] == "HIT" else None


def test_each_answer_is_in_one_log_and_one_count(service: Service, key: str, logs: Logs) -> None:
    """Hits and what nginx refuses are in its own log, all others in that of the shim. /healthz is in none."""
    client, before = service.client(key), scraped(service)
    asked: Counter[tuple[str, str, str]] = Counter()

    def ask(answer: Any, endpoint: str, cache: str | None = None) -> None:
        asked[endpoint, str(answer.status), cache or (answer["X-Cache"] or "miss").lower()] += 1

    def enough() -> bool:
        ask(client.get(CARDS), f"{API}/cards")
        ask(client.get(f"{API}/cards/100000000"), f"{API}/cards/{{idProduct}}")
        client.get("/healthz")
        return asked[f"{API}/cards", "200", "hit"] >= 30

    until(enough, LIMIT, "30 hits")
    ask(service.client().get(CARDS), f"{API}/cards")
    ask(client.get(f"{API}/nowhere"), "none")
    ask(client.get("/_refused"), "none")
    ask(client.get("/docs"), "/docs, /explore")
    ask(client.send("POST", CARDS), "none")
    for request in MALFORMED.values():
        ask(send(service.port, request), "none", "none")
    until(lambda: scraped(service) - before >= asked, LIMIT, f"nginx counts {asked}")
    assert scraped(service) - before == asked
    found = logs.requests(asked.total())
    of_edge = Counter(
        (line["endpoint"] or "none", str(line["status"]), line.get("cache", "none")) for line in found["edge"]
    )
    of_shim = Counter((line["endpoint"] or "none", str(line["status"]), "miss") for line in found["shim"])
    assert of_edge + of_shim == asked
    assert {line["key"] for line in found["edge"] if "cache" in line} == {client.get(f"{API}/me").json["id"]}


LEAKS: dict[str, Callable[[Service, str], object]] = {
    "the query": lambda service, key: service.client(key).get(f"{API}/sets?q={key}"),
    "an id": lambda service, key: [
        service.client(key).get(CARDS, X_Request_Id=id_) for id_ in (key, key[9:], key.upper())
    ],
    "a path": lambda service, key: get(service.port, f"{API}/{key}/<{key[9:]}".encode()),
    "an escaped path": lambda service, key: get(
        service.port, f"{API}/<{''.join(f'%{ord(c):x}' for c in key)}".encode()
    ),
    "the method": lambda service, key: send(
        service.port, f"{key[9:].upper()} {API}/<{key} HTTP/1.1\r\nHost: x\r\n".encode()
    ),
}


def test_keys_are_in_no_log(service: Service, key: str, logs: Logs) -> None:
    cached(service.client(key))
    for leak in LEAKS.values():
        for _ in range(10):
            leak(service, key)
    number = len(logs.requests(10 * len(LEAKS))["edge"])
    get(service.port, b"/<")
    until(lambda: len(logs.lines("edge")) > number, LIMIT, "the last line is there")
    for side in ("edge", "shim"):
        assert key[9:].lower().encode() not in logs.text(side).lower()


@pytest.mark.thorough
def test_ids_of_clients(service: Service, key: str, logs: Logs) -> None:
    """Both sides take the same ids."""
    refused = [key, key[9:], "a b", '"', "x" * 200, "", "x" * 32, "a\\b"]
    client = service.client(key)
    cached(client)
    until(lambda: all(hit(client.get(CARDS)) for _ in range(20)), LIMIT, "all processes of nginx have the answer")
    for sent in USABLE + refused:
        client.get(CARDS, X_Request_Id=sent)
        client.get(f"{API}/me", X_Request_Id=sent)
    client.get(CARDS, X_Request_Id="last")
    until(lambda: b'"last"' in logs.text("edge"), LIMIT, "the last line is there")
    for side in ("edge", "shim"):
        logged = [line["request"] for line in logs.lines(side)]
        assert [id_ for id_ in logged if id_ in USABLE] == USABLE
        assert not set(logged) & set(refused) and len(set(logged)) == len(logged)


@pytest.mark.thorough
def test_lines_of_what_no_text_can_be(service: Service, logs: Logs) -> None:
    for path in (
        b"/\xff\xfe<",
        b"/%ff%01%0a<",
        b"/" + b"\xe2\x80\xa6" * 300 + b"<",
        b"/" + b"a/" * 400 + b"<",
        b'/"\\<',
        b"/<" + b"%2e" * 325 + b"/" + b"0123456789abcdef" * 3,  # read as far as the middle of what may be a key
    ):
        assert get(service.port, path).status == 400
    paths = {line["path"] for line in logs.requests(6)["edge"]}
    assert {"/\\xff\\xfe<", "/\\xff\\x01\\x0a<", '/"\\<', "/<" + "." * 325 + "/"} < paths and len(paths) == 6
    assert all(len(path) <= 500 for path in paths)


@pytest.mark.thorough
def test_counts_survive_a_reload(service: Service, key: str) -> None:
    client = service.client(key)
    cached(client)
    answers = sum(client.get(CARDS)["X-Cache"] == "HIT" for _ in range(20))
    series = (f"{API}/cards", "200", "hit")
    before = until(lambda: (n := scraped(service)[series]) > answers and n, LIMIT, "hits are counted")
    older = set(children(service.nginx.pid))
    service.nginx.send_signal(signal.SIGHUP)
    until(lambda: older.isdisjoint(children(service.nginx.pid)), LIMIT, "nginx has only new processes")
    assert scraped(service)[series] == before
