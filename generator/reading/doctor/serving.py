"""What a shim needs beside the store: its state folder, and the shared counter where there is one."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from edge_auth.host.redis_counter import COUNTER_TIMEOUT_SECONDS, server_problem
from generator.reading.doctor.findings import Finding, ok, problem, warning


def check_state(state: Path) -> Iterator[Finding]:
    """Whether the folder, or the nearest one above it, can be written to."""
    nearest = next(folder for folder in (state.absolute(), *state.absolute().parents) if folder.exists())
    if not nearest.is_dir():
        yield problem("state", f"{nearest} is no folder", "name another one with --state DIR")
    elif not os.access(nearest, os.W_OK | os.X_OK):
        yield problem("state", f"{nearest} cannot be written to", "mend its permissions, or --state DIR")
    else:
        yield ok("state", str(state) if nearest == state.absolute() else f"{state} will be made by `serve`")


def check_counter(url: str) -> Iterator[Finding]:
    """Whether the shared counter answers, and as fast as a request can wait for it."""
    place = urlsplit(url)
    where = f"{place.hostname or place.path}{f':{place.port}' if place.port else ''}"  # never the password
    started = time.perf_counter()
    failed = server_problem(url)
    took = time.perf_counter() - started
    if failed:
        advice = "look at the server and --rate-limit-url; meanwhile each machine counts for itself"
        yield problem("rate limit", f"{where} does not answer ({failed})", advice)
    elif took > COUNTER_TIMEOUT_SECONDS:
        told = f"{where} took {took * 1000:.0f} ms; a request waits {COUNTER_TIMEOUT_SECONDS * 1000:.0f} ms"
        yield warning("rate limit", told, "use a server that is nearer, or limits are counted per machine")
    else:
        yield ok("rate limit", f"{where} answers in {took * 1000:.0f} ms")
