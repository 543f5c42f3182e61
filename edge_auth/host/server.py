"""Serving: granian runs the application in several processes, replaces those that fail, and stops gracefully."""

import errno
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from edge_auth.contract.store.open import is_folder
from edge_auth.errors import ServeError
from edge_auth.host.app import Settings, create_app

if TYPE_CHECKING:
    from edge_auth.host.metrics_server import Scrape

# Nothing is waited for on a local disk, and threads that take turns make the slowest answers slower. Over a network an
# answer may wait for the counter, or for long for the store, and must not keep those waiting that need neither.
THREADS_PER_WORKER = 1
THREADS_PER_WORKER_WITH_REDIS = 4
THREADS_PER_WORKER_ON_S3 = 16
_STOP_SECONDS = 30
_INSIST_SECONDS = 4
_HANDLER = {"class": "logging.StreamHandler", "stream": "ext://sys.stderr"}
_LOGGING = {
    "handlers": {
        "console": {"formatter": "generic", **_HANDLER},
        "access": {"formatter": "access", **_HANDLER},
    }
}


def serve(
    settings: Settings,
    host: str,
    port: int,
    workers: int,
    metrics: tuple[str, int] | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Serve until SIGTERM or SIGINT; requests under way are finished.

    Args:
        metrics: host and port to serve metrics at.
        notes: what is said once after where we listen.

    Raises:
        ServeError: an address cannot be listened on.
    """
    if metrics is None:
        _serve(settings, *free_address(host, port), workers, notes)
        return
    from edge_auth.host.metrics_server import Scrape  # whose client library takes a while to import

    scrape = Scrape(*metrics, Path(settings.state))
    try:
        _serve(
            replace(settings, metrics=scrape.folder),
            *free_address(host, port),
            workers,
            [f"metrics at {scrape.url}", *notes],
            scrape,
        )
    finally:
        scrape.close()


def _serve(
    settings: Settings, address: str, port: int, workers: int, notes: Sequence[str], scrape: "Scrape | None" = None
) -> None:
    server = Granian(
        "edge_auth",
        address=address,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        blocking_threads=_threads(settings),
        respawn_failed_workers=True,
        workers_kill_timeout=_STOP_SECONDS,
        log_level=LogLevels.error,
        log_dictconfig=_LOGGING,
    )
    if scrape is not None:
        server.on_startup(scrape.start)
    told = (address, port, notes)
    server.on_startup(threading.Thread(target=_announce, args=told, daemon=True).start)
    server.on_startup(threading.Thread(target=_insist, args=(server,), daemon=True).start)
    # A worker is born with our handlers; until it has its own, SIGTERM must not go unheard.
    os.register_at_fork(after_in_child=partial(signal.signal, signal.SIGTERM, signal.SIG_DFL))
    gc.freeze()  # what workers inherit stays shared: a search for garbage among it would copy it
    try:
        server.serve(target_loader=partial(_worker, settings, os.getpid()), wrap_loader=False)
    except SystemExit:
        # A terminal's Ctrl-C reaches the workers as well; their going first is no failure.
        if not server.interrupt_signal:
            raise


def _threads(settings: Settings) -> int:
    """How many answers a worker is at work on at once."""
    if not is_folder(settings.store):
        return THREADS_PER_WORKER_ON_S3
    return THREADS_PER_WORKER if settings.rate_limit_url is None else THREADS_PER_WORKER_WITH_REDIS


def free_address(host: str, port: int) -> tuple[str, int]:
    """The numeric address and the port to listen on; port 0 becomes one that is free.

    Workers share their port, so the kernel would let a second shim join in; hence this look beforehand.

    Raises:
        ServeError: the host is unknown, or the port is taken or not ours to take.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            return probe.getsockname()[:2]
    except OSError as error:
        taken = "another process has it, choose another port" if error.errno == errno.EADDRINUSE else error.strerror
        raise ServeError(f"cannot listen on {host} port {port}: {taken}") from error


def _worker(settings: Settings, parent: int):
    """The application of one worker process."""
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    return create_app(settings)


def _leave_with(parent: int) -> None:
    """Stop this worker once its parent is gone, however that died: nobody would ever stop it."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_STOP_SECONDS)
    os._exit(1)


def _insist(server: Granian) -> None:
    """Tell workers to stop a second time: one that had hardly begun may have missed the first."""
    while not server.interrupt_signal:
        time.sleep(_INSIST_SECONDS)
    time.sleep(_INSIST_SECONDS)
    for worker in list(server.wrks):
        worker.terminate()


def _announce(address: str, port: int, notes: Sequence[str]) -> None:
    """Say where we listen, once somebody does."""
    reach = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    while True:
        time.sleep(0.05)
        try:
            socket.create_connection((reach, port), timeout=1).close()
        except OSError:
            continue
        shown = f"[{address}]" if ":" in address else address
        lines = (f"cardpress: {line}\n" for line in (f"listening on http://{shown}:{port}", *notes))
        print("".join(lines), end="", file=sys.stderr, flush=True)
        return
