"""The recipe of `docs/backup.md`, run as it stands: after a restore the same build answers, and the keys are valid."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import issue, run
from tests.support.nights import published
from tests.support.programs import OURS, shell_program
from tests.support.service import ROOT, environment

pytestmark = pytest.mark.xdist_group("nights")


def script(heading: str) -> str:
    text = (ROOT / "docs" / "backup.md").read_text()
    [lines] = re.findall(rf"(?s)^## {heading}\n.*?```sh\n(.*?)```", text, re.MULTILINE)
    return lines


def shell(lines: str, folder: Path) -> str:
    """Run lines of a shell in which `cardpress` is this checkout's."""
    places = {name: str(folder / name.lower()) for name in ("LAKE", "STORE", "BACKUP")}
    program = shell_program(folder / "bin" / "cardpress", OURS)
    variables = environment() | places | {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(folder)}
    result = subprocess.run(["sh", "-eu", "-c", lines], env=variables, capture_output=True, text=True, cwd=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.thorough
def test_a_backup_restores_the_same_build_and_the_keys(tmp_path: Path) -> None:
    store, lake, ids = published(tmp_path, 7, 8)
    issue(store.root, name="client")
    keys = run("keys", "list", "--store", store.root, "--json").stdout
    card = run("cat", "cards/all/trend/0.json", "--store", store.root).stdout
    shell(script("Back up"), tmp_path)
    shutil.rmtree(lake)
    shutil.rmtree(store.root)
    actual = shell(script("Restore"), tmp_path)
    assert ids[1] in actual
    assert run("keys", "list", "--store", store.root, "--json").stdout == keys
    assert run("cat", "cards/all/trend/0.json", "--store", store.root).stdout == card
    [backup] = (tmp_path / "backup").iterdir()
    assert json.loads((backup / "current.json").read_text())["build"] == ids[1]
