"""Files on a local disk: written beside their place and renamed, locked, and forced out against a power cut."""

import errno
import fcntl
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE, S_IRWXU, S_ISDIR, S_ISGID
from threading import RLock
from typing import Protocol

TEMPORARY_PREFIX = ".writing-"
LEFTOVER_SECONDS = 3600.0  # from this age on a temporary file has no writer
FOLDER_OF_THE_FILE_SYSTEM = "lost+found"  # a new volume has it, and only root may read it
# What a disk answers that lacks a call: network disks, FUSE, exFAT.
UNSUPPORTED = frozenset((errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK, errno.EINVAL, errno.ENODEV))
_MAX_ATTEMPTS = 100
_CHUNK_BYTES = 1 << 20
_BUFFER_BYTES = 1 << 16  # of a file that is written. Without a size Python asks the file for one
_MAKING = RLock()  # a folder has its owner when the thread that makes it is done


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
    """Write a temporary file beside a path, and yield where it lies. The block renames it; it is deleted if that fails.

    Before anything is written to it, it has the owner, group and mode that `take_after` gives.

    Args:
        mode: The permissions of a new file; None: what the umask leaves.
        make_folder: Makes its folder. It is called again if another process deleted the empty folder meanwhile.
    """
    handle, temporary = _create(path.parent, 0o666 if mode is None else mode, make_folder)
    try:
        with os.fdopen(handle, "wb", _BUFFER_BYTES) as file:
            try:
                take_after(handle, path)
            except FileNotFoundError:
                with suppress(PermissionError):  # a folder that others share with this process
                    take_after(handle, path.parent, mode)
            file.writelines(data)
        yield temporary
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _create(folder: Path, mode: int, make_folder: Callable[[], object]) -> tuple[int, str]:
    temporary, flags = f"{folder}/{TEMPORARY_PREFIX}{secrets.token_hex(8)}", os.O_WRONLY | os.O_CREAT | os.O_EXCL
    for _ in range(_MAX_ATTEMPTS):
        with suppress(FileNotFoundError):
            return os.open(temporary, flags, mode), temporary
        with suppress(FileNotFoundError):
            make_folder()
    return os.open(temporary, flags, mode), temporary


def take_after(file: int | Path, pattern: Path, mode: int | None = None) -> None:
    """Give a file the owner, group and mode of a pattern: the file that it replaces, or the folder of a new one.

    A folder of root's gives no owner: on a volume and in /tmp, files are their writers'. It raises PermissionError,
    which names the pattern, if this process may not do that.

    Args:
        mode: The permissions of a new file or folder, as far as its folder gives them. None: what the umask left.
    """
    with _MAKING:
        like, now = pattern.stat(), os.stat(file)  # noqa: PTH116 -- it may be a handle
    is_new, refused = S_ISDIR(like.st_mode), None
    owner = now.st_uid if is_new and like.st_uid == 0 else like.st_uid
    if (now.st_uid, now.st_gid) != (owner, like.st_gid):
        try:
            os.chown(file, owner, like.st_gid)
        except PermissionError as error:
            refused = error
    wanted = S_IMODE(like.st_mode)
    if is_new:
        wanted = S_IMODE(now.st_mode) if mode is None else mode | now.st_mode & S_ISGID
        if mode is not None and not refused:
            wanted &= S_IRWXU | S_ISGID | (like.st_mode & 0o011) * 7  # who may not enter the folder gets nothing
    if S_IMODE(now.st_mode) != wanted:
        with suppress(PermissionError):  # a disk whose modes are fixed; `doctor` reports what others may read
            os.chmod(file, wanted)
    if refused and (not is_new or owner != now.st_uid):  # of a new file the group is not that important
        raise PermissionError(refused.errno, "its owner and group would not be kept", os.fspath(pattern)) from refused


def make_folder(folder: Path, mode: int | None = None) -> None:
    """Create a folder, and those above it that are missing, each as `take_after` says of the one above."""
    if not folder.is_dir():
        make_folder(folder.parent, mode)
        with _MAKING:
            folder.mkdir(0o777 if mode is None else mode, exist_ok=True)
            try:
                take_after(folder, folder.parent, mode)
            except PermissionError:
                folder.rmdir()
                raise


def open_lock(path: Path, mode: int = 0o666) -> int:
    """Open a file to lock it, and create it if it is missing."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, mode)
    try:
        take_after(handle, path.parent)
    except PermissionError:
        os.close(handle)
        path.unlink()
        raise
    return handle


def replace_file(path: Path, data: Iterable[Writable], *, mode: int | None = None, durable: bool = False) -> None:
    """Create or replace a file. Readers see the old bytes or the new ones; with `durable` also after a power cut."""
    with written_beside(path, data, mode=mode) as temporary:
        if durable:
            sync_path(temporary)
        os.replace(temporary, path)


def move_file(source: Path, target: Path) -> None:
    """Move a file, also from another file system. Readers of the target never see a part of it."""
    with suppress(PermissionError):
        take_after(source, target.parent)
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
