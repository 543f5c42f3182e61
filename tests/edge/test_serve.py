"""`cardpress serve` and `cardpress keys` as processes."""

import http.client
import json
import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from edge_auth.store.folder import FolderStore
from generator.cli import cli
from tests.support import small_store
from tests.support.service import issue
from tests.support.serving import RunningShim, eventually, is_alive, listens, run


def test_serve(store, tmp_path):
    key = issue(store, rate_limit=30)
    with RunningShim(store, str(tmp_path / "state")) as server:
        assert server.get("/healthz")[0] == 200
        assert server.get("/api/v1/cards?q=a", key)[0] == 200
        assert server.get(f"/api/v1/watchlist/{key}", key)[0] == 404
        assert server.get(f"/api/v1/watchlist/a%0Ab%1B{key[1:]}", key)[0] == 404
        status, _, body = server.get("/api/v1/me", key, "HEAD")
        assert (status, body) == (405, b"")
        with ThreadPoolExecutor(40) as pool:
            answers = list(pool.map(lambda _: server.get("/api/v1/me", key), range(40)))
        windows = {headers["x-ratelimit-reset"] for _, headers, _ in answers}
        accepted = [status for status, _, _ in answers].count(200)
        assert 27 <= accepted <= (30 if len(windows) == 1 else 40)  # a minute may end meanwhile
        assert server.get("/api/v1/watchlist/%ff", key)[0] == 404
        taken = run("serve", "--store", store, "--port", str(server.port))
        assert (taken.returncode, len(taken.stderr.splitlines())) == (1, 1)
    assert server.code == 0
    lines = [json.loads(line) for line in server.log.splitlines()]
    assert sum(line["path"] == "/api/v1/me" and line["status"] in (200, 429) for line in lines) == 40
    assert key[9:] not in server.log
    assert "/api/v1/watchlist/a\\nb\\x1bpm_live_…" in [line["path"] for line in lines]
    assert not any(key in path.read_text() for path in (tmp_path / "store" / "private").rglob("*.json"))


@pytest.mark.thorough
def test_a_change_to_a_key_is_in_force_soon_and_counts_survive_a_restart(store, tmp_path):
    key = issue(store, rate_limit=100_000)
    with RunningShim(store, str(tmp_path / "state"), "--workers", "1") as server:
        _, used, me = server.get("/api/v1/me", key)
    with RunningShim(store, str(tmp_path / "state")) as server:
        again = server.get("/api/v1/me", key)[1]
        turned = again["x-ratelimit-reset"] > used["x-ratelimit-reset"]
        assert turned or again["x-ratelimit-remaining"] == "99998"
        assert run("keys", "revoke", json.loads(me)["id"], "--store", store).returncode == 0
        # 30 in a row, so that both workers are asked; tests/api/test_access.py measures how soon a change is in force.
        assert eventually(lambda: all(server.get("/api/v1/me", key)[0] == 401 for _ in range(30)))


@pytest.mark.thorough
def test_a_log_without_a_reader_delays_no_request(store, tmp_path):
    key = issue(store)
    server = RunningShim(store, str(tmp_path / "state"), "--workers", "1")
    try:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for _ in range(2500):
            connection.request("GET", "/api/v1/me", headers={"X-API-Key": key})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
    finally:
        server.process.terminate()
        assert server.process.wait(timeout=60) == 0


@pytest.mark.thorough
@pytest.mark.shim_only("the port of a shim that was killed")
def test_threads_share_one_heap(store, tmp_path):
    """glibc would reserve 64 MB of addresses for the heap of each of 16 threads, at a multiple of 64 MB."""
    key = issue(store)
    with RunningShim(store, str(tmp_path / "state"), "--workers", "1") as server, ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(lambda _: server.get("/api/v1/cards?q=a", key)[0], range(48)))
        [worker] = server.workers()
        mapped = Path(f"/proc/{worker}/maps").read_text()
    assert set(statuses) == {200}
    spaces = re.findall(r"^(\w+)-\w+ rw-p \S+ \S+ 0 *\n\w+-(\w+) ---p", mapped, re.MULTILINE)
    heaps = [start for start, end in spaces if int(start, 16) % (64 << 20) == 0 == int(end, 16) % (64 << 20)]
    assert len(heaps) <= 2


@pytest.mark.thorough
def test_a_killed_worker_is_replaced_and_a_killed_shim_leaves_none(store, tmp_path):
    server = RunningShim(store, str(tmp_path / "state"), "--workers", "1")
    os.kill(server.workers()[0], signal.SIGKILL)
    assert eventually(lambda: server.get("/healthz")[0] == 200)
    server.process.kill()
    server.process.wait()
    assert eventually(lambda: not listens(server.port))


@pytest.mark.shim_only("nginx ends in its own way")
def test_ctrl_c_in_a_terminal_ends_it_at_once(store, tmp_path):
    """It reaches all processes of the terminal. Other work of this machine may hold up one of three attempts."""
    took = []
    while len(took) < 3 and min(took, default=9) > 3:
        server = RunningShim(store, str(tmp_path / "state"))
        assert server.get("/healthz")[0] == 200
        workers, began = server.workers(), time.monotonic()
        os.killpg(server.process.pid, signal.SIGINT)
        assert eventually(lambda pids=workers: not any(map(is_alive, pids)))
        took.append(time.monotonic() - began)
        assert server.process.wait(60) == 0
    assert min(took) <= 3


@pytest.mark.thorough
def test_serve_without_a_build_waits_for_one(tmp_path):
    with RunningShim(str(tmp_path / "store"), str(tmp_path / "state")) as server:
        assert server.get("/healthz")[0] == 503
        assert server.get("/api/v1/openapi.json")[0] == 500
        small_store.add_build(FolderStore(str(tmp_path / "store")))
        assert server.get("/healthz")[0] == 200
    assert server.code == 0


def test_only_its_user_reads_the_state(store, tmp_path):
    with RunningShim(store, tmp_path / "new" / "state"):
        assert (tmp_path / "new" / "state").stat().st_mode & 0o777 == 0o700


@pytest.mark.thorough
def test_wrong_usage_and_refusals(tmp_path):
    refused = run("serve", "--rate-limit-url", "http://:secret@x", "--store", str(tmp_path))
    assert refused.returncode == 2
    assert "redis://" in refused.stderr
    assert "secret" not in refused.stderr
    assert run("serve", "--trusted-proxy", "nonsense").returncode == 2
    assert run("serve", "--host", "no.such.host.invalid", "--port", "0").returncode == 1


@pytest.mark.thorough
def test_keys_commands(tmp_path):
    store = str(tmp_path)
    wanted = ("--name", "Ana", "--scope", "cards:read", "--expires", "2030-01-01")
    issued = run("keys", "issue", *wanted, CARDPRESS_STORE=store)
    assert re.fullmatch(r"cpm_live_[A-Za-z0-9]{32}\n", issued.stdout)
    record = json.loads(issued.stderr)
    assert record["expires_at"] == "2030-01-01T23:59:59Z"
    assert (record["scopes"], record["rate_limit"], record["prefix"]) == (["cards:read"], 120, issued.stdout[:13])
    id_ = record["id"]
    options = ("--scope", "watchlist:read", "--scope", "fingerprints:read", "--rate-limit", "7", "--expires", "never")
    assert run("keys", "update", id_, "--store", store, *options).returncode == 0
    assert run("keys", "revoke", id_, "--store", store).returncode == 0
    [listed] = json.loads(run("keys", "list", "--json", "--store", store).stdout)
    assert listed == record | {
        "scopes": ["watchlist:read", "fingerprints:read"],
        "rate_limit": 7,
        "expires_at": None,
        "revoked": True,
    }
    table = run("keys", "list", "--store", store).stdout
    assert "Ana" in table
    assert "revoked" in table
    unknown = run("keys", "revoke", "unknown", "--store", store)
    assert (unknown.returncode, len(unknown.stderr.splitlines())) == (1, 1)
    for wrong in (
        ("issue",), ("issue", "--name", "x", "--scope", "all"), ("issue", "--name", "x", "--rate-limit", "0"),
        ("issue", "--name", "x", "--expires", "soon"), ("issue", "--name", "x", "--expires", "2020-01-01"),
        ("update", id_), ("issue", "--name", " "),
    ):  # fmt: skip
        assert CliRunner().invoke(cli, ["keys", *wrong, "--store", store]).exit_code == 2


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["elsewhere", "elsewhere/mine.json"])
def test_key_records_elsewhere(tmp_path, store, where):
    keys = str(tmp_path / where)
    key = run("keys", "issue", "--store", store, "--keys", keys, "--name", "a").stdout.strip()
    assert run("keys", "list", "--json", "--store", store).stdout.strip() == "[]"
    with RunningShim(store, str(tmp_path / "state"), "--keys", keys, "--workers", "1") as server:
        assert server.get("/api/v1/me", key)[0] == 200
