"""Puts the files of layers into the store while others are still being made.

A file that the store has already, by size and hash, is not sent again. So a run that was killed can continue.
"""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

from edge_auth.store.interface import Digest, Store

THREADS = 4  # each may hold a pack in memory


class Uploads:
    """Threads that put immutable files into a store.

    Every method may raise the StoreError of an earlier file.

    Args:
        resend: Send also the files that the store has, since they may be damaged there.
    """

    def __init__(self, store: Store, resend: bool = False):
        self.store = store
        self.resend = resend
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="upload")
        self._pending: deque[Future[None]] = deque()

    def put(self, name: str, data: bytes, sha256: str) -> None:
        """Put a file at some time before `finish` returns."""
        while len(self._pending) >= THREADS:
            self._wait()
        self._pending.append(self._pool.submit(self._put, name, data, sha256))

    def finish(self) -> None:
        """Wait until every file is in the store."""
        while self._pending:
            self._wait()

    def close(self) -> None:
        """Drop the files that no thread has begun, and wait for the others."""
        self._pool.shutdown(cancel_futures=True)

    def _wait(self) -> None:
        self._pending.popleft().result()

    def _put(self, name: str, data: bytes, sha256: str) -> None:
        if self.resend or self.store.digest(name) != Digest(len(data), sha256):
            self.store.put(name, data)
