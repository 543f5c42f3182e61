"""Files on a local disk: written beside their place and renamed, locked, and forced out against a power cut."""

import errno
import fcntl
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

TEMPORARY_PREFIX = ".writing-"
LEFTOVER_SECONDS = 3600.0  # from this age on a temporary file has no writer
FOLDER_OF_THE_FILE_SYSTEM = "lost+found"  # a new volume has it, and only root may read it
# What a disk answers that lacks a call: network disks, FUSE, exFAT.
UNSUPPORTED = frozenset((errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK, errno.EINVAL, errno.ENODEV))
_MAX_ATTEMPTS = 100
_CHUNK_BYTES = 1 << 20


class Writable(Protocol):
    """Bytes that can be written to a file, such as `bytes` or an Arrow buffer."""

    def __buffer__(self, flags: int) -> memoryview: ...


@contextmanager
def written_beside(
    path: Path,
    data: Iterable[Writable],
    *,
    mode: int | None = None,
    make_folder: Callable[[], object] = lambda: None,
) -> Iterator[str]:
    """Write a temporary file beside a path, and yield where it lies. In the end it is deleted, unless it was renamed.

    Args:
        mode: Its permissions; None: what the umask leaves.
        make_folder: Makes its folder. It is called again if another process deleted the empty folder meanwhile.
    """
    handle, temporary = _create(path.parent, 0o666 if mode is None else mode, make_folder)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None and os.fstat(handle).st_mode & 0o777 != mode:
                with suppress(PermissionError):  # a disk whose modes are fixed; `doctor` reports what others may read
                    os.fchmod(handle, mode)
            file.writelines(data)
        yield temporary
    finally:
        Path(temporary).unlink(missing_ok=True)


def _create(folder: Path, mode: int, make_folder: Callable[[], object]) -> tuple[int, str]:
    temporary, flags = f"{folder}/{TEMPORARY_PREFIX}{secrets.token_hex(8)}", os.O_WRONLY | os.O_CREAT | os.O_EXCL
    for _ in range(_MAX_ATTEMPTS):
        with suppress(FileNotFoundError):
            return os.open(temporary, flags, mode), temporary
        with suppress(FileNotFoundError):
            make_folder()
    return os.open(temporary, flags, mode), temporary


def replace_file(path: Path, data: Iterable[Writable], *, mode: int | None = None, durable: bool = False) -> None:
    """Create or replace a file. Readers see the old bytes or the new ones; with `durable` also after a power cut."""
    with written_beside(path, data, mode=mode) as temporary:
        if durable:
            sync_path(temporary)
        os.replace(temporary, path)


def move_file(source: Path, target: Path) -> None:
    """Move a file, also from another file system. Readers of the target never see a part of it."""
    try:
        os.replace(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with source.open("rb") as file:
            replace_file(target, iter(lambda: file.read(_CHUNK_BYTES), b""), mode=0o600)
        source.unlink()


def is_locked(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def sync_path(path: str | Path) -> None:
    """Wait until the content of a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some disks sync no folders
            raise
    finally:
        os.close(handle)


def sync_file_system(folder: str | Path) -> None:
    """Wait until everything in the file system of a folder is on the disk.

    One such pass takes a tenth of the time of a sync of each file and folder of a build. It also holds the files of
    runs that were killed and of other processes, which this process does not know.
    """
    import ctypes  # not for a shim, which only reads

    handle = os.open(folder, os.O_RDONLY)
    try:
        if not ctypes.CDLL(None, use_errno=True).syncfs(handle):
            return
        if ctypes.get_errno() not in UNSUPPORTED:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), os.fspath(folder))
    finally:
        os.close(handle)
    os.sync()  # some FUSE disks have no syncfs
