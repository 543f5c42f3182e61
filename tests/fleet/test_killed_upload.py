"""Builds on S3 that are killed in the middle of their upload: nothing half-written is ever live."""

import random
import subprocess
import sys
from pathlib import Path

from edge_auth.contract.builds import live_build_id, open_build, read_pointer
from edge_auth.contract.store import open_store
from generator.build import make_build
from generator.lake import open_lake
from generator.verify import verify
from tests.fleet.fleet import QUIET, make
from tests.nights import demo_lake
from tests.service import ROOT, build, environment, until
from tests.stores.proxy import Proxy
from tests.stores.servers import Server

KILLS = 3


def puts(proxy: Proxy) -> int:
    return sum(line.startswith(("PUT", "POST")) for line in proxy.requests)


def killed_after(count: int, proxy: Proxy, *arguments: object) -> int:
    """Start a command, and kill it once it has sent so many writes; its exit status."""
    begun = puts(proxy)
    command = [sys.executable, "-m", "generator", *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    until(lambda: puts(proxy) - begun >= count or process.poll() is not None, 60, f"{count} writes")
    process.kill()
    process.communicate()
    return process.returncode


def test_a_build_killed_in_its_upload_is_completed_by_the_next(s3: Server, proxy: Proxy, tmp_path: Path) -> None:
    store, lake = f"s3://{s3.bucket()}/cards", demo_lake(tmp_path / "lake", 7)
    before = make(lake, store)
    new = _undisturbed(demo_lake(lake, 8), tmp_path / "calm")
    opened, rng = open_store(store), random.Random(7)
    for kill in range(KILLS):
        # The first kill meets the trial of the server, the intent or the first packs; each next run gets further.
        status = killed_after(rng.randint(4 + 3 * kill, 9 + 4 * kill), proxy, *_publish(lake, store))
        assert status == -9 or live_build_id(opened) == new
        assert live_build_id(opened) in (before, new)
        verify(open_build(opened, live_build_id(opened)), QUIET)
    assert build(lake, store) == new
    pointer, _ = read_pointer(opened)
    assert (pointer.build, pointer.previous) == (new, [before])
    verify(open_build(opened, new), QUIET)


def _publish(lake: Path, store: str) -> list[object]:
    return ["build", "--lake", lake, "--store", store, "--publish"]


def _undisturbed(lake: Path, store: Path) -> str:
    """The id of the lake's build, as a run on disk tells it."""
    return make_build(open_lake(str(lake)), open_store(str(store)), threads=2, memory="1GB", progress=QUIET).id
