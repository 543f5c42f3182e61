"""Files and answers that nginx does not expect: it stays up, and the shim decides what nginx cannot."""

import os
import signal
import time
from pathlib import Path

import pytest

from edge_auth.live.places import counter_file
from tests.releases.test_full_disk import fill, small_disk
from tests.support.commands import issue
from tests.support.nginx import CARDS, LIMIT, cached, replaced
from tests.support.rate_limits import in_one_window
from tests.support.raw_requests import MALFORMED, PRIVATE, READABLE, REFUSED_METHODS, assert_refused, get, send
from tests.support.selection import mostly_thorough
from tests.support.service import API, Client, Service, children, until, window_left


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_refused_in_the_apis_words(fixed_service: Service, name: str) -> None:
    assert_refused(send(fixed_service.port, MALFORMED[name]), 400, "invalid_parameter")


@pytest.mark.parametrize(("request_", "allowed"), REFUSED_METHODS)
def test_a_refused_method_says_which_are_allowed(fixed_service: Service, request_: bytes, allowed: str) -> None:
    answer = send(fixed_service.port, request_)
    assert_refused(answer, 405, "method_not_allowed")
    assert answer["Allow"] == allowed


def test_its_own_place_is_no_path(fixed_service: Service) -> None:
    assert_refused(get(fixed_service.port, b"/_refused"), 404, "not_found")


def test_what_is_private_is_no_path(fixed_service: Service, fixed_key: str) -> None:
    for target in PRIVATE:
        assert get(fixed_service.port, target, f"X-API-Key: {fixed_key}".encode()).status in (400, 404), target


@pytest.mark.parametrize("target", READABLE)
def test_unusual_addresses_reach_the_shim(fixed_service: Service, fixed_key: str, target: bytes) -> None:
    answer = get(fixed_service.port, API.encode() + target, f"X-API-Key: {fixed_key}".encode())
    assert answer.status == (200 if b"cards" in target else 404) and "malformed" not in answer.text


@pytest.mark.parametrize("condition", ['If-Match: "x"', "If-Unmodified-Since: Mon, 01 Jan 2024 00:00:00 GMT"])
def test_conditions_that_the_shim_ignores(fixed_service: Service, fixed_key: str, condition: str) -> None:
    client = fixed_service.client(fixed_key)
    cached(client)
    answer = get(fixed_service.port, CARDS.encode(), f"X-API-Key: {fixed_key}".encode(), condition.encode())
    assert (answer.status, answer.body) == (200, client.get(CARDS).body)


REPEATED = {
    "X-API-Key": ("{key}", "nonsense"),
    "X-Build": ("", "nonsense"),
    "Accept-Encoding": ("identity", "gzip"),
    "If-None-Match": ('"x"', "*"),
    "Authorization": ("Bearer {key}", "Bearer nonsense"),
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", REPEATED)
def test_a_repeated_header_is_never_answered_from_the_cache(
    fixed_service: Service, fixed_key: str, name: str, reverse: bool
) -> None:
    """The answer is the same whether nginx has the page or not."""
    client = fixed_service.client(fixed_key)
    cached(client)
    values = [value.format(key=fixed_key) for value in REPEATED[name]]
    headers = [f"{name}: {value}".encode() for value in (values[::-1] if reverse else values)]
    if name not in ("X-API-Key", "Authorization"):
        headers.append(f"X-API-Key: {fixed_key}".encode())
    hit, miss = (
        get(fixed_service.port, target, *headers) for target in (CARDS.encode(), CARDS.encode() + b"&offset=0")
    )
    assert hit["X-Cache"] in ("MISS", None)
    assert (hit.status, hit.body, hit["Content-Encoding"]) == (miss.status, miss.body, miss["Content-Encoding"])


def test_a_repeated_header_keeps_no_answer(fixed_service: Service, fixed_key: str) -> None:
    """The shim would compress it, and nginx would take it for the answer that is not compressed."""
    client, target = fixed_service.client(fixed_key), f"{API}/cards?limit=8"
    for _ in range(6):
        client.send("GET", target, [("Accept-Encoding", "identity"), ("Accept-Encoding", "gzip")])
    assert {client.get(target)["Content-Encoding"] for _ in range(6)} == {None}


@pytest.mark.parametrize(("size", "in_cache"), [(92, True), (93, False), (121, False), (200, False)])
def test_a_long_address_goes_to_the_shim(fixed_service: Service, fixed_key: str, size: int, in_cache: bool) -> None:
    """LuaJIT compares long strings one by one if their hash is equal, which reads some of their bytes only."""
    client, start = fixed_service.client(fixed_key), f"{API}/cards?limit=7&set="
    target = start + "1".rjust(size - len(start), "0")
    got = [client.get(target, Accept_Encoding="identity") for _ in range(8)]  # two for each process, and more
    assert {answer.status for answer in got} == {200} and len({answer.body for answer in got}) == 1
    assert any(answer["X-Cache"] == "HIT" for answer in got) == in_cache


@pytest.mark.parametrize(("name", "status"), [("X_Build", 400), ("If_None_Match", 200), ("X_API_Key", 401)])
def test_a_long_header_goes_to_the_shim(fixed_service: Service, fixed_key: str, name: str, status: int) -> None:
    client = fixed_service.client(fixed_key)
    cached(client)
    long = {name: "a" * 128}
    answer = fixed_service.client(None).get(CARDS, **long) if name == "X_API_Key" else client.get(CARDS, **long)
    assert answer["X-Cache"] != "HIT" and answer.status == status


@pytest.mark.thorough
def test_a_counter_file_that_becomes_smaller(service: Service, store: Path, key: str) -> None:
    """A process of nginx that reads where the file has ended is killed by the kernel. Its successor answers."""
    cached(service.client(key))
    for size in (4096, 20, 0):
        os.truncate(counter_file(str(service.state), str(store)), size)
        statuses = [_status(service.client(key)) for _ in range(40)]
        assert set(statuses) <= {200, None} and statuses.count(None) <= 2, "each of two processes drops one at most"
    assert service.nginx.poll() is None


def _status(client: Client) -> int | None:
    try:
        return client.get(CARDS).status
    except OSError:
        return None


@pytest.mark.thorough
def test_limits_are_exact_on_a_disk_that_is_full(store: Path, key: str, tmp_path: Path) -> None:
    """The counter's file has its space from the start, so nginx can touch each page of it."""
    with (
        small_disk(tmp_path / "disk", 4 << 20) as disk,
        Service(store, disk / "state", workers=2, through_nginx=True) as service,
    ):
        cached(service.client(key))
        before = children(service.nginx.pid)
        fill(disk)

        def attempt() -> tuple[set[int], int]:
            clients = [service.client(issue(store, rate_limit=120))] * 2
            until(lambda: clients[0].get(f"{API}/nothing").status == 404, LIMIT, "the shim answers")
            until(lambda: clients[0].get(f"{API}/me").status == 200, LIMIT, "the key is known")
            answers = [client.get(CARDS) for client in clients for _ in range(120)]
            return {window_left(answer)[0] for answer in answers}, [answer.status for answer in answers].count(200)

        assert in_one_window(attempt) == 119
        assert children(service.nginx.pid) == before, "no process of nginx was killed"


@pytest.mark.parametrize("size", mostly_thorough([0, 4096, 2 << 20], 4096))
@pytest.mark.thorough
def test_a_counter_file_without_its_space_is_left_to_the_shim(store: Path, key: str, tmp_path: Path, size: int) -> None:
    """On a disk that is full, a process of nginx that touches such a file is killed."""
    with small_disk(tmp_path / "disk", 4 << 20) as disk:
        (disk / "state").mkdir()
        with Service(store, disk / "state", workers=2, through_nginx=True) as service:
            cached(service.client(key))
            file = counter_file(str(disk / "state"), str(store))
            secret = file.read_bytes()[:32]
            spoil(file, secret, size)
            fill(disk)
            time.sleep(2)
            before = children(service.nginx.pid)
            assert {_status(service.client(key)) for _ in range(60)} == {200}
            assert children(service.nginx.pid) == before


POLLS = """        local polls = 0
        ngx.timer.every(0.002, function()
            require("counter").open("%s")
            polls = polls + 1
            if polls == 1000 then io.open("%s" .. ngx.worker.id(), "w"):close() end
        end)
"""


@pytest.mark.thorough
def test_processes_that_were_idle_for_long_answer(service: Service, store: Path, key: str) -> None:
    """What polls twice a second is compiled by LuaJIT after a minute. A fault there broke the memory of the process."""
    conf, done = service.folder / "nginx.conf", service.folder / "polled"
    polls = POLLS % (counter_file(str(service.state), str(store)), done)
    conf.write_text(
        replaced(conf.read_text(), {"    init_worker_by_lua_block {\n": "    init_worker_by_lua_block {\n" + polls})
    )
    service.nginx.send_signal(signal.SIGHUP)
    until(lambda: len(list(service.folder.glob("polled*"))) == 2, LIMIT, "each process has polled")
    before = children(service.nginx.pid)
    assert {service.client(key).get(f"{API}/cards?limit={n % 50 + 1}").status for n in range(200)} == {200}
    assert children(service.nginx.pid) == before, "no process of nginx was killed"


def spoil(file: Path, secret: bytes, size: int) -> None:
    """Replace the file by one that has a secret and no space."""
    with file.with_suffix(".new").open("wb") as new:
        new.write(secret)
        new.truncate(max(size, len(secret)))
    file.with_suffix(".new").replace(file)
