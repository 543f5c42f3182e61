"""Putting the files of layers into the store while others are still being made.

What lies there already, by size and hash, is not sent again: so a run that was killed goes on where it was.
"""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

from edge_auth.contract.store.interface import Digest, Store

THREADS = 4  # each may hold a pack in memory


class Uploads:
    """Threads that put immutable files into a store. Every method may raise StoreError for an earlier file.

    `resend`: whether to send also what the store says it has, since it may have rotted there.
    """

    def __init__(self, store: Store, resend: bool = False):
        self.store = store
        self.resend = resend
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="upload")
        self._pending: deque[Future[None]] = deque()

    def put(self, name: str, data: bytes, sha256: str) -> None:
        """Put a file sometime before `finish` returns."""
        while len(self._pending) >= THREADS:
            self._wait()
        self._pending.append(self._pool.submit(self._put, name, data, sha256))

    def finish(self) -> None:
        """Wait until every file is in the store."""
        while self._pending:
            self._wait()

    def close(self) -> None:
        """Drop what has not begun, wait for what has."""
        self._pool.shutdown(cancel_futures=True)

    def _wait(self) -> None:
        self._pending.popleft().result()

    def _put(self, name: str, data: bytes, sha256: str) -> None:
        if self.resend or self.store.digest(name) != Digest(len(data), sha256):
            self.store.put(name, data)
