"""Floods of requests, and checks of the answers in each window of the rate limit."""

import re
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tests.support.service import Client, HttpAnswer, Service, window_left

T = TypeVar("T")
FALLBACKS = re.compile(r"(?m)^cardpress_rate_limit_fallbacks_total ([0-9.]+)$")


def in_one_window(attempt: Callable[[], tuple[set[int], T]]) -> T:
    """Return the result of the first attempt whose answers share one window; try three times."""
    for _ in range(3):
        resets, found = attempt()
        if len(resets) == 1:
            return found
    raise AssertionError("no attempt fitted into one minute")


def flood(client_for: Callable[[], Client], path: str, threads: int, each: int) -> dict[int, list[HttpAnswer]]:
    """Send requests from many threads at once. Return the answers by the end of their window."""

    def send(_: int) -> list[HttpAnswer]:
        client = client_for()
        return [client.get(path) for _ in range(each)]

    windows: dict[int, list[HttpAnswer]] = defaultdict(list)
    with ThreadPoolExecutor(threads) as pool:
        for answers in pool.map(send, range(threads)):
            for answer in answers:
                windows[window_left(answer)[0]].append(answer)
    return windows


def assert_exact(windows: dict[int, list[HttpAnswer]], limit: int) -> None:
    """Check that no window accepted more than the limit, and that a window with refusals accepted exactly the limit."""
    assert any(answer.status == 429 for answers in windows.values() for answer in answers)
    for reset, answers in windows.items():
        left = sorted(window_left(answer)[1] for answer in answers if answer.status != 429)
        refused = [answer for answer in answers if answer.status == 429]
        assert reset % 60 == 0
        assert left == list(range(limit - len(left), limit))  # each number of remaining requests occurs once
        assert len(left) == limit if refused else len(left) <= limit
        for answer in refused:
            _assert_refusal(answer, limit)


def _assert_refusal(answer: HttpAnswer, limit: int) -> None:
    assert answer.code == "rate_limited"
    assert (answer["X-RateLimit-Limit"], answer["X-RateLimit-Remaining"]) == (str(limit), "0")
    wait = int(answer["Retry-After"])
    assert 1 <= wait <= 60
    assert abs(int(answer["X-RateLimit-Reset"]) - time.time() - wait) < 30
    assert answer["Cache-Control"] == "no-store"


def fallbacks(service: Service) -> float:
    assert service.metrics
    return float(FALLBACKS.search(Client(service.metrics).get("/metrics").text)[1])
