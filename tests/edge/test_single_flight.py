"""Reads that requests wait for: what a store that throttles or hangs costs those that it would answer."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Semaphore

import pytest

from edge_auth.errors import DamagedObject, StoreError
from edge_auth.live import waiting
from edge_auth.live.waiting import SingleFlight


def throttled() -> None:
    raise StoreError("the server answered SlowDown (503) to GetObject")


def fail_slowly(flights: SingleFlight, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, pytest.raises(StoreError, match="SlowDown"):
        patch.setattr(waiting, "_SLOW_SECONDS", -1)
        flights.get({"slow failure": throttled})


def test_one_slow_failure_among_successes_refuses_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    flights, begun, answers = SingleFlight(seconds=60), Semaphore(0), Event()

    def read() -> str:
        begun.release()
        assert answers.wait(60)
        return "read"

    fail_slowly(flights, monkeypatch)
    assert flights.get({"success": lambda: "read"}) == ["read"]
    fail_slowly(flights, monkeypatch)
    with ThreadPoolExecutor(8) as pool:
        results = [pool.submit(flights.get, {number: read}) for number in range(8)]
        for _ in results:
            assert begun.acquire(timeout=60)
        answers.set()
        assert [result.result() for result in results] == [["read"]] * 8


def test_a_store_that_throttles_is_tried_by_a_few_requests_at_once_and_by_more_after_each_success(monkeypatch) -> None:
    flights, begun, answers = SingleFlight(seconds=60), Semaphore(0), Event()
    fail_slowly(flights, monkeypatch)
    fail_slowly(flights, monkeypatch)

    def read() -> str:
        begun.release()
        assert answers.wait(60)
        return "read"

    with ThreadPoolExecutor(4) as pool:
        few = [pool.submit(flights.get, {number: read}) for number in range(4)]
        for _ in few:
            assert begun.acquire(timeout=60)
        with pytest.raises(StoreError, match="too slow a moment ago"):
            flights.get({"one more": read})
        answers.set()
        assert [result.result() for result in few] == [["read"]] * 4
    answers.clear()
    with ThreadPoolExecutor(20) as pool:
        more = [pool.submit(flights.get, {number: read}) for number in range(20)]
        for _ in more:
            assert begun.acquire(timeout=60)
        answers.set()
        assert [result.result() for result in more] == [["read"]] * 20


def test_only_a_read_that_took_long_itself_says_that_the_store_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time in the queue is none of the read's own, and damage says nothing of speed."""
    monkeypatch.setattr(waiting, "_SLOW_SECONDS", 0.05)
    flights = SingleFlight(seconds=60)

    def damaged() -> None:
        Event().wait(0.06)
        raise DamagedObject("a bit differs")

    def fails_at_once() -> None:
        raise StoreError("reset")

    for number in range(8):
        with pytest.raises(DamagedObject):
            flights.get({number: damaged})
        with pytest.raises(StoreError, match="reset"):
            flights.get({number: fails_at_once})
    assert flights.get({"good": lambda: "read"}) == ["read"]
