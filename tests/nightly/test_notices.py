"""Pings and notices of a night, received by a real server; services that fail or hang do not fail a night."""

import json
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest.mock import patch

import pytest

from generator.clock import utc_now
from generator.nightly import monitoring
from generator.releases.locks import locked
from generator.storage.errors import StoreError
from generator.storage.layout import NIGHTLY_LOCK
from tests.support.commands import run
from tests.support.lake_edits import empty
from tests.support.nights import demo_lake, published

pytestmark = pytest.mark.xdist_group("nights")


class NoticeService:
    """A server that keeps the requests it receives."""

    def __init__(self, status: int = 200) -> None:
        received = self.received = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def service() -> Iterator[NoticeService]:
    one = NoticeService()
    yield one
    one.server.shutdown()
    one.server.server_close()


def night(lake: Path, store: Path, *options: str, status: int = 0):
    return run("nightly", "--lake", lake, "--store", store, "--json", *options, status=status)


@pytest.mark.thorough
def test_the_begin_and_the_end_of_a_run_are_announced(service: NoticeService, tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    empty("watchlist")(lake)
    notified = f"--notify={service.url}/hook", "--pages-url=https://intranet.example/n/"
    paths = (f"--ping={service.url}/0123?x=1", *notified)
    refused = json.loads(night(lake, store.root, *paths, status=1).stdout)
    assert [path for path, _ in service.received] == ["/0123/start?x=1", "/0123/fail?x=1", "/hook"]
    assert service.received[1][1].decode() == refused["error"]
    message = json.loads(service.received[2][1])
    assert message["outcome"] == "refused" and message["error"] == refused["error"] and not message["succeeded"]
    assert message["differences"] == refused["judgement"]["differences"]
    assert [gate["gate"] for gate in message["gates"]] == ["tables-emptied"] and not message["gates"][0]["forced"]
    assert {game["game"] for game in message["games"]} == {game["game"] for game in refused["games"]}
    assert message["report"] == f"https://intranet.example/n/{refused['run']}/report.html"
    assert message["text"].startswith("cardpress: refused, live ") and message["report"] in message["content"]
    service.received.clear()
    night(lake, store.root, *paths, "--no-pages", "--force", "tables-emptied")
    assert [path for path, _ in service.received] == ["/0123/start?x=1", "/0123?x=1", "/hook"]
    assert json.loads(service.received[2][1])["gates"][0]["forced"]


@pytest.mark.parametrize(
    ("place", "error", "says"),
    [
        ("steps.prune", KeyboardInterrupt(), b"interrupted"),
        ("steps.prune", RuntimeError("Query interrupted"), b"Query interrupted"),
        ("night.with_reserve", StoreError("the report cannot be put"), b"the report cannot be put"),
    ],
)
def test_a_published_night_that_ends_badly_is_told(place, error, says, service: NoticeService, tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7)
    with patch(f"generator.nightly.{place}", side_effect=error):
        night(lake, store.root, f"--ping={service.url}", f"--textfile={tmp_path / 'prom'}", status=1)
    assert service.received[-1] == ("/fail", says)
    assert "cardpress_nightly_success 0\n" in (tmp_path / "prom").read_text()


def test_a_run_that_finds_another_one_tells_nothing(service: NoticeService, tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7)
    with locked(store, NIGHTLY_LOCK, run="the-first", clock=utc_now, seconds=60):
        night(lake, store.root, f"--ping={service.url}", f"--notify={service.url}", status=1)
    assert service.received == []


def test_services_that_fail_or_hang_do_not_fail_a_night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitoring, "_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(monitoring, "_TOTAL_SECONDS", 0.4)
    store, lake, _ = published(tmp_path, 7)
    broken = NoticeService(status=500)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never answers
        hanging = f"http://127.0.0.1:{silent.getsockname()[1]}/secret-hook"
        result = night(lake, store.root, "--no-pages", f"--ping={broken.url}/secret-check", f"--notify={hanging}")
    assert json.loads(result.stdout)["outcome"] == "unchanged"
    assert len(re.findall(r"127\.0\.0\.1 got no notice: ", result.stderr)) == 3
    assert "secret" not in result.stderr


def test_texts_are_cut_and_cannot_call_everyone() -> None:
    report = monitoring.RunReport(
        "r", "lake", "store", "now", outcome="failed", error="<!channel> @everyone " + "x" * 3000
    )
    message = monitoring.notice(report, None)
    assert "<!channel>" not in message["text"] and len(message["content"]) == 2000
    assert message["allowed_mentions"] == {"parse": []}


@pytest.mark.parametrize("option", ["--ping", "--notify", "--pages-url"])
@pytest.mark.parametrize("wrong", ["hooks.example", "ftp://hooks.example/", "http://"])
def test_other_addresses_are_wrong_usage(option: str, wrong: str, tmp_path: Path) -> None:
    assert "is not a URL that begins with" in night(tmp_path, tmp_path, option, wrong, status=2).stderr
