"""Writes files into a folder, whole or not at all."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from generator.errors import DeployError

_PRIVATE = {"environment": 0o600}  # operators add secrets to it


def write_files(folder: Path, files: Mapping[str, str | bytes], *, force: bool) -> list[Path]:
    """Write files by their path below a folder, which is made if absent, and return their paths.

    Raises:
        DeployError: A file of another content is there, and `force` is false; or something else is in the way. Nothing
            was written.
    """
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    _check_free(folder, contents, force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder) as unfinished:
            for name, data in contents.items():
                _write(Path(unfinished, name), data)
            for name in contents:
                (folder / name).parent.mkdir(exist_ok=True)
                Path(unfinished, name).replace(folder / name)
    except OSError as error:
        raise DeployError(f"{error.filename or folder}: {error.strerror}") from error
    return [folder / name for name in contents]


def _check_free(folder: Path, contents: Mapping[str, bytes], force: bool) -> None:
    for path in (folder, *(folder / name for name in contents)):
        if path.parent.exists() and not path.parent.is_dir():
            raise DeployError(f"{path.parent} is no folder: choose another one")
    for name, data in contents.items():
        path = folder / name
        if path.is_dir():
            raise DeployError(f"{path} is a folder: choose another one for these files")
        if path.exists() and not force and path.read_bytes() != data:
            raise DeployError(f"{path} is there and differs: give --force to replace it, or choose another folder")


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    path.chmod(_PRIVATE.get(path.name, 0o644))
