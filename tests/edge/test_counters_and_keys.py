"""The counter of the rate limit, by itself and over processes; when keys expire."""

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from edge_auth.live.counter import FileCounter, Usage
from generator.storage.keys import parse_expiry
from tests.releases.test_full_disk import fill, small_disk

NOW = 1_800_000_000.0 - 1_800_000_000 % 60


def told(usage: Usage) -> tuple[int, int, int, bool]:
    """What a client learns of its limit: limit, remaining, reset, and whether it is allowed."""
    return usage.limit, usage.remaining, usage.reset, usage.allowed


def _hits(job) -> int:
    file, count, now = job
    counter = FileCounter(file, print)
    return sum(counter.hit("key a", 120, now).allowed for _ in range(count))


def test_eight_processes_count_exactly(tmp_path):
    with ProcessPoolExecutor(8) as pool:
        allowed = sum(pool.map(_hits, [(tmp_path / "c", 100, NOW)] * 8))
    assert allowed == 120
    assert FileCounter(tmp_path / "c", print).hit("key a", 121, NOW).allowed
    assert not FileCounter(tmp_path / "c", print).hit("key a", 121, NOW).allowed


@pytest.mark.thorough
def test_processes_that_open_a_new_file_together_count_exactly(tmp_path):
    with ProcessPoolExecutor(8) as pool:
        for file in (tmp_path / str(n) for n in range(60)):
            assert sum(pool.map(_hits, [(file, 20, NOW)] * 8)) == 120


def test_windows_are_clock_minutes_and_never_go_back(tmp_path):
    counter = FileCounter(tmp_path / "c", print)
    first = counter.hit("k", 2, NOW + 59.9)
    assert told(first) == (2, 1, int(NOW) + 60, True)
    assert counter.hit("k", 2, NOW + 60).remaining == 1
    # The clock steps back: the newer window goes on.
    back = counter.hit("k", 2, NOW + 10)
    assert (back.reset, back.remaining, back.allowed) == (int(NOW) + 120, 0, True)
    assert told(counter.hit("k", 2, NOW + 10)) == (2, 0, int(NOW) + 120, False)
    assert counter.hit("other", 2, NOW + 10).reset == int(NOW) + 60


def test_a_lowered_limit_counts_at_once(tmp_path):
    counter = FileCounter(tmp_path / "c", print)
    for _ in range(5):
        counter.hit("k", 10, NOW)
    assert told(counter.hit("k", 3, NOW)) == (3, 0, int(NOW) + 60, False)
    assert counter.hit("k", 10, NOW).remaining == 4


@pytest.mark.parametrize("broken", ["folder in the way", "no space", "no folder"])
def test_a_failing_file_is_logged_once_and_counting_goes_on(tmp_path, broken):
    messages, file = [], tmp_path / "state" / "c"
    counter = FileCounter(file, messages.append)
    if broken == "folder in the way":
        file.mkdir(parents=True)
    elif broken == "no folder":
        file.parent.write_bytes(b"")
    else:
        file.parent.mkdir()
        file.symlink_to("/dev/full")
    assert [counter.hit("k", 2, NOW).allowed for _ in range(3)] == [True, True, False]
    assert counter.hit("k", 2, NOW + 60).allowed
    assert len(messages) <= 2, "one a minute"


def test_a_stopped_process_that_holds_the_lock_is_not_waited_for(tmp_path):
    messages, file = [], tmp_path / "c"
    counter = FileCounter(file, messages.append)
    assert counter.hit("k", 2, NOW).allowed
    holds = "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", holds, file], stdin=-1, stdout=-1) as holder:
        holder.stdout.readline()
        assert counter.hit("k", 2, NOW).allowed
        assert "counts alone" in messages[0]
        holder.communicate(b"\n")


@pytest.mark.parametrize("content", [b"", b"rubbish" * 1000, os.urandom(1 << 20)])
def test_any_content_counts_right(tmp_path, content):
    (tmp_path / "c").write_bytes(content)
    counter = FileCounter(tmp_path / "c", print)
    assert [counter.hit("k", 2, NOW).allowed for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize("spoil", [os.unlink, lambda path: os.truncate(path, 0)])
def test_a_spoilt_file_is_left_within_the_minute(tmp_path, spoil):
    before = FileCounter(tmp_path / "c", print)
    before.hit("k", 2, NOW)
    spoil(tmp_path / "c")
    after = FileCounter(tmp_path / "c", print)
    assert after.hit("k", 2, NOW + 60).allowed
    assert before.hit("k", 2, NOW + 60).remaining == 0
    assert not after.hit("k", 2, NOW + 60).allowed


@pytest.mark.parametrize("minutes", [3, 59, 1440])
def test_a_clock_that_was_far_ahead_blocks_no_request(tmp_path, minutes):
    counter = FileCounter(tmp_path / "c", print)
    assert [counter.hit("k", 1, NOW + 60 * minutes).allowed for _ in range(2)] == [True, False]
    assert told(counter.hit("k", 1, NOW)) == (1, 0, int(NOW) + 60, True)


@pytest.mark.parametrize("minutes", [1, 2])
def test_a_clock_that_was_a_little_ahead_gives_no_second_limit(tmp_path, minutes):
    counter = FileCounter(tmp_path / "c", print)
    assert counter.hit("k", 1, NOW + 60 * minutes).allowed
    assert not counter.hit("k", 1, NOW).allowed


def test_counts_are_exact_on_a_disk_that_fills(tmp_path):
    with small_disk(tmp_path / "disk", 4 << 20) as disk:
        assert FileCounter(disk / "c", print).hit("another key", 120, NOW).allowed
        fill(disk)
        with get_context("fork").Pool(4) as pool:
            assert sum(pool.map(_hits, [(disk / "c", 60, NOW)] * 4)) == 120


def test_counts_are_exact_as_soon_as_a_full_disk_has_room(tmp_path):
    with small_disk(tmp_path / "disk", 4 << 20) as disk:
        fill(disk)
        with get_context("fork").Pool(4) as pool:
            assert sum(pool.map(_hits, [(disk / "c", 60, NOW)] * 4)) >= 120, "each worker counts alone"
            (disk / "filler").unlink()
            assert sum(pool.map(_hits, [(disk / "c", 60, NOW + 60)] * 4)) == 120
        assert not FileCounter(disk / "c", print).hit("key a", 120, NOW + 60).allowed


def test_a_flood_of_addresses_touches_no_key(tmp_path, monkeypatch):
    monkeypatch.setattr("edge_auth.live.counter._BUCKETS", 8)  # so that a small flood fills each bucket many times
    counter = FileCounter(tmp_path / "c", print)
    for _ in range(5):
        counter.hit("key a", 50, NOW)
    size = (tmp_path / "c").stat().st_size
    for number in range(2000):
        for _ in range(7):
            counter.hit(f"address {number}", 120, NOW)
    assert counter.hit("key a", 50, NOW).remaining == 44
    assert (tmp_path / "c").stat().st_size == size


def test_no_number_of_keys_loses_the_count_of_one(tmp_path, monkeypatch):
    monkeypatch.setattr("edge_auth.live.counter._BUCKETS", 2)
    counters = [FileCounter(tmp_path / "c", print) for _ in range(2)]
    keys = [f"key {number}" for number in range(200)]
    for now in (NOW, NOW + 60):
        for expected in (2, 1, 0):
            assert {counters[expected % 2].hit(key, 3, now).remaining for key in keys} == {expected}
        assert not any(counters[0].hit(key, 3, now).allowed for key in keys)


@pytest.mark.parametrize(
    ("text", "expiry"),
    [
        ("2026-12-31", "2026-12-31T23:59:59Z"),
        ("2026-12-31T12:00:00Z", "2026-12-31T12:00:00Z"),
        ("2026-12-31T12:00:00+02:00", "2026-12-31T10:00:00Z"),
        ("2026-12-31 12:00:00.9", "2026-12-31T12:00:00Z"),
        ("0999-01-01", "0999-01-01T23:59:59Z"),
    ],
)
def test_expiry(text, expiry):
    assert parse_expiry(text) == expiry


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2026-02-30", "20261231", "2026-W01-1", "2026-12-31T12:00", "٢٠٢٦-١٢-٣١"]
)
def test_no_expiry(text):
    with pytest.raises(ValueError, match=r"."):
        parse_expiry(text)
