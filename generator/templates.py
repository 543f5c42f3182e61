"""Templates of folders, compiled in the user's cache folder, so that a command need not compile them each time.

Compiling the templates of the site and of the SQL takes longer than a build after a new watch check. Losing the cache
only costs time.
"""

from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket, FileSystemBytecodeCache

from generator.storage.stores.file_cache import user_cache


def packaged(name: str) -> Path:
    """Return the path of a file or folder at the top of the checkout, or of its copy in the installed wheel."""
    in_wheel = Path(str(files("generator"))) / f"_{name}"
    return in_wheel if in_wheel.exists() else Path(__file__).parents[1] / name


class _Compiled(FileSystemBytecodeCache):
    """jinja2's own cache, which names a compiled template by its file and checks a hash of its text."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):  # a full or read-only disk
            super().dump_bytecode(bucket)

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # a damaged file; reading pickles and code fails in many ways
            bucket.reset()


def environment(folder: Path, **options: Any) -> Environment:
    """Return an environment for the templates of a folder, with further options of jinja2."""
    return Environment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, bytecode_cache=compiled_templates(), **options
    )


@cache
def compiled_templates() -> FileSystemBytecodeCache | None:
    """Return the cache of compiled templates for an environment; None if there can be no folder for it."""
    folder = user_cache() / "templates"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return _Compiled(str(folder))
