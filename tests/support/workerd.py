"""workerd with the files of `cardpress deploy worker`, with or without a shim behind it."""

import os
from collections.abc import Callable, Iterator
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


# R2 as the worker sees it: a binding with `get`, whose objects are gzip as stored, but for the keys.
_BUCKET = """
import { WorkerEntrypoint } from "cloudflare:workers";
export default class extends WorkerEntrypoint {
  async get(name) {
    const found = await this.env.STORE.fetch("http://store/" + name), packed = name.startsWith("tree/");
    if (found.status === 404) return null;
    const bytes = await found.arrayBuffer(), plain = new Response(bytes).body;
    const body = packed ? plain.pipeThrough(new CompressionStream("gzip")) : plain;
    return { body, httpMetadata: packed ? { contentEncoding: "gzip" } : {}, etag: `${bytes.byteLength}` };
  }
}
"""
_SERVICE_OF_BUCKET = """
    (name = "bucket", worker = (
      modules = [(name = "bucket.js", esModule = embed "bucket.js")],
      compatibilityDate = "2026-11-01", bindings = [(name = "STORE", service = "store")])),
"""


def use_bucket(folder: Path) -> None:
    """Let a worker read its store, which is a folder, through a binding such as that of R2."""
    (folder / "bucket.js").write_text(_BUCKET)
    file = folder / "workerd.capnp"
    text = file.read_text().replace('(name = "STORE", service = "store")', '(name = "BUCKET", service = "bucket")')
    text = text.replace('"http://store/"', '""').replace("  services = [\n", f"  services = [{_SERVICE_OF_BUCKET}")
    file.write_text(text)


@contextmanager
def workerd(folder: Path, *options: object, change: Callable[[Path], object] = lambda folder: None) -> Iterator[int]:
    """Run workerd with the files that these options write, and that `change` may change. Yield its port."""
    port = free_port()
    (folder / "counts").mkdir(parents=True, exist_ok=True)
    run("deploy", "worker", folder, "--listen", f"127.0.0.1:{port}", "--counts", folder / "counts", "--force", *options)
    change(folder)
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
