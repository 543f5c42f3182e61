"""A build as plain files, one per object: JSON in the API's own paths, and the site's files beside the API."""

from collections.abc import Iterator
from pathlib import Path

from edge_auth.contract import names
from edge_auth.contract.builds import Build
from edge_auth.contract.codec import compress
from generator.errors import BuildError
from generator.progress import Progress

ROOT = "api/v1"
# What the shim puts answers together from, and what no client asks for by name.
INTERNAL = (names.CATALOGUE, names.HISTORY)


def export(build: Build, folder: str, *, gzip: bool, progress: Progress) -> int:
    """Write a build below `folder`: the API's documents in api/v1, the site's files in docs and explore.

    Args:
        folder: a folder that is empty or not there yet.
        gzip: write a `.json.gz` beside each file, for hosts that serve such.

    Returns:
        How many objects were written.

    Raises:
        BuildError: the folder holds something already, or cannot be written.
        StoreError: the build cannot be read.
    """
    root = Path(folder)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise BuildError(f"{folder} is not an empty folder: export writes only into a new one")
    keys = list(_keys(build))
    try:
        with progress.bar("export", len(keys)) as bar:
            for key in keys:
                _write(root / (key if names.is_site_file(key) else f"{ROOT}/{key}"), build.document(key), gzip)
                bar.update(1)
    except OSError as error:
        raise BuildError(f"{error.filename}: {error.strerror}") from error
    return len(keys)


def _keys(build: Build) -> Iterator[str]:
    for name, layer in build.layers.items():
        if not name.startswith(INTERNAL):
            yield from (layer.index.key(position) for position in range(len(layer.index)))


def _write(path: Path, data: bytes, gzip: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if gzip:
        path.with_name(path.name + ".gz").write_bytes(compress(data))
