"""The product's source code, parsed, for tests of its structure."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.service import ROOT

PACKAGES = ("generator", "edge_auth")
# Python files below `templates` are examples for the site, not modules.
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "templates" not in path.parts)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def module_name(path: Path) -> str:
    """Return the dotted name of the module in a file; of a package for its `__init__.py`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


@cache
def imports(name: str) -> set[str]:
    """Return the product's modules that a module imports, also inside functions and under `if TYPE_CHECKING`."""
    found = {target for node in ast.walk(parsed(MODULES[name])) for target in _targets(name, node)}
    return found - {name}


def _targets(name: str, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in MODULES)
    elif isinstance(node, ast.ImportFrom):
        base = _base(name, node)
        for alias in node.names:
            whole = f"{base}.{alias.name}"
            if whole in MODULES:
                yield whole
            elif base in MODULES:
                yield base


def _base(name: str, node: ast.ImportFrom) -> str:
    """Return the absolute name of the module after `from`."""
    if not node.level:
        return node.module or ""
    is_package = MODULES[name].name == "__init__.py"
    parents = name.split(".")[: len(name.split(".")) - node.level + is_package]
    return ".".join([*parents, *filter(None, [node.module])])


@cache
def docstrings(tree: ast.Module) -> set[ast.AST]:
    with_docstring = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for node in ast.walk(tree) if isinstance(node, with_docstring) and ast.get_docstring(node))
    return {node.body[0].value for node in nodes if isinstance(node.body[0], ast.Expr)}
