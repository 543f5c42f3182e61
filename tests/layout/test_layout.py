"""The shape of the repository: imports point one way, the SQL is in the wheel, the documents name what there is."""

import ast
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import click
import pytest

from generator.cli import cli
from tests.support.service import ROOT, environment

SOURCES = sorted(path for package in ("generator", "edge_auth", "recognition") for path in (ROOT / package).rglob("*.py"))
MOST_LINES = 50


def commands(group: click.Group = cli, before: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """Every command by its words, groups left out."""
    found = {}
    for name, command in group.commands.items():
        words = (*before, name)
        found |= commands(command, words) if isinstance(command, click.Group) else {words: command}
    return found


def test_the_shim_loads_nothing_of_the_generator() -> None:
    script = "import sys, edge_auth.host.app, edge_auth.host.server; print(*sorted(m.partition('.')[0] for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"generator", "duckdb", "boto3", "pandas"} & set(done.stdout.split()) == set()


def test_the_contract_imports_nothing_of_the_shim() -> None:
    allowed = {"edge_auth.contract", "edge_auth.errors"}
    for path in (ROOT / "edge_auth" / "contract").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if module.startswith("edge_auth"):
                assert any(module.startswith(name) for name in allowed), f"{path.name} imports {module}"


def test_only_the_runner_on_a_cluster_loads_dask() -> None:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            found = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if path.name != "dask_runner.py":
                assert not {"dask", "distributed"} & {name.partition(".")[0] for name in found}, path
    script = "import sys, generator.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert {"generator.cli"} <= set(done.stdout.split())
    assert {"dask", "distributed", "generator.build.cluster.dask_runner"} & set(done.stdout.split()) == set()


def test_build_holds_sql_only() -> None:
    assert {path.suffix for path in (ROOT / "build").rglob("*") if path.is_file()} <= {".sql", ".j2", ".md"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_are_short_and_modules_say_what_they_are(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            assert node.end_lineno - body[0].lineno < MOST_LINES, f"{node.name} is too long"


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_is_explained(words: tuple[str, ...]) -> None:
    command = commands()[words]
    assert command.help and "Example" in command.help, "help without an example"
    assert all(option.help for option in command.params if isinstance(option, click.Option))
    assert all(option.envvar for option in command.params if isinstance(option, click.Option))
    operators = (ROOT / "docs" / "operators.md").read_text()
    assert words[0] in operators and words[-1] in operators


def test_the_readme_names_commands_that_exist() -> None:
    text = (ROOT / "README.md").read_text()
    named = set(re.findall(r"(?:`|\$ )cardpress ([a-z]+)", text))
    assert named - {words[0] for words in commands()} == set()
    links = re.findall(r"\]\(([a-z/]+(?:\.md)?)\)", text)
    assert [link for link in links if not (ROOT / link).exists()] == []


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
        kept = environment() | {"PYTHONPATH": str(tmp_path / "installed")}
        done = subprocess.run(run, cwd=tmp_path, env=kept, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
