"""`make test-nginx` runs every test that asks a shim."""

import re
from pathlib import Path

import pytest

from tests.support.service import ROOT

STARTS_A_SHIM = re.compile(r"\b(?:Service|RunningShim|open_client)\(")
ITSELF = ("tests/nginx/", "tests/siege/")  # these start their own nginx


def asking() -> list[str]:
    [paths] = re.findall(r"(?m)^ASKING := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text())
    return paths.replace("\\\n", " ").split()


@pytest.mark.parametrize("path", asking())
def test_its_paths_exist(path: str) -> None:
    assert (ROOT / path).exists()


def test_no_module_is_forgotten() -> None:
    modules = [file for file in (ROOT / "tests").rglob("test_*.py") if STARTS_A_SHIM.search(file.read_text())]
    names = [str(file.relative_to(ROOT)) for file in modules]
    assert len(names) > 15
    listed = tuple(asking())
    assert [name for name in sorted(names) if not name.startswith((*listed, *ITSELF)) and name != _own()] == []


def _own() -> str:
    return str(Path(__file__).relative_to(ROOT))
