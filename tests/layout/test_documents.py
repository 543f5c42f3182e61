"""Each module has a place in a README, and documents name what exists."""

import re
from pathlib import Path

import pytest

from tests.support.service import ROOT
from tests.support.sources import FILES, PACKAGES

READMES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("README.md"))
FIRST_PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
# Not the change log and the decisions: they also name what earlier versions had.
DOCUMENTS = [*(ROOT / name for name in FIRST_PAGES), *(ROOT / "docs").glob("*.md"), *READMES]
DOCUMENTS += [path for folder in ("build", "bench", "tests") for path in (ROOT / folder).rglob("README.md")]
PATH = re.compile(rf"`((?:{'|'.join(PACKAGES)}|tests)/[a-z][a-z0-9_./-]+)`")
QUOTED = re.compile(r"`([A-Za-z0-9_./-]+)`")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def readme_of(path: Path) -> Path | None:
    """Return the nearest README in a module's folder or above, inside its package."""
    inside = [folder for folder in path.parents if folder.is_relative_to(ROOT / path.relative_to(ROOT).parts[0])]
    return next((folder / "README.md" for folder in inside if (folder / "README.md").exists()), None)


def names(readme: Path) -> set[str]:
    """Return the stems of all names in backticks: `name`, `name.py`, `folder/name`; and folders as `folder/`."""
    quoted = QUOTED.findall(readme.read_text("utf-8"))
    return {name if name.endswith("/") else name.removesuffix(".py").rpartition("/")[2] for name in quoted}


def is_named(path: Path, readme: Path | None) -> bool:
    """Return whether a README names a module, or the folder without a README of its own that holds it."""
    return readme is not None and bool({path.stem, f"{path.parent.name}/"} & names(readme))


def test_a_readme_names_each_module() -> None:
    readmes = {path: readme_of(path) for path in FILES if not path.stem.startswith("__")}
    missing = [path for path, readme in readmes.items() if not is_named(path, readme)]
    assert [relative(path) for path in missing] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_documents_name_only_paths_that_exist(document: Path) -> None:
    paths = set(PATH.findall(document.read_text("utf-8")))
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=relative)
def test_the_first_lines_of_a_page_say_for_whom_it_is(page: Path) -> None:
    assert "*For " in "".join(page.read_text("utf-8").splitlines(keepends=True)[:4])


DECISIONS = sorted(path for path in (ROOT / "docs" / "decisions").glob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("page", DECISIONS, ids=relative)
def test_a_page_of_decisions_is_listed_and_says_when_it_was_decided(page: Path) -> None:
    head = page.read_text("utf-8").partition("\n## ")[0]
    assert re.search(r"Decided \d{4}-\d{2}-\d{2}", head)
    assert f"[{page.stem}]({page.name})" in (page.parent / "README.md").read_text("utf-8")
