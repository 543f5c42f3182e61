"""A client that reads all the time in a thread of its own, while a test does something to the store behind the shim."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.support.service import API, Client, until

PATHS = (f"{API}/status", f"{API}/cards?sort=trend&limit=50", f"{API}/sets", f"{API}/movers")


@dataclass
class Reader:
    """The client, as a context manager: the statuses, and the builds, of its answers."""

    client: Client
    paths: Sequence[str] = PATHS
    statuses: set[int] = field(default_factory=set)
    builds: set[str] = field(default_factory=set)
    answers: int = 0

    def __enter__(self) -> "Reader":
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def forget(self) -> None:
        """Begin anew, after each path was read again."""
        self.read_everything()
        self.statuses, self.builds = set(), set()

    def read_everything(self) -> None:
        wanted = self.answers + 2 * len(self.paths)
        until(lambda: self.answers >= wanted, 60, "the client has read everything again")

    def _read(self) -> None:
        while not self._stop.wait(0.03):
            answer = self.client.get(self.paths[self.answers % len(self.paths)])
            self.statuses.add(answer.status)
            self.builds.update({answer["X-Build"]} - {None})  # /changes speaks for no build; `|=` would undo `forget`
            self.answers += 1


def until_served(client: Client, build: str) -> None:
    until(lambda: client.get(f"{API}/status")["X-Build"] == build, 60, "the shim answers from the build")
