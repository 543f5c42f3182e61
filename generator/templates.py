"""Templates of folders, and where the files that are no code lie."""

from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def packaged(name: str) -> Path:
    """Return the path of a file or folder at the top of the checkout, or of its copy in the installed wheel."""
    in_wheel = Path(str(files("generator"))) / f"_{name}"
    return in_wheel if in_wheel.exists() else Path(__file__).parents[1] / name


def environment(folder: Path, **options: Any) -> Environment:
    """Return an environment for the templates of a folder, with further options of jinja2."""
    return Environment(loader=FileSystemLoader(folder), undefined=StrictUndefined, **options)
