"""`fetch cardmarket` against a server that sends what each test says."""

import gzip
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest

from generator.ingest import downloads
from tests.docs.test_transcripts import market
from tests.support.commands import run

GUIDE, SINGLES = "/priceGuide/price_guide_17.json", "/productList/products_singles_17.json"
Answer = Callable[["FakeShop", BaseHTTPRequestHandler, bytes], None]


class FakeShop:
    """A server of the files of an invented game. `instead` answers for a path; `asked` lists the requests."""

    def __init__(self) -> None:
        self.files = {f"/{path}": json.dumps(document).encode() for path, document in market().items()}
        self.asked: list[tuple[str, str | None]] = []
        self.instead: dict[str, Answer] = {}
        self.ended = Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def handler(self) -> type[BaseHTTPRequestHandler]:
        market = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                market.asked.append((self.path, self.headers["If-None-Match"]))
                market.instead.get(self.path, FakeShop.send)(market, self, market.files.get(self.path, b""))

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def send(self, request: BaseHTTPRequestHandler, body: bytes, length: int = 0, status: int = 200) -> None:
        """Send a body, or 304 if the client has it; 404 for an unknown path."""
        tag = f'"{hash(body)}"'
        status = 404 if not body else 304 if request.headers["If-None-Match"] == tag else status
        request.send_response(status)
        request.send_header("ETag", tag)
        request.send_header("Content-Length", str(0 if status != 200 else length or len(body)))
        request.end_headers()
        if status == 200:
            for start in range(0, len(body), 10_000):
                request.wfile.write(body[start : start + 10_000])
                request.wfile.flush()


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeShop]:
    monkeypatch.setattr(downloads, "_WAITS_SECONDS", (0, 0))
    shop = FakeShop()
    thread = Thread(target=shop.server.serve_forever)
    thread.start()
    yield shop
    shop.ended.set()
    shop.server.shutdown()
    shop.server.server_close()
    thread.join(60)


def test_files_are_kept_by_day_and_imported(shop: FakeShop, tmp_path: Path) -> None:
    folder, lake, day = tmp_path / "new" / "downloads", tmp_path / "lake", datetime.now(UTC).date()
    done = run("fetch", "cardmarket", 17, folder, "--lake", lake, "--numbers-from-names", "--url", shop.url)
    kept = [path.name for path in folder.glob("[!.]*")]
    assert len(kept) == 3 and set(kept) <= {
        f"{Path(path).stem}_{at}.json.gz" for path in shop.files for at in (day, datetime.now(UTC).date())
    }
    stored = {gzip.decompress((folder / name).read_bytes()) for name in kept}
    assert stored == set(shop.files.values())
    assert "price_guide/day=2026-07-14/cardmarket.parquet: 252 rows, 252 new" in done.stdout
    assert "number of" not in done.stdout and done.stderr.count(f"_{day.year}") == 6  # fetched, read
    assert [tag for _, tag in shop.asked] == [None] * 3


def test_what_did_not_change_is_not_sent_again(shop: FakeShop, tmp_path: Path) -> None:
    run("fetch", "cardmarket", 17, tmp_path, "--url", shop.url)
    before = {path: path.read_bytes() for path in tmp_path.glob("[!.]*")}
    shop.files[GUIDE] = shop.files[GUIDE].replace(b"2026-07-14", b"2026-07-15")
    done = run("fetch", "cardmarket", 17, tmp_path, "--url", shop.url, "--lake", tmp_path / "lake")
    assert all(tag for _, tag in shop.asked[3:])
    assert done.stderr.startswith("fetched price_guide_17_") and f"into {tmp_path}; 2 did not change\n" in done.stderr
    changed = [path.name for path, data in before.items() if not path.exists() or path.read_bytes() != data]
    assert [name.partition("_17")[0] for name in changed] in (["price_guide"], [])  # [] where a new day has begun
    assert "day=2026-07-15/cardmarket.parquet: 252 rows" in done.stdout
    next(path for path in tmp_path.glob("products_singles_*")).unlink()
    run("fetch", "cardmarket", 17, tmp_path, "--url", shop.url)
    assert [tag for path, tag in shop.asked[6:] if path == SINGLES] == [None]


def cut(market: FakeShop, request: BaseHTTPRequestHandler, body: bytes) -> None:
    market.send(request, body[:1000], length=len(body))


def cut_without_a_length(market: FakeShop, request: BaseHTTPRequestHandler, body: bytes) -> None:
    request.send_response(200)
    request.end_headers()
    request.wfile.write(body[:1000])


def stall(market: FakeShop, request: BaseHTTPRequestHandler, body: bytes) -> None:
    cut(market, request, body)
    market.ended.wait(60)


def missing(market: FakeShop, request: BaseHTTPRequestHandler, body: bytes) -> None:
    market.send(request, b"")


def page(market: FakeShop, request: BaseHTTPRequestHandler, body: bytes) -> None:
    market.send(request, b"<html>maintenance</html>")


def broken(market: FakeShop, request: BaseHTTPRequestHandler, body: bytes) -> None:
    request.send_error(503)


FAULTS = {
    cut: "the answer ended after 1,000 of",
    cut_without_a_length: "not JSON",
    stall: "timed out",
    missing: "404 Not Found: is this the marketplace's number of the game?",
    page: "sent no file of the marketplace",
    broken: "503 Service Unavailable",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_of_the_last_file_leaves_the_folder_and_the_lake_alone(
    shop: FakeShop, tmp_path: Path, fault: Answer
) -> None:
    folder, lake = tmp_path / "downloads", tmp_path / "lake"
    run("fetch", "cardmarket", 17, folder, "--url", shop.url)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    shop.files = {path: body.replace(b"2026-07-14", b"2026-07-15") for path, body in shop.files.items()}
    shop.instead[GUIDE] = fault
    words = ("fetch", "cardmarket", 17, folder, "--lake", lake, "--url", shop.url)
    said = run(*words, "--timeout", 1 if fault is stall else 60, status=1).stderr.splitlines()[-1]
    assert said.startswith(f"cardpress: {shop.url}{GUIDE}") and FAULTS[fault] in said
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before and not lake.exists()
    tries = [path for path, _ in shop.asked[3:]].count(GUIDE)
    assert tries == (3 if fault in (cut, stall, broken) else 1)


def test_what_is_refused_names_options_of_the_command(shop: FakeShop, tmp_path: Path) -> None:
    words = ("fetch", "cardmarket", 17, tmp_path / "files", "--lake", tmp_path / "lake", "--url", shop.url)
    shop.files[GUIDE] = shop.files[GUIDE].replace(b"2026-07-14", b"2099-07-14")
    assert run(*words, status=1).stderr.endswith("--accept future imports it all the same\n")
    assert "day=2099-07-14/cardmarket.parquet: 252 rows" in run(*words, "--accept", "future").stdout
    shop.files[SINGLES] += b" " * (1 << 20)
    assert "raise --max-file-mb" in run(*words, "--max-file-mb", 1, status=1).stderr


def test_a_server_that_recovers_is_asked_again(shop: FakeShop, tmp_path: Path) -> None:
    def once(market: FakeShop, request: BaseHTTPRequestHandler, body: bytes) -> None:
        del market.instead[GUIDE]
        broken(market, request, body)

    shop.instead[GUIDE] = once
    run("fetch", "cardmarket", 17, tmp_path, "--url", shop.url)
    assert [path for path, _ in shop.asked].count(GUIDE) == 2 and len(list(tmp_path.rglob("*"))) == 4


def test_other_addresses_are_wrong_usage(tmp_path: Path) -> None:
    said = run("fetch", "cardmarket", 17, tmp_path / "new", "--url", "file:///etc", status=2).stderr
    assert "begins with http:// or https://" in said and not (tmp_path / "new").exists()
