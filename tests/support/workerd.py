"""workerd with the files of `cardpress deploy worker`, with or without a shim behind it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.ports import free_port
from tests.support.service import ROOT, Client, Service, environment, running

NODE_MODULES = Path(os.environ.get("CARDPRESS_TEST_NODE", ROOT / ".venv" / "node")) / "node_modules"
PROGRAM = NODE_MODULES / "@cloudflare" / "workerd-linux-64" / "bin" / "workerd"
SECRET = "a secret of the tests"
ADDRESS = "X-Real-IP"  # of a client, as the proxy in front would write it
needs_workerd = pytest.mark.skipif(not PROGRAM.is_file(), reason=f"no {PROGRAM} (make node-programs)")


def write_tree(store: Path | str) -> None:
    """Write the objects of a store's live build below its `tree/`."""
    run("export", f"{store}/tree", "--store", store)


@contextmanager
def workerd(folder: Path, *options: object) -> Iterator[int]:
    """Run workerd with the files that these options write. Yield its port."""
    port = free_port()
    (folder / "counts").mkdir(parents=True, exist_ok=True)
    run("deploy", "worker", folder, "--listen", f"127.0.0.1:{port}", "--counts", folder / "counts", "--force", *options)
    variables = environment() | {"CARDPRESS_WORKER_SECRET": SECRET}

    def is_up() -> bool:
        try:
            return Client(port).get("/nowhere").status > 0
        except OSError:
            return False

    with running([PROGRAM, "serve", folder / "workerd.capnp"], folder / "log", is_up, env=variables):
        yield port


class ServiceBehindWorker(Service):
    """A shim that a worker stands before: `port` is that of workerd, and `shim_port` that of the shim."""

    def __init__(self, store: Path | str, state: Path, *more: str, options: tuple[object, ...] = (), workers: int = 1):
        proxies = ("--trusted-proxy", "127.0.0.1", "--worker-secret", SECRET)
        super().__init__(store, state, *proxies, *more, workers=workers, through_nginx=False)
        self._options = options

    def __enter__(self) -> "ServiceBehindWorker":
        super().__enter__()
        self.shim_port = self.port
        options = ("--store", self.store, "--shim", f"http://127.0.0.1:{self.shim_port}", *self._options)
        self._worker = workerd(self.state.parent / f"worker-{self.port}", *options)
        self.port = self._worker.__enter__()
        return self

    def __exit__(self, kind: type | None, error: object, trace: object) -> None:
        self._worker.__exit__(None, None, None)
        super().__exit__(kind, error, trace)
