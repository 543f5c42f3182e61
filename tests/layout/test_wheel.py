"""A wheel is complete, and is made again with the same bytes."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.service import ROOT, environment

PACKAGES = ("generator", "edge_auth")


def build_wheel(source: Path, target: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    [wheel] = target.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


def test_each_package_says_that_it_has_types(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)


@pytest.mark.thorough
def test_another_checkout_gives_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    """The files of a checkout have other times and modes, and lie in their folders in another order."""
    source, ignored = tmp_path / "source", shutil.ignore_patterns("__pycache__")
    for folder in (*PACKAGES, "build", "docs"):
        shutil.copytree(ROOT / folder, source / folder, copy_function=shutil.copyfile, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "requirements.lock"):
        shutil.copyfile(ROOT / name, source / name)
    for file in source.rglob("*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    assert build_wheel(source, tmp_path).read_bytes() == wheel.read_bytes()


@pytest.mark.thorough
def test_the_wheel_carries_the_sql_and_the_files_to_deploy_with(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    for words in (
        ("demo", "lake", "--products", "5", "--days", "3", "--end", "2025-11-17"),
        ("build", "--lake", "lake", "--as-of", "2025-11-17"),
        ("docs", "static-tree"),
        ("deploy", "systemd", "units", "--program", "/opt/cardpress/bin/cardpress"),
        ("deploy", "container", "image", "--wheel", wheel),
    ):
        run = [sys.executable, "-P", "-m", "generator", *words]
        variables = environment() | {"PYTHONPATH": str(tmp_path / "installed")}
        result = subprocess.run(run, cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
    assert (tmp_path / "image" / "requirements.lock").read_bytes() == (ROOT / "requirements.lock").read_bytes()
