"""Files of the project that travel with the wheel: the change log, the lock, the documents."""

from importlib.resources import files
from pathlib import Path


def packaged(name: str) -> Path:
    """Return the path of a file or folder at the top of the checkout, or of its copy in the installed wheel."""
    in_wheel = Path(str(files("generator"))) / f"_{name}"
    return in_wheel if in_wheel.exists() else Path(__file__).parents[1] / name
