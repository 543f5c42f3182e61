"""The files of a lake at s3://bucket/prefix. They are downloaded when they are first needed, into the user's cache.

A file is identified by key, size and ETag. Its SHA-256, which enters the names of layers, comes from S3 if the writer
had it computed there. Otherwise the file is downloaded and hashed once. DuckDB reads the local copies.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock, get_ident

from edge_auth.errors import Conflict, MissingObject, StoreError
from edge_auth.store.bucket import Bucket
from edge_auth.store.file_cache import user_cache
from generator.errors import LakeError
from generator.lake.file_hashes import FileHashes
from generator.lake.files import LakeFile
from generator.terminal.progress import Progress
from generator.threads import in_order

MAX_CACHE_BYTES = 16 << 30
THREADS = 8  # each may hold a file in memory

States = dict[str, tuple[int, str]]  # size and ETag by name


class BucketFiles:
    """The files of a lake below a prefix; see `generator.lake.files.LakeFiles` for its methods.

    Args:
        max_cache_bytes: About how much the cache may hold. Files in use stay in it even beyond that.
    """

    def __init__(self, location: str, max_cache_bytes: int = MAX_CACHE_BYTES):
        with _as_lake_errors():
            self._bucket = Bucket(location)
        self._cache = user_cache() / "lake"
        self._max_cache_bytes = max_cache_bytes
        self._hashes = FileHashes()
        self._states: States = {}
        self._modified: dict[str, float] = {}
        # Hashes by thread and table: a view of the thread's database may still read the files of the last fetch.
        self._in_use: dict[tuple[int, str], set[str]] = {}
        self._fetching = Lock()
        self._lock = Lock()
        self._cache_bytes: int | None = None  # None until the cache was measured

    def read_lock(self) -> AbstractContextManager[None]:
        """Lock nothing: a bucket has no locks. A download fails if the file has changed since it was listed."""
        return nullcontext()

    def list_names(self, daily: Iterable[str]) -> Iterator[str]:
        with _as_lake_errors():
            entries = list(self._bucket.list(Delimiter="/"))
            for table in daily:
                entries += self._bucket.list(f"{table}/day=")
        self._states = {entry["Key"]: (entry["Size"], entry["ETag"].strip('"')) for entry in entries}
        self._modified = {entry["Key"]: entry["LastModified"].timestamp() for entry in entries}
        return (name for name in self._states if name.endswith(".parquet"))

    def read(self, name: str) -> bytes | None:
        try:
            with _as_lake_errors():
                data: bytes = self._bucket.get(name)[0]
                return data
        except LakeError as error:
            if isinstance(error.__cause__, MissingObject):
                return None
            raise

    def modified(self, name: str) -> float:
        return self._modified[name]

    def with_hashes(self, files: list[LakeFile], progress: Progress) -> Iterator[LakeFile]:
        with ThreadPoolExecutor(THREADS) as pool, progress.bar("lake", len(files)) as bar:
            for file in in_order(pool, 2 * THREADS, self._with_hash, files):
                bar.update(1)
                yield file
        self._hashes.save()

    def check_unchanged(self) -> None:
        """Check nothing: the local copies are stored by hash and do not change."""

    def fetch(self, table: str, files: list[LakeFile]) -> list[LakeFile]:
        files = [self._at_local_path(file) for file in files]  # another machine may have hashed them
        with self._fetching, ThreadPoolExecutor(THREADS) as pool:
            self._in_use[get_ident(), table] = {file.sha256 for file in files}
            cached = pool.map(self._is_cached, files)
            missing = [file for file, is_cached in zip(files, cached, strict=True) if not is_cached]
            for _ in in_order(pool, THREADS, self._download, missing):
                pass
            self._hashes.save()
        return files

    def __reduce__(self) -> tuple[Callable[[str, int, States], "BucketFiles"], tuple[str, int, States]]:
        """Pickle only the location and the listing, for another process."""
        return _restored, (self._bucket.location, self._max_cache_bytes, self._states)

    def _with_hash(self, file: LakeFile) -> LakeFile:
        state, name = self._states[file.name], f"{self._bucket.location}/{file.name}"
        sha256 = self._hashes.find(name, state) or self._hash_in_bucket(file.name, state[-1]) or self._download(file)
        self._hashes.add(name, state, sha256)
        return self._at_local_path(replace(file, sha256=sha256, size=state[0]))

    def _at_local_path(self, file: LakeFile) -> LakeFile:
        return replace(file, path=os.fspath(self._path(file.name, file.sha256)))

    def _hash_in_bucket(self, name: str, etag: str) -> str:
        """Return the SHA-256 that the bucket stores with this version of an object, or ''."""
        with _as_lake_errors():
            head = self._bucket.head(name)
        return head.sha256 if head and head.etag == etag else ""

    def _download(self, file: LakeFile) -> str:
        """Copy a file into the cache and return its hash."""
        with _as_lake_errors():
            data, _ = self._bucket.get(file.name, etag=self._states[file.name][-1])
        sha256 = hashlib.sha256(data).hexdigest()
        if file.sha256 not in ("", sha256):
            raise LakeError(f"{self._bucket.location}/{file.name} does not have the SHA-256 that is stored with it")
        try:
            self._write(data, self._path(file.name, sha256))
        except OSError as error:
            raise LakeError(f"cannot write a copy of {file.name} in {self._cache}: {error.strerror}") from error
        return sha256

    def _write(self, data: bytes, path: Path) -> None:
        self._cache.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".writing-", dir=self._cache)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            with self._lock:
                self._make_room(len(data))
                path.parent.mkdir(parents=True, exist_ok=True)
                os.replace(temporary, path)
        finally:
            Path(temporary).unlink(missing_ok=True)

    def _is_cached(self, file: LakeFile) -> bool:
        try:
            is_cached = self._hashes.of_file(file.path) == file.sha256
            os.utime(self._cache / file.sha256)  # the cache deletes the longest unused first
        except OSError:
            return False
        return is_cached

    def _path(self, name: str, sha256: str) -> Path:
        return self._cache / sha256 / name

    def _make_room(self, size: int) -> None:
        """Delete the longest unused copies until there is room for `size` more bytes."""
        with suppress(OSError):  # another process may delete the same files
            if self._cache_bytes is None or self._cache_bytes + size > self._max_cache_bytes:
                self._cache_bytes = self._shrink(self._max_cache_bytes - size)
            self._cache_bytes += size

    def _shrink(self, max_bytes: int) -> int:
        """Delete copies until at most `max_bytes` are left, and return how many are left."""
        copies = []
        for folder in self._cache.glob("[!.]*"):
            sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
            copies.append((folder.stat().st_mtime_ns, sum(sizes), folder))
        total = sum(size for _, size, _ in copies)
        for _, size, folder in sorted(copies):
            if total <= max_bytes:
                break
            if not any(folder.name in hashes for hashes in self._in_use.values()):
                shutil.rmtree(folder, ignore_errors=True)
                total -= size
        return total


def _restored(location: str, max_cache_bytes: int, states: States) -> BucketFiles:
    files = BucketFiles(location, max_cache_bytes)
    files._states = states
    return files


@contextmanager
def _as_lake_errors() -> Iterator[None]:
    try:
        yield
    except Conflict as error:
        raise LakeError(f"{error}: the lake was written to while it was read") from error
    except StoreError as error:
        raise LakeError(f"lake: {error}") from error
