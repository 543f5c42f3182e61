"""The shape of the code: where modules lie, how large functions are, and what is written in one place only."""

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service import ROOT
from tests.support.sources import FILES, docstrings, parsed

pytestmark = pytest.mark.xdist_group("layout")  # one process: the code is parsed once
MAX_FLAT_MODULES = 8
MAX_FUNCTION_LINES = 50
SHORT_WITHOUT_DOCSTRING = 8  # lines of a body
# The folders of a store. Only `layout` spells their names, so a layout that changes is changed in one file.
STORE_PREFIX = re.compile("/?(builds|layers|gates|reports|intents|work|private)/")
LAYOUT = ROOT / "generator" / "storage" / "layout.py"
INTERFACE = ROOT / "generator" / "storage" / "stores" / "interface.py"
CODE = [*FILES, *sorted((ROOT / "bench").rglob("*.py"))]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_few_modules_lie_flat_in_the_generator() -> None:
    flat = {path.stem for path in (ROOT / "generator").glob("*.py")} - {"__init__", "__main__"}
    assert len(flat) <= MAX_FLAT_MODULES, sorted(flat)


def test_build_holds_sql_only() -> None:
    assert {path.suffix for path in (ROOT / "build").rglob("*") if path.is_file()} <= {".sql", ".j2", ".md"}


def test_modules_have_docstrings() -> None:
    assert [relative(path) for path in CODE if not ast.get_docstring(parsed(path))] == []


def test_functions_are_short() -> None:
    functions = ((path, node) for path in CODE for node in ast.walk(parsed(path)))
    lengths = {
        f"{relative(path)}: {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path, node in functions
        if isinstance(node, ast.FunctionDef)
    }
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


def public_functions(node: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Yield the functions and methods of a module that others call."""
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.ClassDef) and not child.name.startswith("_"):
            yield from [child] if isinstance(child, ast.FunctionDef) else public_functions(child)


def test_long_public_functions_say_what_they_do() -> None:
    found = ((path, function) for path in CODE for function in public_functions(parsed(path)))
    silent = [
        f"{relative(path)}: {function.name}"
        for path, function in found
        if not ast.get_docstring(function)
        and (function.end_lineno or 0) - function.body[0].lineno + 1 >= SHORT_WITHOUT_DOCSTRING
    ]
    assert silent == []


def test_no_two_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path in [*CODE, *sorted((ROOT / "tests").rglob("*.py"))]:
        for name in re.findall(r"^class (\w+)", path.read_text("utf-8"), re.MULTILINE):
            places[name].append(relative(path))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_each_ignored_type_error_states_its_reason() -> None:
    ignores = [line for path in CODE for line in path.read_text("utf-8").splitlines() if "# type: ignore" in line]
    assert [line for line in ignores if not re.search(r"# type: ignore\[[\w,-]+\]  # \w+", line)] == []


def texts(path: Path) -> Iterator[str]:
    """Yield the string literals of a module, without docstrings."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings(parsed(path)):
            yield node.value


def test_only_the_layout_spells_the_folders_of_a_store() -> None:
    spelled = {relative(path): [text for text in texts(path) if STORE_PREFIX.match(text)] for path in CODE}
    del spelled[relative(LAYOUT)]
    assert spelled.pop(relative(INTERFACE)) == ["private/"]  # a store keeps these objects from other users
    assert {path: found for path, found in spelled.items() if found} == {}, "use generator.storage.layout"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no clone")
def test_a_clone_holds_the_folders_that_contributing_names() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders = {name.partition("/")[0] for name in tracked.splitlines() if "/" in name}
    shown = re.findall(r"^\| `(\w+)/` \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    assert folders - {".ci", ".github"} == set(shown)
