"""The product: one worker of the shim, with key check and rate limit."""

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
