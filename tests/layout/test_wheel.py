"""A wheel is complete: the commands run from it without the source folder."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.service import ROOT, environment


@pytest.mark.thorough
def test_the_wheel_carries_the_sql(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    for words in (
        ("demo", "lake", "--products", "5", "--days", "3"),
        ("build", "--lake", "lake", "--as-of", "2025-11-17"),
    ):
        run = [sys.executable, "-P", "-m", "generator", *words]
        variables = environment() | {"PYTHONPATH": str(tmp_path / "installed")}
        result = subprocess.run(run, cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
