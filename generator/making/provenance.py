"""Where a build comes from: the inputs and the code, by their hashes. It depends on no machine and no clock.

The gate results are not here, because the record of a build is written before any night judges it. They are in
`gates/<build>.json` (`compare.judgements`).
"""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import edge_auth
import generator
from edge_auth.builds import layout
from edge_auth.builds.builds import Provenance
from generator.database import sql_root
from generator.lake.files import LakeFile, hashes_by_day
from generator.lake.lake import RECIPE_NAME, Lake
from generator.making.periods import open_month

_CODE_SUFFIXES = {".py", ".sql", ".j2", ".md", ".js", ".mjs", ".css", ".json"}


def provenance(lake: Lake, build_id: str) -> Provenance:
    """Return the inputs, the code and the place of the gate results of a build, as JSON.

    The hash of a table is over the days and hashes of its files, whatever their names and order.
    """
    tables = sorted({file.table for file in lake.files})
    inputs: dict[str, Any] = {table: _table(lake, lake.files_of(table)) for table in tables}
    if lake.recipe_sha256:
        inputs[RECIPE_NAME] = {"sha256": lake.recipe_sha256}
    code = {"version": version("cardpress"), "sha256": code_sha256()}
    return {"inputs": inputs, "code": code, "gates": layout.gates_name(build_id)}


@cache
def code_sha256() -> str:
    """Return the hash of all modules, SQL files and templates that can change a build."""
    digest = hashlib.sha256()
    for name, path in sorted(_code_files()):
        digest.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _code_files() -> Iterator[tuple[str, Path]]:
    packaged = Path(generator.__path__[0]) / sql_root().name
    for package in (generator, edge_auth):
        root = Path(package.__path__[0])
        for path in root.rglob("*"):
            if path.suffix in _CODE_SUFFIXES and path.is_file() and packaged not in path.parents:
                yield f"{package.__name__}/{path.relative_to(root).as_posix()}", path
    for path in sql_root().rglob("*"):
        if path.suffix in _CODE_SUFFIXES and path.is_file():
            yield f"build/{path.relative_to(sql_root()).as_posix()}", path


def _table(lake: Lake, files: list[LakeFile]) -> dict[str, Any]:
    table = files[0].table
    found: dict[str, Any] = {
        "files": len(files),
        "bytes": sum(file.size for file in files),
        "sha256": _hash(lake.content(table)),
    }
    days = [file.day for file in files if file.day]
    if days:
        newest, month = max(days), open_month(lake.as_of)
        found |= {"first_day": str(min(days)), "last_day": str(newest)}
        found["days"] = hashes_by_day(lake.files_of(table, month.first, month.last))
        found["sha256_of_last_day"] = _hash(lake.content(table, first=newest, last=newest))
    return found


def _hash(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
