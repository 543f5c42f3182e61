"""A TCP proxy between the product and an S3 server. It injects the faults of networks and servers."""

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

ALWAYS = 1_000_000_000


@dataclass(frozen=True)
class ByteSpan:
    """When a request was under way; the times are those of `time.monotonic`."""

    request: str
    begun: float
    ended: float


class Proxy:
    """Forwards HTTP to a server on this machine, one request per connection, and injects faults on demand.

    refuse    the connection is reset before there is an answer
    slowdown  503 SlowDown, as from a server with too many requests
    throttle  429 for 16 of 37 requests, the rest passes
    deny      403 AccessDenied
    lose      the server carries out the request, but its answer is lost
    fail      the server carries out the request, and the answer is a 500
    reset     the connection is reset in the middle of the answer
    truncate  the connection is closed in the middle of the answer
    flip      a byte of the answer's body is changed
    delay     the answer takes `latency` seconds
    hang      the answer never arrives
    deafen    the conditions of the request are removed
    unknown   501 NotImplemented, as a server without conditions

    Args:
        tls: the context for https. Clients must trust its certificate for `localhost`.
    """

    def __init__(self, upstream: str, tls: ssl.SSLContext | None = None):
        host, _, port = upstream.removeprefix("http://").partition(":")
        self._upstream = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        host = "https://localhost" if tls else "http://127.0.0.1"
        self.endpoint = f"{host}:{self._listener.getsockname()[1]}"
        self._tls = tls
        self._fault, self._times, self._writes = "", 0, 0
        self._lock = threading.Lock()
        self.latency = 0.2
        self.requests: list[str] = []
        self.heads: list[bytes] = []
        self.spans: list[ByteSpan] = []

    def __enter__(self) -> "Proxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def break_next(self, fault: str, times: int = 1, *, after_writes: int = 0) -> None:
        """Inject a fault into the next requests, or into those after some writes. Replaces the fault set before."""
        with self._lock:
            self._fault, self._times, self._writes = fault, times, after_writes

    def _take(self, line: str) -> str:
        """Record a request and return the fault for it, or an empty text."""
        with self._lock:
            self.requests.append(line)
            if self._writes:
                self._writes -= not line.startswith(("GET ", "HEAD "))
                return ""
            self._times -= 1
            passes = self._times < 0 or (self._fault == "throttle" and len(self.requests) * 16 % 37 >= 16)
            return "" if passes else self._fault

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with self._tls.wrap_socket(connection, server_side=True) if self._tls else connection as wrapped:
                self._answer(wrapped)
        except (OSError, EOFError):
            return

    def _answer(self, connection: socket.socket) -> None:
        head, body = _request(connection)
        self.heads.append(head)
        fault = self._take(head.split(b"\r\n", 1)[0].decode())
        if fault in _INSTEAD:
            _INSTEAD[fault](connection)
            return
        if fault == "deafen":
            head = b"\r\n".join(line for line in head.split(b"\r\n") if not line.lower().startswith(b"if-"))
        begun = time.monotonic()
        answer = self._forward(head, body)
        if fault == "delay":
            threading.Event().wait(self.latency)
        self.spans.append(ByteSpan(head.split(b"\r\n", 1)[0].decode(), begun, time.monotonic()))
        _AFTER.get(fault, lambda to, data: to.sendall(data))(connection, answer)

    def _forward(self, head: bytes, body: bytes) -> bytes:
        head = b"\r\n".join(line for line in head.split(b"\r\n") if not line.lower().startswith(b"expect:"))
        with socket.create_connection(self._upstream) as server:
            server.sendall(head + b"\r\nConnection: close\r\n\r\n" + body)
            parts = []
            while part := server.recv(1 << 20):
                parts.append(part)
        return b"".join(parts)


def _request(connection: socket.socket) -> tuple[bytes, bytes]:
    """Read a request. Return its head, without the empty line, and its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _some(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
    if b"expect" in fields:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    parts, missing = [body], int(fields.get(b"content-length", 0)) - len(body)
    while missing > 0:
        parts.append(_some(connection))
        missing -= len(parts[-1])
    return head, b"".join(parts)


def _some(connection: socket.socket) -> bytes:
    data = connection.recv(1 << 20)
    if not data:
        raise EOFError
    return data


def _reset(connection: socket.socket, data: bytes = b"") -> None:
    connection.sendall(data)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def _says(status: str, code: str) -> Callable[..., None]:
    body = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>{code}</Message></Error>'
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nConnection: close\r\nContent-Length: {len(body)}"
    return lambda connection, _=b"": connection.sendall(f"{head}\r\n\r\n{body}".encode())


def _half(answer: bytes) -> bytes:
    """Return the head and half of the body; without a body, a part of the head."""
    head, gap, body = answer.partition(b"\r\n\r\n")
    return head + gap + body[: len(body) // 2] if body else head.partition(b"\r\n")[0] + b"\r\n"


def _flip(connection: socket.socket, answer: bytes) -> None:
    head, gap, body = answer.partition(b"\r\n\r\n")
    middle = len(body) // 2
    body = body[:middle] + bytes([body[middle] ^ 0x21]) + body[middle + 1 :] if body else body
    connection.sendall(head + gap + body)


_INSTEAD = {
    "hang": lambda connection: connection.recv(1),  # until the client gives up
    "refuse": _reset,
    "slowdown": _says("503 Slow Down", "SlowDown"),
    "throttle": _says("429 Too Many Requests", "TooManyRequests"),
    "deny": _says("403 Forbidden", "AccessDenied"),
    "unknown": _says("501 Not Implemented", "NotImplemented"),
}
_AFTER = {
    "lose": lambda connection, _: _reset(connection),
    "fail": _says("500 Internal Server Error", "InternalError"),
    "reset": lambda connection, answer: _reset(connection, _half(answer)),
    "truncate": lambda connection, answer: connection.sendall(_half(answer)),
    "flip": _flip,
}
