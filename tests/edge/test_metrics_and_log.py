"""What an operator sees of a running shim: its metrics, and its log."""

import json
import os
import signal
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.disks import fill, small_disk
from tests.support.ports import free_port, is_free
from tests.support.service import API, Client, Service, answers, run, until

CARDS, ME = f"{API}/cards", f"{API}/me"


class Seen:
    """A scrape: the value of every sample, by its name and labels."""

    def __init__(self, server: Service, target: str = "/metrics"):
        answer = Client(server.metrics).get(target)
        self.status, self.text = answer.status, answer.text
        families = text_string_to_metric_families(self.text) if answer.status == 200 else ()
        self.samples = {
            (sample.name, frozenset(sample.labels.items())): sample.value for f in families for sample in f.samples
        }

    def __call__(self, name: str, **labels: object) -> float | None:
        wanted = frozenset((label, str(value)) for label, value in labels.items())
        return self.samples.get((f"cardpress_{name}", wanted))


def issued(store: str, rate_limit: int) -> tuple[str, str]:
    """A new key and its id."""
    made = run("keys", "issue", "--store", store, "--name", "a", "--rate-limit", rate_limit)
    return made.stdout.strip(), json.loads(made.stderr)["id"]


def at_once(server: Service, threads: int, each: int, target: str, key: str) -> Counter:
    """Statuses of requests on many connections, so that every worker gets some."""
    statuses: Counter = Counter()

    def ask() -> None:
        for _ in range(each):
            statuses.update([server.get(target, key).status])

    asking = [threading.Thread(target=ask) for _ in range(threads)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    return statuses


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


@pytest.mark.shim_only("nginx counts its own answers")
def test_the_counts_of_two_workers_add_up_exactly(store, state):
    (key, id_), (slow, slow_id) = issued(store, 100_000), issued(store, 1)
    with Service(store, state, metrics=free_port(), workers=2) as server:
        assert at_once(server, 8, 12, f"{CARDS}?q=a", key) == {200: 96}
        assert at_once(server, 4, 5, f"{API}/cards/{10**8}", key) == {404: 20}
        limited = at_once(server, 4, 5, ME, slow)[429]
        server.get(ME)
        server.get(ME, key, "POST")
        server.get(f"{API}/nowhere/else", key)
        server.get("/healthz")
        text = until(lambda: Seen(server)("worker_starts_total") == 2 and Seen(server).text, 60, "both workers count")
        assert text.count("\n") > 50
        seen = Seen(server)
    assert list(state.glob("metrics-*")) == []
    expected = {
        (CARDS, 200): 96, (f"{CARDS}/{{idProduct}}", 404): 20, (ME, 200): 20 - limited, (ME, 429): limited,
        (ME, 401): 1, ("none", 405): 1, ("none", 404): 1,
    }  # fmt: skip
    requests = [labels for name, labels in seen.samples if name == "cardpress_requests_total"]
    assert {(dict(labels)["endpoint"], int(dict(labels)["status"])) for labels in requests} == set(expected)
    for (endpoint, status), number in expected.items():
        assert seen("requests_total", endpoint=endpoint, status=status) == number
    assert seen("request_seconds_count", endpoint=CARDS) == 96
    assert seen("request_seconds_bucket", endpoint=CARDS, le="+Inf") == 96
    assert 0 < seen("request_seconds_sum", endpoint=CARDS) < 96
    assert seen("rate_limited_total", key=slow_id) == limited
    assert seen("rate_limited_total", key=id_) is None
    assert seen("cache_hits_total") >= 96 / 2
    assert seen("cache_hits_total") + seen("cache_misses_total") >= 96 + 20
    assert seen("store_requests_total", operation="get") > 0
    assert seen("store_errors_total", operation="get") == 0
    assert seen("worker_starts_total") == 2
    for secret in (key[9:], slow[9:]):
        assert secret not in seen.text + server.log.read_text()
    logged = Counter((line["endpoint"] or "none", line["status"]) for line in server.logged())
    assert logged == expected


@pytest.mark.thorough
def test_ages(store, state):
    with Service(store, state, metrics=free_port()) as server:
        build = server.get("/api/v1/openapi.json")["X-Build"]
        before, seen, after = time.time(), Seen(server), time.time()
    assert seen("live_build_info", build=build, as_of="2026-08-22") == 1

    def is_logged(age: float | None, *moment: int) -> bool:
        since = datetime(*moment, tzinfo=UTC).timestamp()
        return before - since <= age <= after - since

    assert is_logged(seen("build_age_seconds"), 2026, 8, 22)
    assert is_logged(seen("source_age_seconds", source="price_guide"), 2026, 8, 21)
    assert is_logged(seen("source_age_seconds", source="listings"), 2026, 8, 20, 6)
    assert is_logged(seen("source_age_seconds", source="filtered_checks"), 2026, 8, 22, 12)
    assert seen("source_age_seconds", source="watch_checks") is None


@pytest.mark.thorough
def test_failures_are_counted_by_key_and_logged(store, state):
    key, id_ = issued(store, 100_000)
    with Service(store, state, metrics=free_port()) as server:
        for pack in Path(store, "layers", "fingerprints").rglob("*.gz"):
            pack.unlink()
        assert server.get(f"{API}/fingerprints", key, **{"X-Request-Id": "mine-1"}).status == 500
        seen = Seen(server)
    assert seen("failed_total", key=id_) == 1
    assert seen("requests_total", endpoint=f"{API}/fingerprints", status=500) == 1
    assert seen("store_errors_total", operation="get") >= 1
    failed, answered = server.logged()
    assert failed["request"] == answered["request"] == "mine-1"
    assert "fingerprints" in failed["error"] and "trace" not in failed
    assert (answered["status"], answered["key"], answered["build"]) == (500, id_, None)


@pytest.mark.thorough
def test_metrics_and_log_survive_a_killed_worker(store, state):
    key, _ = issued(store, 100_000)
    with Service(store, state, metrics=free_port(), workers=2) as server:
        assert at_once(server, 4, 10, ME, key) == {200: 40}
        killed = server.workers()[0]
        os.kill(killed, signal.SIGKILL)
        until(lambda: Seen(server)("worker_starts_total") == 3, 60, "another one")
        assert Seen(server)("requests_total", endpoint=ME, status=200) == 40
        until(lambda: answers(server.port), 60, "it answers again")
        assert [server.get(ME, key).status for _ in range(30)] == [200] * 30
        seen = Seen(server)
        files = sorted(file.name for file in state.glob("metrics-*/*.db"))
    assert seen("requests_total", endpoint=ME, status=200) == 70
    # The new worker counts on where the dead one stopped.
    assert files == ["counter_0.db", "counter_1.db", "histogram_0.db", "histogram_1.db"]
    # The dead one may have taken the lines of its last moments with it.
    assert 30 <= sum(line.get("path") == ME for line in server.logged()) <= 70


@pytest.mark.thorough
def test_where_metrics_are_and_are_not(store, state):
    with Service(store, state) as plain:
        assert plain.get("/metrics").status == 404
        refused = run("serve", "--store", store, "--state", state, "--metrics-port", plain.port, status=1)
        assert len(refused.stderr.splitlines()) == 1
        same = free_port()
        refused = run("serve", "--store", store, "--state", state, "--metrics-port", same, "--port", same, status=1)
        assert len(refused.stderr.splitlines()) == 1
    with Service(store, state, metrics=free_port()) as server:
        assert Seen(server).status == 200
        assert Seen(server, "/").status == 404
        assert server.get("/metrics").status == 404
        server.process.kill()
    # The port is free as soon as the shim is gone, and what it left behind is not counted again.
    until(lambda: is_free(server.metrics), 60, "its workers are gone")
    with Service(store, state, metrics=server.metrics) as again:
        seen = Seen(again)
    assert seen("worker_starts_total") == 1
    assert seen("requests_total", endpoint="none", status=404) is None


@pytest.mark.shim_only("answers of nginx are in no metric")
@pytest.mark.thorough
def test_metrics_of_a_shim_that_starts_on_a_full_disk(store, tmp_path):
    """As soon as there is room, it answers and counts."""
    key, _ = issued(store, 100_000)
    with small_disk(tmp_path / "disk", 8 << 20) as disk:
        filler = fill(disk)
        server = Service(store, disk / "state", metrics=free_port(), healthz=503)
        server.log = tmp_path / "log"
        with server:
            assert (server.get(ME, key).status, server.get(CARDS, key).status) == (200, 500)
            assert counted(server) is None
            filler.unlink()
            until(lambda: server.get(CARDS, key).status == 200 and counted(server), 60, "it counts")
            assert Seen(server)("build_age_seconds") is not None


def counted(server: Service) -> float | None:
    return Seen(server)("requests_total", endpoint=CARDS, status=200)


@pytest.mark.thorough
@pytest.mark.shim_only("nginx logs its own answers")
def test_request_ids_in_the_log(store, state):
    key, id_ = issued(store, 100_000)
    taken = ["a.b:c_d-1", "0123456789abcdef" * 2, "9b2e0f0c-8a53-4a6e-9d55-2f6d6a1e4d3c"]
    refused = [key, key[9:], "a b", '"', "x" * 200, ""]
    with Service(store, state) as server:
        asked = [server.get(f"{CARDS}?q={key}", key, **{"X-Request-Id": sent}) for sent in taken + refused]
    assert "x-request-id" not in {name.lower() for answer in asked for name in answer.headers}
    lines = server.logged()
    is_logged = [line["request"] for line in lines]
    assert is_logged[:3] == taken
    assert len(set(is_logged[3:])) == len(refused)
    assert not set(is_logged[3:]) & set(refused)
    assert key[9:] not in server.log.read_text()
    for line, answer in zip(lines, asked, strict=True):
        assert datetime.fromisoformat(line.pop("time")).tzinfo is not None
        assert line.pop("ms") >= 0
        del line["request"]
        assert line == {
            "method": "GET", "path": CARDS, "endpoint": CARDS, "status": answer.status, "bytes": len(answer.body),
            "key": id_, "build": answer["X-Build"],
        }  # fmt: skip
