"""`make run` from the outside: a port that is taken, one key for all runs, a link that opens the explorer."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.ports import free_port, is_free
from tests.support.programs import OURS, needs, shell_program
from tests.support.service import ROOT, Client, environment, until

pytestmark = needs("make")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ready virtual environment, whose programs are those that run this test."""
    folder = tmp_path_factory.mktemp("run")
    for name, line in {"python": f'exec {sys.executable} "$@"', "cardpress": OURS}.items():
        shell_program(folder / "venv" / "bin" / name, line)
    (folder / "venv" / ".ready-run").touch()
    return folder


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


def command(place: Path, port: int) -> list[str]:
    values = {"VENV": "venv", "LAKE": "lake", "STORE": "store", "RUN_KEY": "run-key"}
    words = ["make", "--no-print-directory", "-C", str(ROOT), "run", f"PORT={port}"]
    return [*words, *(f"{name}={place / v}" for name, v in values.items())]


def small(place: Path) -> dict[str, str]:
    state = {"CARDPRESS_STATE": str(place / "state")}
    return environment() | {"CARDPRESS_PRODUCTS": "20", "CARDPRESS_DAYS": "2", "CARDPRESS_DRAIN": "0"} | state


def run_until_it_serves(place: Path, port: int) -> str:
    """Return what `make run` printed, and the answer of the link's key, as soon as it serves. Then end it."""
    log = place / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command(place, port), env=small(place), stdout=out, stderr=out, start_new_session=True
        )
    try:
        until(lambda: "listening" in log.read_text() or process.poll() is not None, 60, "make run serves")
        text = log.read_text()
        assert process.poll() is None, text
        key = re.search(r"#key=(\S+)", text)[1]
        assert Client(port, key).get("/api/v1/me").status == 200
        return text
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)
        until(lambda: is_free(port), 60, "the shim has ended, for which make does not wait")


def test_a_taken_port_is_noticed_before_anything_is_made(place: Path, port: int) -> None:
    result = subprocess.run(command(place, port), env=small(place), capture_output=True, text=True, timeout=60)
    assert result.returncode != 0
    assert f"port {port} of 127.0.0.1 is taken" in result.stderr
    assert "PORT=" in result.stderr
    assert not (place / "lake").exists() and not (place / "store").exists()


def test_a_step_that_fails_says_why(place: Path, port: int, tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("no folder")
    words = [f"LAKE={tmp_path / 'lake'}" if word.startswith("LAKE=") else word for word in command(place, free_port())]
    result = subprocess.run(words, env=small(place), capture_output=True, text=True, timeout=60)
    assert result.returncode != 0 and f"cardpress: {tmp_path / 'lake'}" in result.stderr


@pytest.mark.thorough
def test_one_link_with_the_same_key_each_time(place: Path) -> None:
    free = free_port()
    texts = [run_until_it_serves(place, free) for _ in range(2)]
    links = [re.findall(rf"http://127\.0\.0\.1:{free}/explore#key=cpm_live_\w{{32}}", text) for text in texts]
    assert [len(found) for found in links] == [1, 1]
    assert links[0] == links[1]
    for text in texts:  # two steps, the link and the request with a sentence each, and the address
        assert len([line for line in text.splitlines() if line]) == 7, text
    assert (place / "run-key").stat().st_mode & 0o777 == 0o600
