"""Builds on S3 that are killed in the middle of their upload: nothing half-written is ever live."""

import random
import subprocess
import sys
from itertools import accumulate
from pathlib import Path

import pytest

from generator.pack.verify import verify
from generator.storage.builds import live_build_id, open_build, read_pointer
from generator.storage.stores.open import open_store
from tests.support import nights
from tests.support.commands import build
from tests.support.fleet import make
from tests.support.nights import QUIET, demo_lake
from tests.support.s3_proxy import ALWAYS, Proxy
from tests.support.s3_servers import S3Server
from tests.support.service import ROOT, environment, until

KILLS = 2


def killed_after(writes: int, proxy: Proxy, *arguments: object) -> int:
    """Start a command and let so many of its writes through, no request after them; kill it; its exit status."""
    proxy.break_next("hang", ALWAYS, after_writes=writes)
    begun = len(proxy.requests)
    command = [sys.executable, "-m", "generator", *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    until(lambda: _more_than(writes, proxy.requests[begun:]) or process.poll() is not None, 180, f"{writes} writes")
    process.kill()
    process.communicate()
    proxy.break_next("", 0)
    return process.returncode


def _more_than(writes: int, requests: list[str]) -> bool:
    """Whether something was asked after so many writes."""
    counts = accumulate(line.startswith(("PUT", "DELETE")) for line in requests)
    return sum(count >= writes for count in counts) > 1


@pytest.mark.thorough
def test_a_build_killed_in_its_upload_is_completed_by_the_next(s3: S3Server, proxy: Proxy, tmp_path: Path) -> None:
    store, lake = f"s3://{s3.bucket()}/cards", demo_lake(tmp_path / "lake", 7)
    before = make(lake, store)
    new = nights.make(demo_lake(lake, 8), open_store(str(tmp_path / "calm")))
    opened, rng = open_store(store), random.Random(7)
    command = ["build", "--lake", lake, "--store", store, "--publish"]
    # After the trial of the server (4 writes) and the intent come packs; each next run has fewer left to send.
    for kill in range(KILLS):
        status = killed_after(rng.randint(6 + 2 * kill, 12 + 2 * kill), proxy, *command)
        assert (status, live_build_id(opened)) == (-9, before)
        verify(open_build(opened, before), QUIET)
    assert build(lake, store) == new
    pointer, _ = read_pointer(opened)
    assert (pointer.build, pointer.previous) == (new, [before])
    verify(open_build(opened, new), QUIET)
    _assert_indexes_went_last(proxy.requests)


def _assert_indexes_went_last(requests: list[str]) -> None:
    """An index says that its layer is there: nothing of a layer was sent after it, by any of the runs."""
    finished = set()
    for folder, _, name in (line.split()[1].rpartition("/") for line in requests if line.startswith("PUT")):
        if "/layers/" in folder:
            assert name == "index.arrow" or folder not in finished, f"{folder}/{name} was sent after its index"
            finished |= {folder} if name == "index.arrow" else set()
    assert finished
