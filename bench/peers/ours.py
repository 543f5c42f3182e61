"""The product: one worker of the shim, with key check and rate limit, alone or behind its own nginx."""

import shlex
import shutil
from pathlib import Path

from bench.data import cardpress
from bench.peers.peer import Peer


class Ours(Peer):
    """`cardpress serve` on a store."""

    name = "cardpress"
    offers = frozenset({"lists", "deep", "words", "details", "endpoints", "page"})
    ready = "/healthz"
    encodings = ("identity", "gzip")
    workers = 1

    def command(self, port: int) -> list[str]:
        shutil.rmtree(self.data.state, ignore_errors=True)
        where = ("--store", self.data.store, "--state", self.data.state, "--port", port)
        return cardpress("serve", *where, "--workers", self.workers, "--drain", 0)

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.data.key}"}

    def files(self) -> Path:
        return self.data.store


class EdgePeer(Ours):
    """`cardpress serve --socket` behind the nginx of `cardpress edge config`, with one worker each.

    nginx checks the key, counts the limit and answers from its cache.
    """

    name = "cardpress behind nginx"
    offers = frozenset({"page"})

    def lacks(self) -> str | None:
        found = shutil.which("nginx")
        return None if found else "apt-get install nginx libnginx-mod-http-lua lua-resty-core lua-cjson"

    def command(self, port: int) -> list[str]:
        """Return the command that starts a shim and the nginx before it, with an empty cache."""
        folder = self.data.state
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "nginx").mkdir(parents=True)
        places = ("--store", self.data.store, "--state", folder / "state", "--socket", folder / "shim")
        config = cardpress("edge", "config", *places, "--folder", folder / "nginx", "--listen", f"127.0.0.1:{port}")
        shim = cardpress("serve", *places, "--workers", self.workers)
        file = shlex.quote(str(folder / "nginx.conf"))
        script = f"{shlex.join(shim)} & {shlex.join([*config, '--workers', '1'])} > {file} && nginx -c {file}"
        return ["sh", "-c", script]
