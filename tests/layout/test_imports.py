"""Imports point in one direction, and heavy libraries are loaded only where they are needed."""

import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.support.service import ROOT, environment
from tests.support.sources import MODULES, imports

pytestmark = pytest.mark.xdist_group("layout")  # one process: the code is parsed once

# From low to high. A module imports from its own group and from groups in the lines above, nothing else.
# Groups in one line do not import each other.
DIRECTION: list[list[tuple[str, ...]]] = [
    [tuple(f"generator.storage.{name}" for name in ("errors", "text", "times"))],
    [("generator.storage.stores",)],
    [("generator.storage",)],
    [("edge_auth.errors",)],
    [("edge_auth.parameters",)],
    [("edge_auth.search",)],
    [("edge_auth.live",)],
    [("edge_auth.api",)],
    [("edge_auth.serve",)],
    [tuple(f"generator.{name}" for name in ("errors", "clock", "settings", "terminal", "templates", "threads"))],
    [("generator.database",)],
    [("generator.pack",)],
    [("generator.tree",)],
    [("generator.lake",)],
    [("generator.ingest",), ("generator.fingerprints",), ("generator.site",)],
    [("generator.drawings",)],
    [("generator.demo",)],
    [("generator.compare",)],
    [("generator.releases",)],
    [("generator.making",)],
    [("generator.reading",)],
    [("generator.nightly",)],
    [("generator.commands",)],
    [("generator.cli",)],
    [("generator.__main__",)],
]
RANKS = {name: (rank, group) for rank, groups in enumerate(DIRECTION) for group in groups for name in group}
# A shim runs with no more than these: a package, and what it may import of the product.
ALONE = {"generator.storage": ("generator.storage.",), "edge_auth": ("edge_auth.", "generator.storage.")}
ABOVE = {"generator", "edge_auth"}  # the packages above all groups
ENTRANCE = "edge_auth"  # this one offers what stands in its modules, and imports it when it is asked for


def place(module: str) -> tuple[int, tuple[str, ...]]:
    found = [name for name in RANKS if f"{module}.".startswith(f"{name}.")]
    assert found, f"{module} is in no group: give it a place in DIRECTION"
    return RANKS[max(found, key=len)]


def test_there_is_no_cycle() -> None:
    try:
        TopologicalSorter({name: imports(name) for name in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def forbidden(name: str) -> list[str]:
    if name in ABOVE:
        return sorted(
            target for target in imports(name) if not f"{name} {target}".startswith(f"{ENTRANCE} {ENTRANCE}.")
        )
    rank, group = place(name)
    places = {target: place(target) for target in imports(name) - ABOVE}
    return sorted(target for target, (other, members) in places.items() if members != group and other >= rank)


def test_imports_point_downwards() -> None:
    upwards = {name: targets for name in MODULES if (targets := forbidden(name))}
    assert upwards == {}


def test_storage_and_shim_stand_without_the_generator() -> None:
    foreign = {
        name: sorted(target for target in imports(name) if not f"{target}.".startswith(allowed))
        for name in MODULES
        for package, allowed in ALONE.items()
        if f"{name}.".startswith(f"{package}.")
    }
    assert {name: targets for name, targets in foreign.items() if targets} == {}


def test_layers_share_through_no_other_layer() -> None:
    folder = "generator.making.layers"
    layers = {name for name in MODULES if name.startswith(f"{folder}.")}
    assert {name: found for name in layers if (found := imports(name) & layers)} == {}


def loaded_by(module: str) -> set[str]:
    script = f"import sys, {module}; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


@pytest.mark.parametrize(
    ("module", "others"),
    [
        ("edge_auth.serve.app, edge_auth.serve.server", {"duckdb", "boto3", "pandas"}),
        ("generator.cli", {"boto3", "dask", "distributed", "generator.making.cluster"}),
        pytest.param("generator.commands.serve, edge_auth.serve.app", {"redis"}, marks=pytest.mark.thorough),
    ],
)
def test_what_is_not_always_needed_is_not_loaded(module: str, others: set[str]) -> None:
    assert loaded_by(module) & others == set()


@pytest.mark.parametrize("package", ALONE)
def test_a_package_that_stands_alone_loads_nothing_else_of_the_product(package: str) -> None:
    modules = ", ".join(name for name in MODULES if f"{name}.".startswith(f"{package}."))
    loaded = {name for name in loaded_by(modules) if name.partition(".")[0] in ("generator", "edge_auth")}
    assert {name for name in loaded if not f"{name}.".startswith(ALONE[package])} <= {"generator"}
    assert (
        loaded_by(modules) & ({"duckdb", "flask", "jinja2"} if package == "generator.storage" else {"duckdb"}) == set()
    )
