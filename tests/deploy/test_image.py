"""The Dockerfile of the checkout: its steps make what serves a demo. No engine runs here, so they run in a folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy import containerfile
from tests.deploy.containerfile import FILE, OF_CHECKOUT, make_image, serve_demo, started, steps
from tests.support.ports import free_port
from tests.support.service import ROOT

TEXT = OF_CHECKOUT.read_text()


def of(name: str, file: Path) -> list[str]:
    return [step.rest for step in steps(file) if step.name == name]


def test_it_runs_as_the_image_of_an_operator_does() -> None:
    assert re.findall("(?m)^ARG .*", TEXT) == re.findall("(?m)^ARG .*", FILE.read_text())
    for name in ("USER", "EXPOSE", "VOLUME", "WORKDIR", "ENV"):
        assert of(name, OF_CHECKOUT) == of(name, FILE), name
    assert of("USER", OF_CHECKOUT) == ["10001:10001"]
    assert [step.name for step in steps(OF_CHECKOUT)].count("FROM") == 2


def test_it_copies_what_the_checkout_has_and_its_ignore_file_lets_through() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    sources = {source.rstrip("/") for source, _ in containerfile.copied(OF_CHECKOUT)}
    assert sources == allowed and all((ROOT / source).exists() for source in sources)


def test_a_linter_of_such_files_finds_nothing() -> None:
    for file in (OF_CHECKOUT, FILE):
        said = subprocess.run([Path(sys.executable).parent / "hadolint", file], capture_output=True, text=True)
        assert (said.returncode, said.stdout) == (0, ""), said.stderr


def test_its_command_is_shell() -> None:
    assert subprocess.run(["sh", "-n", "-c", containerfile.listed("CMD", OF_CHECKOUT)[-1]]).returncode == 0


@pytest.mark.thorough
def test_it_serves_the_demo_and_stops(tmp_path: Path) -> None:
    root = make_image(tmp_path / "image", OF_CHECKOUT, ROOT)
    stopped_at_once(root)
    serve_demo(root, free_port())
    serve_demo(root, free_port())  # the next start finds what the first one wrote


def stopped_at_once(root: Path) -> None:
    """The kernel drops a signal to process 1 that has no handler: the shell ends by itself, also while it builds."""
    with started(root, free_port(), (root / "var/lib/cardpress/lake").exists) as process:
        process.terminate()
        assert process.wait(5 * max(1, os.getloadavg()[0])) == 143
