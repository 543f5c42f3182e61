"""Room on the disk of a folder store: checked before a build, and given back if the disk gets full nevertheless."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from edge_auth.builds import layout
from edge_auth.builds.builds import open_build
from edge_auth.builds.index import INDEX_NAME
from edge_auth.builds.pointer import live_build_id
from edge_auth.errors import EdgeError, NoLiveBuild
from edge_auth.store.interface import Store
from generator import settings
from generator.database import temporary_folder_full
from generator.errors import GeneratorError, SpaceError, is_disk_full
from generator.making.layers.spec import LayerSpec


@contextmanager
def disk_space(store: Store, missing: list[LayerSpec]) -> Iterator[None]:
    """Check that there is room for layers. If a disk gets full in the `with` block, delete what was written of them.

    Raises:
        SpaceError: There is too little room, or a disk is full.
        StoreError: The store failed.
    """
    _check_room(store, missing)
    try:
        yield
    except (GeneratorError, EdgeError, OSError) as error:
        if isinstance(error, SpaceError) or is_disk_full(error):
            _discard_unfinished(store, missing)
        if isinstance(error, SpaceError) or not is_disk_full(error):
            raise
        raise SpaceError(_full_message(store, error)) from error


def needed_bytes(store: Store, missing: list[LayerSpec]) -> int:
    """Return about how many bytes the layers need beyond what the store has of them, from the size of the last build.

    Raises:
        StoreError: The store failed.
    """
    sizes = _last_sizes(store)
    present = sum(file.size for spec in missing for file in store.entries(spec.folder))
    return max(0, int(sum(sizes.get(spec.name, 0) for spec in missing) * settings.GROWTH_OF_A_BUILD) - present)


def _check_room(store: Store, missing: list[LayerSpec]) -> None:
    folder = store.local_path("")
    if folder is None or not missing or not folder.is_dir():
        return
    need, free = needed_bytes(store, missing), shutil.disk_usage(folder).free
    if need and free < need + settings.RESERVE_BYTES:
        raise SpaceError(
            f"{store.location} has {free / 1e6:,.1f} MB free, but this build needs about {need / 1e6:,.1f} MB, "
            f"as the last one did, and {settings.RESERVE_BYTES / 1e6:,.1f} MB must stay free: "
            "free some space, or `cardpress prune --keep N`"
        )


def _last_sizes(store: Store) -> dict[str, int]:
    """Return the bytes of each layer of the live build, or else of the newest one. Empty if the store has no build."""
    try:
        last = live_build_id(store)
    except NoLiveBuild:
        last = max(layout.build_ids(store.list(layout.BUILDS)), default="")
    with suppress(EdgeError):  # a damaged record has no size
        return open_build(store, last).record["bytes"]
    return {}


def _discard_unfinished(store: Store, specs: list[LayerSpec]) -> None:
    """Delete the files of layers that have no index yet. No reader sees them, and they fill the disk."""
    for spec in specs:
        names = [entry.name for entry in store.entries(spec.folder)]
        if spec.folder + INDEX_NAME not in names:
            store.delete(names)


def _full_message(store: Store, error: BaseException) -> str:
    temporary = tempfile.gettempdir()
    if temporary in str(error) and temporary not in store.location:
        return str(temporary_folder_full())
    return (
        f"{store.location} is full; the unfinished layers were deleted: free some space, or `cardpress prune --keep N`"
    )
