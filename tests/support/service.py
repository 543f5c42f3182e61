"""The product from outside: its commands as processes, its API over raw HTTP.

This module does not import the product. It waits by polling, up to a time limit.
"""

import gzip
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.ports import free_port
from tests.support.programs import path_of

ROOT = Path(__file__).resolve().parents[2]
PLENTY = 1_000_000  # requests a minute: enough never to be in the way
API = "/api/v1"
Run = Callable[..., subprocess.CompletedProcess[str]]  # `run` of this module or of `tests.support.commands`


class Failed(Exception):
    """A command of the product ended with another exit status than 0."""


def run(*arguments: object, status: int = 0, seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """Run `cardpress <arguments>`, for `seconds` at most. Raise Failed with its last output if its status differs."""
    command = [sys.executable, "-m", "generator", *map(str, arguments)]
    result = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=seconds)
    if result.returncode != status:
        raise Failed(
            f"{' '.join(command[2:])}: exit {result.returncode}\n{result.stdout[-500:]}\n{result.stderr[-3000:]}"
        )
    return result


def environment() -> dict[str, str]:
    """Return this process's environment without the variables that set options of the product."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARDPRESS_")}
    return kept | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


def build(lake: Path | str, store: Path | str, as_of: str | None = None, *, publish: bool = True, by: Run = run) -> str:
    more = ["--as-of", as_of] * bool(as_of) + ["--publish"] * publish
    return by("build", "--lake", lake, "--store", store, *more).stdout.splitlines()[-1].strip()


def issue(
    store: Path | str,
    *scopes: str,
    name: str = "tests",
    rate_limit: int = PLENTY,
    expires: str | None = None,
    by: Run = run,
) -> str:
    """Issue a key, with every scope if none is named. Return it."""
    more = [part for scope in scopes for part in ("--scope", scope)] + ["--expires", expires] * bool(expires)
    result = by("keys", "issue", "--store", store, "--name", name, "--rate-limit", rate_limit, *more)
    return result.stdout.strip()


def until(check: Callable[[], Any], seconds: float, what: str) -> Any:
    """Call `check` until it returns a true value. Return the value; fail after some seconds."""
    deadline = time.monotonic() + seconds
    while not (value := check()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)
    return value


def answers(port: int, target: str = "/healthz", status: int = 200) -> bool:
    try:
        return Client(port).get(target).status == status
    except OSError:
        return False


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def running(
    command: Sequence[object], log: Path, is_up: Callable[[], object], stop: int = signal.SIGTERM, **more: Any
) -> Iterator[subprocess.Popen[str]]:
    """Run a server, from when it is up until the end of the block. Its output goes to a file."""
    with log.open("ab") as out:
        process = subprocess.Popen([*map(str, command)], stdout=out, stderr=out, **more)
    try:
        until(lambda: is_up() or process.poll() is not None, 120, f"{command[0]} is up")
        assert process.poll() is None, f"{command[0]} ended: {log.read_text(errors='replace')[-3000:]}"
        yield process
    finally:
        process.send_signal(stop)
        process.wait(60)


def hammer(port: int, key: str, times: int) -> "list[HttpAnswer]":
    """Send the same request several times, in a process of its own. Return the answers in order."""
    client = Client(port, key)
    return [client.get(f"{API}/me") for _ in range(times)]


@dataclass
class HttpAnswer:
    """One HTTP answer. `body` holds the bytes as sent; `text` and `json` are decoded."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def __getitem__(self, header: str) -> str | None:
        values = self.headers.get_all(header)
        return None if values is None else ", ".join(values)

    @property
    def plain(self) -> bytes:
        return gzip.decompress(self.body) if self["Content-Encoding"] == "gzip" else self.body

    @property
    def text(self) -> str:
        return self.plain.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.text, parse_constant=_refuse)

    @property
    def code(self) -> str | None:
        """Return the error code, or None; check the shape of the error."""
        if self.status < 400:
            return None
        error = self.json
        assert set(error) == {"error"} and set(error["error"]) == {"code", "message"}, error
        assert isinstance(error["error"]["message"], str) and error["error"]["message"], error
        return error["error"]["code"]

    @property
    def message(self) -> str:
        return self.json["error"]["message"]

    def listed(self, header: str) -> set[str]:
        return {item.strip().lower() for item in (self[header] or "").split(",") if item.strip()}


@dataclass
class Client:
    """One keep-alive connection. It sends targets exactly as written and follows no redirects."""

    port: int
    key: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def get(self, target: str, **headers: str) -> HttpAnswer:
        """Send a GET with this client's key. `X_Build="..."` sends the header `X-Build`."""
        return self.send("GET", target, headers={name.replace("_", "-"): v for name, v in headers.items()})

    def send(
        self, method: str, target: str, headers: dict[str, str] | Iterable[tuple[str, str]] = (), *, key: bool = True
    ) -> HttpAnswer:
        """Send any request. `key=False` leaves out this client's key."""
        pairs = list(self.headers.items()) + list(headers.items() if isinstance(headers, dict) else headers)
        if key and self.key is not None:
            pairs.insert(0, ("Authorization", f"Bearer {self.key}"))
        try:
            return self._once(method, target, pairs)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self.connection.close()  # the server may have closed an idle connection: try once more
            return self._once(method, target, pairs)

    def _once(self, method: str, target: str, pairs: list[tuple[str, str]]) -> HttpAnswer:
        self.connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in pairs:
            self.connection.putheader(name, value)
        self.connection.endheaders()
        response = self.connection.getresponse()
        return HttpAnswer(response.status, response.headers, response.read())

    def close(self) -> None:
        self.connection.close()


def patient(conf: str) -> str:
    """Return a configuration of nginx that waits for a shim as long as a busy machine takes."""
    for limit in ("proxy_connect_timeout 2s;", "proxy_read_timeout 30s;"):
        assert limit in conf, limit
        conf = conf.replace(limit, f"{limit.split()[0]} 600s;")
    return conf


class Service:
    """A running shim over a store, as a context manager. It asserts that the shim ends cleanly, or was killed.

    `log` is the path of its output, `state` its state folder, which a second shim can use again. It is up when
    /healthz answers with the status `healthz`, and serves metrics at the port `metrics`. With `through_nginx` it
    listens on a unix socket, and `port` is that of the nginx that `cardpress edge config` describes. This nginx
    serves metrics at `metrics_port`, and its log is `access.log` in `folder`.
    """

    through_nginx = False  # set by the option --through-nginx, for all services

    def __init__(
        self,
        store: Path | str,
        state: Path,
        *more: str,
        workers: int = 1,
        metrics: int | None = None,
        healthz: int = 200,
        may_log_traces: bool = False,
        through_nginx: bool | None = None,
    ) -> None:
        self.nginx: subprocess.Popen | None = None
        self.metrics, self.healthz = metrics, healthz
        self._keys = more[more.index("--keys") :][:2] if "--keys" in more else ()
        if through_nginx is not None:
            self.through_nginx = through_nginx
        self.store = store
        self.may_log_traces = may_log_traces
        self.state = state
        self.port, self.metrics_port = free_port(), free_port()
        self.log = state.parent / f"{state.name}-{self.port}.log"
        self.folder = Path(tempfile.mkdtemp(prefix="cardpress-nginx-")) if self.through_nginx else None
        place = {"--socket": self.folder / "shim"} if self.folder else {"--port": self.port}
        settings = place | {"--workers": workers, "--store": store, "--state": state, "--drain": 0}
        settings |= {"--metrics-port": metrics} if metrics else {}
        self.command = ["serve", *(str(part) for pair in settings.items() for part in pair), *more]

    def __enter__(self) -> "Service":
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.start_shim()
        if self.folder:
            self.nginx = self._start_nginx(self.folder)
        try:
            until(self._ready, 60, f"GET /healthz answers {self.healthz}")
        except AssertionError:
            self.process.kill()
            raise AssertionError(f"the shim did not come up:\n{self.log.read_text()[-3000:]}") from None
        return self

    def __exit__(self, kind: type | None, error: object, trace: object) -> None:
        self.process.terminate()
        if self.nginx:
            self.nginx.terminate()
            self.nginx.wait(60)
        try:
            status = self.process.wait(90)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("the shim did not end within 90 s of SIGTERM") from None
        finally:
            if self.folder:
                shutil.rmtree(self.folder, ignore_errors=True)  # after the shim, which deletes its socket
        if kind is None:
            written = self.log.read_text(errors="replace")
            assert status in (0, -signal.SIGKILL), f"exit {status} on SIGTERM:\n{written[-3000:]}"
            trace_at = written.find("Traceback")
            assert self.may_log_traces or trace_at < 0, written[max(0, trace_at - 1000) : trace_at + 5000]

    def client(self, key: str | None = None, **headers: str) -> Client:
        return Client(self.port, key, {name.replace("_", "-"): value for name, value in headers.items()})

    def get(self, target: str, key: str | None = None, method: str = "GET", **headers: str) -> HttpAnswer:
        """Send a request on a connection of its own."""
        return self.client(key, **headers).send(method, target)

    def logged(self) -> list[dict]:
        """Return what the log has of requests and failures."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def workers(self) -> list[int]:
        return children(self.process.pid)

    def start_shim(self) -> None:
        """Start the shim, also again after it was killed."""
        with self.log.open("wb") as log:
            command = [sys.executable, "-m", "generator", *self.command]
            self.process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=log, stderr=log)

    def _start_nginx(self, folder: Path) -> subprocess.Popen:
        """Start the nginx of `cardpress edge config`."""
        from tests.support import commands  # which imports the product: a process of its own takes longer than nginx

        places = {"--store": self.store, "--state": self.state, "--socket": folder / "shim", "--folder": folder}
        listen = {"--listen": f"127.0.0.1:{self.port}", "--metrics-listen": f"127.0.0.1:{self.metrics_port}"}
        words = [part for pair in (places | listen).items() for part in pair]
        printed = commands.run("edge", "config", *words, *self._keys, "--workers", 2).stdout
        (folder / "nginx.conf").write_text(patient(printed))
        command = [path_of("nginx"), "-c", folder / "nginx.conf", "-e", folder / "error.log"]
        with (folder / "error.log").open("wb") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def _ready(self) -> bool:
        assert self.process.poll() is None, f"the shim ended: {self.log.read_text()[-3000:]}"
        return answers(self.port, status=self.healthz)


def window_left(answer: HttpAnswer) -> tuple[int, int]:
    """Return the reset time and the remaining requests of the rate limit headers; check the headers' shape."""
    for name in ("Limit", "Remaining", "Reset"):
        assert re.fullmatch("[0-9]+", answer[f"X-RateLimit-{name}"] or ""), (name, dict(answer.headers))
    return int(answer["X-RateLimit-Reset"]), int(answer["X-RateLimit-Remaining"])


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")
