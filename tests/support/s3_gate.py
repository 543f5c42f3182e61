"""An S3 server with habits, before a real one: each was reported of a public server or of a setup around one.

key=ID     only this access key is known
expired    the session token has expired
skewed     the clock differs
odd        a code that no table knows
notoken    a listing that is cut off has no token for the rest
sametoken  each page of a listing gives the same token
page=N     listings have N keys a page
nov2       version 2 of listing is not there
weak, gzip ETags are W/"…" or "…-gzip", as proxies that compress make them
quoted     conditions compare ETags with their quotes
norange    ranges are ignored
nomd5      an upload with Content-MD5 is refused
delimiter  the delimiter of a listing is ignored
"""

import http.client
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

_Answer = tuple[int, list[tuple[str, str]], bytes]
_HOP = ("connection", "transfer-encoding", "content-length", "date", "server")


class HabitGate(ThreadingHTTPServer):
    """The server. `habits` may change while it runs."""

    daemon_threads, request_queue_size = True, 128

    def __init__(self, upstream: str, *habits: str):
        super().__init__(("127.0.0.1", 0), _HabitHandler)
        self.upstream = urlsplit(upstream).netloc
        self.habits = {name: value for name, _, value in (habit.partition("=") for habit in habits)}
        self.endpoint = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> "HabitGate":
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _HabitHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HabitGate

    def log_message(self, *_: Any) -> None:
        pass

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, data = _refusal(self) or _changed(self, self._forwarded(body))
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _forwarded(self, body: bytes) -> _Answer:
        up = http.client.HTTPConnection(self.server.upstream, timeout=60)
        path, habits = self.path, self.server.habits
        if "list-type=2" in path:
            path += f"&max-keys={habits['page']}" if "page" in habits else ""
            path = re.sub(r"&delimiter=[^&]*", "", path) if "delimiter" in habits else path
            path = re.sub(r"&continuation-token=[^&]*", "", path) if "sametoken" in habits else path
        up.putrequest(self.command, path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in ("connection", "expect", *["range"] * ("norange" in habits)):
                if "quoted" in habits and name.lower() == "if-match" and not value.startswith('"'):
                    value = "0" * 32
                up.putheader(name, value)
        up.endheaders(body or None)
        answer = up.getresponse()
        data = answer.read()
        keep = [(n, v) for n, v in answer.getheaders() if n.lower() not in _HOP]
        if self.command == "HEAD":
            keep.append(("Content-Length", answer.getheader("Content-Length") or "0"))
        up.close()
        return answer.status, keep, data

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _answer


def _error(status: int, code: str) -> _Answer:
    body = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>said of {code}</Message></Error>'
    return status, [("Content-Type", "application/xml")], body.encode()


def _refusal(request: _HabitHandler) -> _Answer | None:
    habits, path, headers = request.server.habits, request.path, request.headers
    key = re.search(r"Credential=([^/]+)/", headers.get("Authorization", ""))
    refusals = {
        "key": (403, "InvalidAccessKeyId", not key or key[1] != habits.get("key")),
        "expired": (400, "ExpiredToken", True),
        "skewed": (403, "RequestTimeTooSkewed", True),
        "odd": (400, "OddWeather", True),
        "noputs": (503, "SlowDown", request.command == "PUT"),
        "nov2": (400, "InvalidArgument", "list-type=2" in path),
        "nomd5": (400, "InvalidRequest", request.command == "PUT" and headers.get("Content-MD5")),
    }
    return next(
        (_error(status, code) for name, (status, code, is_so) in refusals.items() if name in habits and is_so), None
    )


def _changed(request: _HabitHandler, answer: _Answer) -> _Answer:
    habits, (status, headers, data) = request.server.habits, answer
    token = rb"<NextContinuationToken>.*?</NextContinuationToken>"
    if "notoken" in habits:
        data = re.sub(token, b"", data)
    if "sametoken" in habits and b"<IsTruncated>true" in data.lower():
        data = re.sub(token, b"<NextContinuationToken>again</NextContinuationToken>", data)
    etags = {"weak": r'W/"\1"', "gzip": r'"\1-gzip"'}
    for habit in etags.keys() & habits.keys():
        headers = [(n, re.sub('^"(.*)"$', etags[habit], v) if n.lower() == "etag" else v) for n, v in headers]
    return status, headers, data
