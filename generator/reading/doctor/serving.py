"""Checks two things that a shim needs beside the store: its state folder, and the shared rate limit counter."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from edge_auth.live.redis_counter import COUNTER_TIMEOUT_SECONDS, server_problem, wrong_kind
from generator.reading.doctor.findings import Finding, ok, problem, warning


def check_state(state: Path) -> Iterator[Finding]:
    """Check that the state folder, or its nearest existing parent, can be written to."""
    nearest = next(folder for folder in (state.absolute(), *state.absolute().parents) if folder.exists())
    if not nearest.is_dir():
        yield problem("state", f"{nearest} is not a folder", "pass another --state DIR")
    elif not os.access(nearest, os.W_OK | os.X_OK):
        yield problem("state", f"{nearest} cannot be written to", "fix its permissions, or pass another --state DIR")
    else:
        yield ok("state", str(state) if nearest == state.absolute() else f"`serve` will create {state}")


def check_counter(url: str) -> Iterator[Finding]:
    """Check that the shared counter answers, within the time that a request waits for it."""
    address = urlsplit(url)
    where = f"{address.hostname or address.path}{f':{address.port}' if address.port else ''}"  # without the password
    if kind := wrong_kind(url):
        yield problem("rate limit", f"{where} is {kind}", "name a single Redis or Valkey server by --rate-limit-url")
        return
    started = time.perf_counter()
    error = server_problem(url)
    seconds = time.perf_counter() - started
    if error:
        advice = "check the server and --rate-limit-url; until then each machine counts alone"
        yield problem("rate limit", f"{where} does not answer ({error})", advice)
    elif seconds > COUNTER_TIMEOUT_SECONDS:
        message = f"{where} took {seconds * 1000:.0f} ms; a request waits {COUNTER_TIMEOUT_SECONDS * 1000:.0f} ms"
        yield warning("rate limit", message, "use a server that is closer; otherwise each machine counts alone")
    else:
        yield ok("rate limit", f"{where} answers in {seconds * 1000:.0f} ms")
