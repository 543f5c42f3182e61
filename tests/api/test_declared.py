"""Every header of every answer is in the OpenAPI document, and its parameters allow what the service takes."""

import json
import random
from functools import partial

import pytest

from generator.site.openapi import strict_document
from tests.support.endpoints import endpoint_of
from tests.support.lakes import FIXED
from tests.support.service import Client, HttpAnswer
from tests.support.targets import Targets, has_nul

PATHS = json.loads(strict_document())["paths"]
# Of every answer, and of HTTP itself.
COMMON = {
    "access-control-allow-origin",
    "access-control-expose-headers",
    "x-content-type-options",
    "content-type",
    "content-length",
    "content-encoding",
    "date",
    "server",
    "connection",
}


def undeclared(path: str, answer: HttpAnswer) -> set[str]:
    """Return the headers of an answer that the document does not have, and those it must have and has not."""
    declared = PATHS[path]["get"]["responses"][str(answer.status)]["headers"]
    sent = {name.lower() for name in answer.headers} - COMMON
    missing = {name.lower() for name, header in declared.items() if header["required"]} - sent
    return sent - {name.lower() for name in declared} | missing


@pytest.mark.parametrize("seed", range(2))
def test_every_header_is_declared(client: Client, live_build: str, seed: int) -> None:
    rng = random.Random(seed)
    sends = {
        "as it is": client.get,
        "without a key": lambda target: client.send("GET", target, key=False),
        "with a wrong key": lambda target: client.send("GET", target, {"X-API-Key": "x"}, key=False),
        "by POST": partial(client.send, "POST"),
        "from a build": partial(client.get, X_Build=live_build),
        "from no build": partial(client.get, X_Build="none"),
        "again": partial(client.get, If_None_Match="*"),
        "in part": partial(client.get, Range="bytes=0-1"),
        "of another file": partial(client.get, If_Match='"0"'),
    }
    targets = [target for target in Targets(FIXED, rng).some(400) if not has_nul(target)]
    targets += [f"{path}?limit=0" for path in PATHS if "{" not in path]
    targets += [f"/api/v1/bulk/{name}" for name in ("catalog.ducklake", "none")]
    seen = set()
    for target in targets:
        if (path := endpoint_of(target)) is not None:
            how = rng.choice(list(sends))
            answer = sends[how](target)
            assert not undeclared(path, answer), (target, how, answer.status)
            seen.add(answer.status)
    assert seen >= {200, 304, 400, 401, 404, 405}
