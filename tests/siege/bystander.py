"""Other clients: they ask for small answers all the time and note how long each took."""

import threading
import time
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from tests.support.service import Client

PATHS = ("/api/v1/status", "/api/v1/cards?limit=20", "/api/v1/sets", "/healthz?live")
_PAUSE_SECONDS = 0.02


@dataclass
class Figures:
    """Times of answers in milliseconds, and how many answers were no 200."""

    times: list[float] = field(default_factory=list)
    failures: int = 0

    def percentile(self, percent: float) -> float:
        return float(np.percentile(self.times, percent)) if self.times else float("inf")


class Bystanders:
    """Two clients with keys in threads; a context manager whose `figures` are whole at its end."""

    def __init__(self, port: int, key: str):
        self.figures = Figures()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(Client(port, key),)) for _ in range(2)]

    def __enter__(self) -> "Bystanders":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, client: Client) -> None:
        for number in count(1):  # an attack may be over before a client has asked once
            started = time.perf_counter()
            try:
                ok = client.get(PATHS[number % len(PATHS)]).status == 200
            except OSError:
                ok = False
            self.figures.times.append((time.perf_counter() - started) * 1000)
            self.figures.failures += not ok
            if self._stop.wait(_PAUSE_SECONDS):
                break
        client.close()
