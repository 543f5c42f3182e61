"""Requests as bytes, which no client library would send, and how an nginx of the product refuses them."""

import http.client
import socket

from tests.support.api_checks import EXPOSED
from tests.support.service import API, HttpAnswer

TOO_LONG = 70_000
_LONG = b"x" * TOO_LONG
_API = API.encode()
_HOST = b" HTTP/1.1\r\nHost: x\r\n"
_MANY = b"".join(b"X-%d: 1\r\n" % number for number in range(120))
MALFORMED = {
    "no address": b"GET nonsense" + _HOST,
    "NUL": b"GET " + _API + b"/watchlist/%00" + _HOST,
    "a long query": b"GET " + _API + b"/sets?q=" + _LONG + _HOST,
    "a long header": b"GET " + _API + b"/me" + _HOST + b"X-API-Key: " + _LONG + b"\r\n",
    "no UTF-8 in the query": b"GET " + _API + b"/cards?q=\xff" + _HOST,
    "no UTF-8 in the path": b"GET " + _API + b"/watchlist/\xe0\x80\x80" + _HOST,
    "no UTF-8 in a page": b"GET /docs/\xff" + _HOST,
    "a bracket in the path": b"GET " + _API + b"/watchlist/<" + _HOST,
    "a quote in the query": b"GET " + _API + b'/cards?q="' + _HOST,
    "120 headers": b"GET " + _API + b"/me" + _HOST + _MANY,
    "120 headers, for a file": b"GET " + _API + b"/bulk/x" + _HOST + _MANY,
    "120 headers, for the page at the top": b"GET /" + _HOST + _MANY,
    "an encoding of bodies": b"GET " + _API + b"/me" + _HOST + b"Transfer-Encoding: gzip\r\n",
    "broken chunks": b"GET " + _API + b"/me" + _HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "120 headers with chunks": b"GET " + _API + b"/me" + _HOST + _MANY + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a header with a control character": b"GET " + _API + b"/me" + _HOST + b"X-Other: a\x01b\r\n",
    "a control character and chunks": b"GET " + _API + b"/me" + _HOST + b"X-Other: \x7f\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a version of HTTP": b"GET " + _API + b"/me HTTP/3.0\r\nHost: x\r\n",
    "no Host": b"GET " + _API + b"/me HTTP/1.1\r\n",
    "two conditions": b"GET " + _API + b"/me" + _HOST + b'If-None-Match: "a"\r\n' * 2,
}
READABLE = (b"/cards?q=\xc3\xa9&rarity=`", b'/watchlist/{"|}^', b"/cards?q=\xf0\x9f\x83\x8f")
# Requests for what a store has beside tree/, in every way that may lead there.
_WAYS = (
    "/{}", "/tree/{}", "/docs/../{}", "/docs/..%2f..%2f{}", "/docs/%2e%2e/%2e%2e/{}", "/api/v1/../../{}", "//{}",
    "/api/v1/watchlist/..%2f..%2f..%2f..%2f{}", "/api/v1/cards/..%2f..%2f..%2f..%2f{}", "/explore/./{}",
    "/docs/%5c..%5c..%5c{}", "/docs//../../{}", "/api/v1/bulk/..%2f..%2f..%2f..%2f{}",
)  # fmt: skip
_BESIDE_TREE = ("private/keys.json", "layers/", "builds/", "current.json", "tree/api/v1/status.json")
PRIVATE = [way.format(name).encode() for way in _WAYS for name in _BESIDE_TREE]
LARGE = b"Content-Length: 3000000\r\n"
REFUSED_METHODS = [
    (method + b" " + path + _HOST + more, allowed)
    for path, allowed in [
        (b"/", "GET, HEAD"), (b"/docs?a", "GET, HEAD"), (b"/explore/x", "GET, HEAD"), (b"/documents", "GET"),
        (_API + b"/bulk/x", "GET, HEAD"), (_API + b"/bulk", "GET"), (_API + b"/me?x=/docs", "GET"),
    ]
    for method, more in [(b"TRACE", b""), (b"CONNECT", b""), (b"POST", LARGE), (b"POST", b"")]
]  # fmt: skip


def send(port: int, head: bytes) -> HttpAnswer:
    """Send the head of a request, and what follows it in the same text, to this machine. Return the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        lines, blank, body = head.partition(b"\r\n\r\n")
        connection.sendall(lines.removesuffix(b"\r\n") + b"\r\nConnection: close\r\n\r\n" + (body if blank else b""))
        response = http.client.HTTPResponse(connection)
        response.begin()
        return HttpAnswer(response.status, response.headers, response.read())


def get(port: int, target: bytes, *headers: bytes) -> HttpAnswer:
    return send(port, b"GET " + target + _HOST + b"".join(header + b"\r\n" for header in headers))


def assert_refused(answer: HttpAnswer, status: int, code: str) -> None:
    assert (answer.status, answer.code, answer["Cache-Control"]) == (status, code, "no-store")
    assert answer["Content-Type"] == "application/json" and answer["Content-Length"] == str(len(answer.body))
    assert answer["Access-Control-Allow-Origin"] == "*" and answer.listed("Access-Control-Expose-Headers") >= EXPOSED
    assert answer["X-Content-Type-Options"] == "nosniff"
