"""Files on a local disk: written beside their place and renamed, locked, and forced out against a power cut."""

import errno
import fcntl
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Protocol

TEMPORARY_PREFIX = ".writing-"
FOLDER_OF_THE_FILE_SYSTEM = "lost+found"  # a new volume has it, and only root may read it
# What a disk answers that lacks a call: network disks, FUSE, exFAT.
UNSUPPORTED = frozenset((errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK, errno.EINVAL, errno.ENODEV))
_MAX_ATTEMPTS = 100
_CHUNK_BYTES = 1 << 20


@contextmanager
def tolerated(*also: int) -> Iterator[None]:
    """Ignore the error of a disk that lacks a call which is not needed for what is right."""
    try:
        yield
    except OSError as error:
        if error.errno not in UNSUPPORTED and error.errno not in also:
            raise


class Writable(Protocol):
    """Bytes that can be written to a file, such as `bytes` or an Arrow buffer."""

    def __buffer__(self, flags: int) -> memoryview: ...


@contextmanager
def written_beside(
    path: Path,
    data: Iterable[Writable],
    *,
    mode: int | None = None,
    folder: Path | None = None,
    make_folder: Callable[[], object] = lambda: None,
) -> Iterator[str]:
    """Write a temporary file beside a path, and yield where it lies. In the end it is deleted, unless it was renamed.

    Args:
        mode: Its permissions; None: what the umask leaves.
        folder: Where to write it, if not in the folder of the path.
        make_folder: Makes that folder. It is called again if another process deleted the empty folder meanwhile.

    Raises:
        OSError: It cannot be written.
    """
    handle, lock, temporary = _create_locked(folder or path.parent, mode, make_folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(data)
        yield temporary
    finally:
        Path(temporary).unlink(missing_ok=True)
        os.close(lock)


def replace_file(path: Path, data: Iterable[Writable], *, mode: int | None = None, folder: Path | None = None) -> None:
    """Create or replace a file. Readers see the old bytes or the new ones, never a mixture.

    Raises:
        OSError: It cannot be written. The old file is as before.
    """
    with written_beside(path, data, mode=mode, folder=folder) as temporary:
        os.replace(temporary, path)


def move_file(source: Path, target: Path) -> None:
    """Move a file, also from another file system. Readers of the target never see a part of it.

    Raises:
        OSError: It cannot be moved.
    """
    try:
        os.replace(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with source.open("rb") as file:
            replace_file(target, iter(lambda: file.read(_CHUNK_BYTES), b""), mode=0o600)
        source.unlink()


def is_abandoned(path: Path) -> bool:
    """Return whether no process has locked a file. One that was renamed or deleted meanwhile had a writer too."""
    with _held_if_abandoned(path) as abandoned:
        return abandoned


def delete_abandoned(folder: Path) -> None:
    """Delete the temporary files directly in a folder whose writers were killed, as far as it can be done."""
    with suppress(OSError):
        for path in folder.glob(f"{TEMPORARY_PREFIX}*"):
            with _held_if_abandoned(path) as abandoned:  # its writer, which waits for the lock, sees that it is gone
                if abandoned:
                    path.unlink(missing_ok=True)


@contextmanager
def _held_if_abandoned(path: Path) -> Iterator[bool]:
    """Yield whether no process has locked a file, which is locked meanwhile."""
    with ExitStack() as opened:
        try:
            fcntl.flock(opened.enter_context(path.open("rb")), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            abandoned = False
        except OSError as error:
            abandoned = error.errno in UNSUPPORTED  # nothing tells; its age must
        else:
            abandoned = True
        yield abandoned


def _create_locked(folder: Path, mode: int | None, make_folder: Callable[[], object]) -> tuple[int, int, str]:
    """Create a temporary file and lock it, again if another process deleted it before it was locked.

    Returns:
        Its handle, one that keeps the lock until it is closed too, and its path.
    """
    while True:
        handle, temporary = _create(folder, mode, make_folder)
        lock = os.dup(handle)
        with tolerated():
            fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, lock, temporary
        os.close(handle)
        os.close(lock)


def _create(folder: Path, mode: int | None, make_folder: Callable[[], object]) -> tuple[int, str]:
    for _ in range(_MAX_ATTEMPTS):
        with suppress(FileNotFoundError, FileExistsError):
            return _create_once(folder, mode, make_folder)
    return _create_once(folder, mode, make_folder)  # raises the error, if it was another one


def _create_once(folder: Path, mode: int | None, make_folder: Callable[[], object]) -> tuple[int, str]:
    temporary = f"{folder}/{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    flags, mode_of_new = os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode
    try:
        handle = os.open(temporary, flags, mode_of_new)
    except FileNotFoundError:
        make_folder()
        handle = os.open(temporary, flags, mode_of_new)
    if mode is not None and os.fstat(handle).st_mode & 0o777 != mode:
        with tolerated(errno.EPERM):  # a disk whose modes are fixed; `doctor` reports what others may read
            os.fchmod(handle, mode)
    return handle, temporary


def reserve(handle: int, size: int) -> None:
    """Reserve the space of a file on the disk, so that no later write to it meets a full disk.

    Raises:
        OSError: The disk is full, or failed.
    """
    with tolerated():
        os.posix_fallocate(handle, 0, size)
        return
    for place in range(os.fstat(handle).st_size, size, _CHUNK_BYTES):  # a disk that cannot reserve
        os.pwrite(handle, bytes(min(_CHUNK_BYTES, size - place)), place)


def try_locks(folder: Path) -> None:
    """Try the locks that a store in a folder needs of its disk: one that excludes others.

    Raises:
        OSError: The disk has none.
    """
    path = folder / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    try:
        with path.open("xb") as one, path.open("rb") as other:
            fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
                raise OSError(errno.ENOLCK, "one file was locked twice", os.fspath(path))
    finally:
        path.unlink(missing_ok=True)


def sync_path(path: str | Path) -> None:
    """Wait until the content of a file or folder is on the disk.

    Raises:
        OSError: It does not exist, or the disk failed.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        with tolerated(errno.EBADF):  # some disks sync no folders
            os.fsync(handle)
    finally:
        os.close(handle)


def sync_file_system(folder: str | Path) -> None:
    """Wait until everything in the file system of a folder is on the disk.

    One such pass takes a tenth of the time of a sync of each file and folder of a build. It also holds the files of
    runs that were killed and of other processes, which this process does not know. A system without `syncfs` writes
    out all of its file systems.

    Raises:
        OSError: The folder does not exist, or the disk failed.
    """
    import ctypes  # not for a shim, which only reads

    handle = os.open(folder, os.O_RDONLY)
    try:
        syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        code = ctypes.get_errno() if syncfs and syncfs(handle) else 0
    finally:
        os.close(handle)
    if syncfs is None or code in UNSUPPORTED:
        os.sync()
    elif code:
        raise OSError(code, os.strerror(code), os.fspath(folder))
