"""The HTTP server: granian runs the application in several processes, replaces failed ones, and stops gracefully.

A thread that sends a large body waits for its client, and granian waits without a limit: `slow_readers` has one.
"""

import ctypes
import errno
import gc
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from ctypes import c_bool, c_double
from dataclasses import replace
from functools import partial
from multiprocessing.sharedctypes import RawValue
from pathlib import Path
from traceback import walk_stack
from typing import Any

from flask import Flask, Response
from granian import Granian, wsgi
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from edge_auth.api.flask_app import IDLE_SECONDS, Settings
from edge_auth.errors import EdgeError
from edge_auth.live.slow_readers import end_slow_readers, unread_handles
from edge_auth.serve.app import THREADS, make_app

# Connections that one worker holds at most. granian would allow backlog / workers, and wait with all others.
MAX_CONNECTIONS_PER_WORKER = 16_384
_BACKLOG_CONNECTIONS = 4096
_MAX_RESTART_DELAY_SECONDS = 8.0
_RESTARTS_FORGOTTEN_SECONDS = 60.0
_TICK_SECONDS = 0.1
_QUIET_SECONDS = 0.2  # without an answer: then no client is taken to wait for one
_END_SECONDS = 4.5  # after SIGTERM, for answers that are being sent
_CUT_SECONDS = 0.5  # the same after a signal to end at once
_M_ARENA_MAX = -8  # of <malloc.h>
_STDERR = {"class": "logging.StreamHandler", "stream": "ext://sys.stderr"}
_FORMATTERS = {"console": "generic", "access": "access"}  # of granian, by its handlers
Place = Path | tuple[str, int]  # a socket, or an address and a port
_LOGGING = {"handlers": {name: {"formatter": form, **_STDERR} for name, form in _FORMATTERS.items()}}


class Server(Granian):  # type: ignore[misc,valid-type]  # granian chooses its class when it is imported
    """The server. It ends on SIGTERM, when no client waits for an answer any more, or some seconds later.

    Its workers share what they know of the end: whether answers close their connections, when one was last under way,
    and when they have to be gone (0: not yet), both of the monotonic clock.
    """

    def __init__(self, settings: Settings, place: Place, workers: int):
        idle_seconds = settings.idle_seconds if settings.socket is None else max(settings.idle_seconds, IDLE_SECONDS)
        super().__init__(
            "edge_auth",
            **({"uds": place} if isinstance(place, Path) else {"address": place[0], "port": place[1]}),
            uds_permissions=0o600,  # who reaches the socket reads all: only the user of the shim and of nginx
            interface=Interfaces.WSGI,
            http=HTTPModes.http1,  # with HTTP/2 on, granian does not close connections that send nothing
            http1_settings=HTTP1Settings(header_read_timeout=round(1000 * idle_seconds)),
            workers=workers,
            blocking_threads=THREADS,
            backlog=_BACKLOG_CONNECTIONS,
            backpressure=MAX_CONNECTIONS_PER_WORKER,
            respawn_failed_workers=True,
            workers_kill_timeout=round(_END_SECONDS),
            log_level=LogLevels.error,
            log_dictconfig=_LOGGING,
        )
        self.draining, self.busy_at, self.gone_at = RawValue(c_bool), RawValue(c_double), RawValue(c_double)
        self._drain_seconds = settings.drain_seconds
        self._restart_delay, self._restarted_at = 0.0, 0.0

    def signal_handler_interrupt(self, *arguments: Any) -> None:
        """End at once on Ctrl-C or on a second signal. On SIGTERM, drain first."""
        now = time.monotonic()
        if self.draining.value or arguments[:1] == (signal.SIGINT,):
            self._end(now + _CUT_SECONDS)
            return
        self.busy_at.value = now
        self.draining.value = True
        _start(partial(self._drain, now))

    def _drain(self, began: float) -> None:
        """Wait until no worker was busy for a moment."""
        while time.monotonic() < min(began + self._drain_seconds, self.busy_at.value + _QUIET_SECONDS):
            time.sleep(_TICK_SECONDS)
        self._end(max(began + _END_SECONDS, time.monotonic() + _CUT_SECONDS))

    def _end(self, gone_at: float) -> None:
        super().signal_handler_interrupt()
        self.gone_at.value = gone_at

    def _respawn_workers(self, workers: list[int], *arguments: Any, **more: Any) -> None:
        """Start failed workers again. granian would give up on one that fails twice within 5.5 seconds."""
        recent = time.monotonic() < self._restarted_at + _RESTARTS_FORGOTTEN_SECONDS
        self._restart_delay = min(max(1.0, self._restart_delay * 2), _MAX_RESTART_DELAY_SECONDS) if recent else 0.0
        end = time.monotonic() + self._restart_delay
        while time.monotonic() < end and not self.interrupt_signal:
            time.sleep(_TICK_SECONDS)
        super()._respawn_workers(workers, *arguments, **more)
        self._restarted_at = time.monotonic()
        self.respawned_wrks.clear()


def serve(
    settings: Settings, *, host: str, port: int, workers: int, metrics: tuple[str, int] | None, notes: Sequence[str]
) -> None:
    """Serve until SIGTERM or SIGINT, and finish requests in progress. `notes` are printed after the address."""
    with ExitStack() as ends:
        beside: list[Callable[[], object]] = []
        if settings.socket is not None:
            _free_socket(settings.socket)
        if metrics is not None:
            from edge_auth.serve.metrics_server import MetricsServer  # its client library is slow to import

            of_metrics = _free_address(*metrics, " for metrics", "choose another port")
            metrics_server = ends.enter_context(closing(MetricsServer(*of_metrics, Path(settings.state))))
            settings = replace(settings, metrics=metrics_server.folder)
            notes = [f"metrics at {_url(of_metrics)}/metrics", *notes]
            beside.append(metrics_server.serve_forever)
        place = settings.socket or _free_address(host, port, "", "choose another port (--port; PORT= with make)")
        server = Server(settings, place, workers)
        beside.append(partial(_announce, place, notes))
        for work in beside:
            server.on_startup(partial(_start, work))
        _prepare_process()
        try:
            server.serve(target_loader=partial(_worker, settings, os.getpid(), server), wrap_loader=False)
        except SystemExit:
            # A signal to all processes also reaches the workers. It is no failure if they end first.
            if not server.interrupt_signal:
                raise


def _start(work: Callable[[], object]) -> None:
    threading.Thread(target=work, daemon=True).start()


def _prepare_process() -> None:
    """Set what the workers inherit."""
    os.register_at_fork(after_in_child=_set_signals_of_worker)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each connection is an open file
    with suppress(AttributeError):  # only glibc has several heaps: one for each thread keeps 20 MB more
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
    gc.freeze()  # garbage collection in the workers would copy the memory pages that they share


def _set_signals_of_worker() -> None:
    """Let SIGTERM end a worker until it has a handler of its own: it inherits that of this process.

    Ctrl-C in a terminal reaches all processes, and a worker that gets a second signal while it ends waits for a third.
    So workers hear of Ctrl-C from their parent alone.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _free_address(host: str, port: int, use: str, advice: str) -> tuple[str, int]:
    """Return the numeric address and the port to listen on; port 0 becomes a free port.

    Workers share their port, so the kernel would let a second shim share it too. This check prevents that.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            bound: tuple[str, int] = probe.getsockname()[:2]
            return bound
    except OSError as error:
        in_use = error.errno == errno.EADDRINUSE
        reason = f"another process has it, {advice}" if in_use else error.strerror
        raise EdgeError(f"cannot listen on {host} port {port}{use}: {reason}") from error


def _free_socket(path: Path) -> None:
    """Remove the socket that a killed shim left."""
    try:
        _connect(path).close()
        reason = "another shim listens there, choose another --socket"
    except FileNotFoundError:
        if path.parent.is_dir():
            return
        reason = f"there is no folder {path.parent}"
    except ConnectionRefusedError:
        if path.is_socket():
            path.unlink(missing_ok=True)
            return
        reason = "this file is no socket"
    except OSError as error:
        reason = str(error.strerror or error)
    raise EdgeError(f"cannot listen on {path}: {reason}")


def _worker(settings: Settings, parent: int, server: Server) -> Flask:
    """Return the application of one worker process. While it drains, clients are to connect elsewhere."""

    def close_when_draining(response: Response) -> Response:
        if server.draining.value:
            response.headers["Connection"] = "close"
            server.busy_at.value = time.monotonic()
        return response

    _start(partial(_end_in_time, parent, server))
    _start(end_slow_readers)
    app = make_app(settings)
    app.after_request(close_when_draining)
    return app


def _end_in_time(parent: int, server: Server) -> None:
    """End this worker with the server, or after its parent was killed. granian would wait for half a request."""
    while os.getppid() == parent and not server.gone_at.value:
        time.sleep(_TICK_SECONDS)
        if server.draining.value and _is_answering():
            server.busy_at.value = time.monotonic()
    gone_at = server.gone_at.value or time.monotonic() + _END_SECONDS
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_QUIET_SECONDS)  # in which granian answers what has come, and the log is written
    while time.monotonic() < gone_at and _is_answering():
        time.sleep(_TICK_SECONDS)
    os._exit(0)


def _is_answering() -> bool:
    """Return whether a client waits for an answer or the rest of one: a thread is in the application, or bytes wait."""
    called = (frame for top in sys._current_frames().values() for frame, _ in walk_stack(top))
    return any(frame.f_code.co_filename == wsgi.__file__ for frame in called) or any(unread_handles())


def _announce(place: Place, notes: Sequence[str]) -> None:
    """Print the address or the socket, and the notes, as soon as a worker accepts connections."""
    while True:
        time.sleep(0.05)
        with suppress(OSError):
            _connect(place).close()
            break
    lines = (f"cardpress: {line}\n" for line in (f"listening on {_url(place)}", *notes))
    print("".join(lines), end="", file=sys.stderr, flush=True)


def _connect(place: Place) -> socket.socket:
    if isinstance(place, Path):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(1)
        connection.connect(str(place))
        return connection
    address, port = place
    return socket.create_connection(({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address), port), timeout=1)


def _url(place: Place) -> str:
    if isinstance(place, Path):
        return f"unix:{place}"
    address, port = place
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"
