"""Writes a build as plain files: the JSON documents and bulk files under the API's paths, and the site's files."""

from pathlib import Path

from edge_auth.contract import names
from edge_auth.contract.builds import Build
from edge_auth.contract.codec import compress
from generator.errors import BuildError
from generator.progress import Progress

API_FOLDER = "api/v1"


def export(build: Build, folder: str, *, gzip: bool, progress: Progress) -> int:
    """Write a build below `folder`: the API's documents in api/v1, the site's files in docs and explore.

    Args:
        folder: A folder that is empty or does not exist.
        gzip: Also write a `.gz` beside each file but the bulk files, for hosts that serve compressed files.

    Returns:
        The number of objects and bulk files.

    Raises:
        BuildError: The folder is not empty, or cannot be written.
        StoreError: The build cannot be read.
    """
    root = Path(folder)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise BuildError(f"{folder} is not an empty folder: export only writes into a new one")
    keys, files = list(build.document_keys()), build.bulk_files.values()
    try:
        with progress.bar("export", len(keys) + len(files)) as bar:
            for file in files:
                _write(root / API_FOLDER / names.bulk_file(file.name), build.store.get(file.object), gzip=False)
                bar.update(1)
            for key in keys:
                path = root / (key if names.is_site_file(key) else f"{API_FOLDER}/{key}")
                _write(path, build.document(key) or b"", gzip)
                bar.update(1)
    except OSError as error:
        raise BuildError(f"{error.filename}: {error.strerror}") from error
    return len(keys) + len(files)


def _write(path: Path, data: bytes, gzip: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if gzip:
        path.with_name(path.name + ".gz").write_bytes(compress(data))
