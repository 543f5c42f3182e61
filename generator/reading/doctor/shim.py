"""Checks what a shim needs beside the store: key records, modes of private files, state folder, shared counter."""

import os
import shlex
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from edge_auth.builds import layout
from edge_auth.live.keys import KeyFile
from edge_auth.live.log import timestamp
from edge_auth.live.redis_counter import COUNTER_TIMEOUT_SECONDS, server_problem, wrong_kind
from edge_auth.store.interface import Store
from generator import settings
from generator.clock import Clock
from generator.reading.doctor.findings import Finding, ok, problem, warning
from generator.terminal import Progress

_UNUSABLE = "without a key the API cannot be used: `cardpress keys issue --name NAME`"
_OTHERS_MODE_BITS = 0o077  # permissions of the group and of all others


def check_keys(file: KeyFile, clock: Clock, progress: Progress) -> Iterator[Finding]:
    """Check whether any key is valid, and which keys expire soon."""
    records, now = file.records(partial(progress.bar_if_long, "keys")), clock().timestamp()
    file.changes()  # the list of changes can be read
    valid = [record for record in records if not record.revoked and not record.expired(now)]
    counts = f"{len(valid)} valid, {len(records) - len(valid)} expired or revoked"
    soon = timestamp((clock() + timedelta(days=settings.KEY_EXPIRY_WARNING_DAYS)).timestamp())
    expiring = sorted((one.expires_at, one.id) for one in valid if one.expires_at and one.expires_at < soon)
    where = f"({file.name} in {file.store.location})"
    if not records:
        yield warning("keys", f"there are none {where}", _UNUSABLE)
    elif not valid:
        yield problem("keys", f"none of {len(records)} is valid {where}", _UNUSABLE)
    elif expiring:
        first = ", ".join(f"{id_} at {at}" for at, id_ in expiring[:3]) + (", …" if len(expiring) > 3 else "")
        yield warning("keys", f"{counts}; expiring soon: {first}", "`cardpress keys update ID --expires DAY`")
    else:
        yield ok("keys", counts)


def check_modes(store: Store, keys: KeyFile) -> Iterator[Finding]:
    """Report a private folder of a folder store, and key records elsewhere, that the group or others may use."""
    folder, key_file = store.local_path(layout.PRIVATE), keys.store.local_path(keys.name)
    places = [(folder, [folder, *folder.glob("*")])] if folder is not None else []
    if key_file is not None and (folder is None or not key_file.is_relative_to(folder)):
        places += [(path, [path]) for path in (key_file, key_file.with_suffix(""))]
    for top, paths in places:
        readable = [path for path in paths if path.exists() and path.stat().st_mode & _OTHERS_MODE_BITS]
        if readable:
            more = f" and {len(readable) - 1} more" if len(readable) > 1 else ""
            message = f"other users of this machine may use {os.fspath(readable[0])}{more}"
            yield problem("modes", message, f"chmod -R go= {shlex.quote(str(top))}, as the user that runs the shim")


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
