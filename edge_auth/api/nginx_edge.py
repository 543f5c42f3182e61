"""What the shim and the nginx of `edge_auth/nginx`, which answers requests from its memory, say to each other.

They use headers, which are read only on a unix socket that only nginx reaches. nginx removes those that clients send.
Before a switch nginx asks for several answers at once: the body of its request has a line for each, with the encoding
(`gzip` or `plain`) and the address. It gets them in this order, as HTTP/1.1 would send them.
"""

from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from flask import Flask, request

from edge_auth.api.inside import ask
from edge_auth.api.request import Asked, read_request
from edge_auth.api.responses import Answer, failure
from edge_auth.errors import EdgeError
from edge_auth.live.build_registry import BuildRegistry, OneBuild
from edge_auth.live.log import Log
from edge_auth.live.metrics import NO_LABEL

_FETCH = "fetch "


def describe(answer: Answer, asked: Asked) -> None:
    """Tell nginx the endpoint of an answer. Let it keep one that comes from the build that it has asked for."""
    row, build = asked.endpoint, asked.environ.get("HTTP_X_EDGE_BUILD", "")
    answer.fields["X-Edge-Endpoint"] = row.path if row else NO_LABEL
    if row and row.shared_scope and build and answer.code in (200, 304) and answer.fields.get("X-Build") == build:
        answer.fields["X-Edge-Scope"] = row.shared_scope


def answers_fetches(inside: Flask, builds: BuildRegistry | OneBuild, log: Log) -> Callable[[], Answer | None]:
    """Return a function that answers a request of nginx itself, which is neither counted nor logged.

    Args:
        inside: An application that answers the lines; its parts have no door.
    """

    def answered() -> Answer | None:
        environ = request.environ
        build: str = environ.get("HTTP_X_EDGE_BUILD", "")
        if not build.startswith(_FETCH):
            return None
        try:
            builds.select(build.removeprefix(_FETCH))
        except EdgeError as error:  # perhaps it is still being opened
            return failure(str(error), read_request(environ, None))
        size = int(environ.get("CONTENT_LENGTH") or 0)  # none from an nginx that still runs the Lua of an older version
        lines: list[str] = environ["wsgi.input"].read(size).decode("latin-1").split("\n")
        text = b"".join(_answer(inside, build.removeprefix(_FETCH), line, log).text() for line in lines if line)
        return Answer(200, {"Content-Type": "application/http", "Content-Length": str(len(text))}, text)

    return answered


def _answer(inside: Flask, build: str, line: str, log: Log) -> Answer:
    encoding, _, address = line.partition(" ")
    path, _, query = address.partition("?")
    asked = read_request({"REQUEST_METHOD": "GET", "PATH_INFO": path}, None)
    try:
        return ask(inside, unquote_to_bytes(path), query, build, gzip=encoding == "gzip")
    except Exception as error:  # nginx waits for an answer to each line, and keeps none like this
        log.failure(asked.method, asked.path, asked.id, error)
        return failure("something failed here; try again later", asked)
