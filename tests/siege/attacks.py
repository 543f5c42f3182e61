"""The attacks. Each does its worst for some seconds and returns what the attacker got, as a few words."""

import random
import secrets
import select
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from urllib.parse import quote

from tests.siege.headers import HEADERS, PATHS, SHAPES
from tests.support.commands import issue
from tests.support.service import Client, Service

MARKS = "\u0300" * 5_000 + "\u0316" * 5_000  # 60 kB in a URL

_MOST_UNREAD = 190  # of an address, at two workers or nginx; of answers up to this size as many as the limit allows:
_SMALL_BYTES = 64 << 10


@dataclass(frozen=True)
class Siege:
    """What an attack works with.

    Attributes:
        connections: How many connections the attacks on connections hold.
    """

    service: Service
    key: str
    seconds: float
    connections: int

    def client(self, key: str | None = "", **headers: str) -> Client:
        return self.service.client(self.key if key == "" else key, **headers)

    def for_a_while(self, ask: Callable[[int], object]) -> Counter:
        """Call `ask` with 0, 1, 2, … until the time is over. Count what it returned."""
        end, got, number = time.monotonic() + self.seconds, Counter(), 0
        while time.monotonic() < end:
            got[ask(number)] += 1
            number += 1
        return got


def nothing(siege: Siege) -> str:
    time.sleep(siege.seconds)
    return "-"


def combining_marks(siege: Siege) -> str:
    """60 kB of combining marks in each text parameter and in a slug."""
    client = siege.client()
    targets = [f"cards?{name}={quote(MARKS)}" for name in ("q", "set", "number", "rarity")]
    targets += [f"sets?q={quote(MARKS)}", f"watchlist/{quote(MARKS)}"]
    return words(siege.for_a_while(lambda n: client.get(f"/api/v1/{targets[n % len(targets)]}").status))


def many_addresses(siege: Siege) -> str:
    """Requests without a key, each from another address that a trusted proxy names."""
    client = siege.client(key=None)

    def ask(number: int) -> int:
        address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        return client.get("/api/v1/openapi.json", X_Forwarded_For=address, If_None_Match="*").status

    return words(siege.for_a_while(ask))


def addresses_alike(siege: Siege) -> str:
    """Long addresses that differ in a few bytes: a hash of texts that skips these bytes makes each one slower."""
    client, half = siege.client(key=None), "a" * 900
    return words(siege.for_a_while(lambda n: client.get(f"/api/v1/cards?q={half}{n:08d}{half}").status))


def costly_headers(siege: Siege) -> str:
    """Each header at its largest, in each shape, at each endpoint and page, without a key."""
    client = siege.client(key=None)
    cases = list(product(SHAPES, HEADERS, PATHS))
    random.Random(1).shuffle(cases)

    def ask(number: int) -> int:
        shape, header, path = cases[number % len(cases)]
        status = client.send("GET", path, {header: shape}).status
        client.close()
        return status

    return words(siege.for_a_while(ask))


def unknown_builds(siege: Siege) -> str:
    """Random ids in X-Build, with a key and on pages without one."""
    client, pages = siege.client(), siege.client(key=None)

    def ask(number: int) -> int:
        build = f"2026-08-22-{secrets.token_hex(6)}"
        if number % 2:
            return pages.get("/docs", X_Build=build).status
        return client.get("/api/v1/status", X_Build=build).status

    return words(siege.for_a_while(ask))


def silent_connections(siege: Siege) -> str:
    """Connections that send nothing."""
    return _hold(siege, b"")


def half_sent_requests(siege: Siege) -> str:
    """Connections that send the half of a request."""
    return _hold(siege, b"GET /api/v1/status HTTP/1.1\r\nHost: a\r\nX-Padding: ")


def slow_readers(siege: Siege) -> str:
    """Clients that request a large answer and never read it."""
    request = f"GET /api/v1/fingerprints HTTP/1.1\r\nHost: a\r\nX-API-Key: {siege.key}\r\n\r\n"
    return _hold(siege, request.encode(), siege.connections // 10)


def creeping_readers(siege: Siege) -> str:
    """Clients with four keys that request a megabyte of a bulk file and read a few bytes of it."""
    client = siege.client()
    files = client.get("/api/v1/bulk").json["files"]
    file = max(files, key=lambda file: file["bytes"])
    head = f"GET {file['url']} HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1048575\r\nX-API-Key: "
    keys = [siege.key, *(issue(Path(siege.service.store), name="more") for _ in range(3))]
    got, answers = Counter[str](), select.poll()
    with ExitStack() as stack:
        for number in range(siege.connections // 4):
            attacker = stack.enter_context(socket.socket())
            attacker.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            attacker.settimeout(10)
            attacker.connect(("127.0.0.1", siege.service.port))
            attacker.send(f"{head}{keys[number % 4]}\r\n\r\n".encode())
            if (status := attacker.recv(300)[9:12].decode()) == "206":
                answers.register(attacker, select.POLLRDHUP)
            got[status] += 1
        still_open = got["206"] - len(answers.poll(0))  # those who read too slowly were ended meanwhile
        time.sleep(siege.seconds)
        assert client.get("/api/v1/status").status == 200
    assert file["bytes"] <= _SMALL_BYTES or still_open <= _MOST_UNREAD, f"{still_open} answers are open"
    return words(got)


def large_heads(siege: Siege) -> str:
    """Heads of requests that are too long, or no HTTP."""
    heads = [b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01" * 100 + b"\r\n\r\n"]
    heads.append(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"b" * 500_000 + b"\r\n\r\n")

    def ask(number: int) -> str:
        with socket.create_connection(("127.0.0.1", siege.service.port), 10) as attacker:
            try:
                attacker.sendall(heads[number % len(heads)])
                return attacker.recv(100)[9:12].decode() or "closed"
            except OSError:
                return "closed"

    return words(siege.for_a_while(ask))


def _hold(siege: Siege, data: bytes, connections: int = 0) -> str:
    with ExitStack() as stack:
        held = [stack.enter_context(_connected(siege, data)) for _ in range(connections or siege.connections)]
        time.sleep(siege.seconds)
        fresh = siege.client()
        assert fresh.get("/healthz?live").status == 200
        fresh.close()
    return f"{len(held):,} connections held"


def _connected(siege: Siege, data: bytes) -> socket.socket:
    attacker = socket.create_connection(("127.0.0.1", siege.service.port), 10)
    attacker.setblocking(False)
    if data:
        attacker.send(data)
    return attacker


def words(got: Counter) -> str:
    """Return counts of statuses as a text."""
    return ", ".join(f"{count:,} × {status}" for status, count in got.most_common())


ATTACKS: dict[str, Callable[[Siege], str]] = {
    "none": nothing,
    "combining marks in parameters": combining_marks,
    "many addresses without a key": many_addresses,
    "long addresses that are alike": addresses_alike,
    "headers at their largest": costly_headers,
    "unknown builds in X-Build": unknown_builds,
    "silent connections": silent_connections,
    "half-sent requests": half_sent_requests,
    "clients that never read": slow_readers,
    "clients that read a few bytes": creeping_readers,
    "large or broken heads": large_heads,
}
