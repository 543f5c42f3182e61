"""Lakes at s3://bucket/prefix: files are fetched when they are first needed, into the user's cache, by content.

A file is known by key, size and ETag. Its SHA-256, which names what a build is made of, is the one that S3 keeps
where the writer had it computed; else the file is fetched and hashed, once. DuckDB then reads local files.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock

from edge_auth.contract.store.bucket import Bucket
from edge_auth.contract.store.file_cache import user_cache
from edge_auth.errors import Conflict, MissingObject, StoreError
from generator.errors import LakeError
from generator.lake.file_hashes import Hashes
from generator.lake.files import LakeFile
from generator.progress import Progress
from generator.threads import in_order

LIMIT = 16 << 30
THREADS = 8  # each may hold a file in memory


class BucketFiles:
    """The files of a lake below a prefix. The cache keeps about `limit` bytes, and whatever is in use."""

    def __init__(self, location: str, limit: int = LIMIT):
        with _translated():
            self._bucket = Bucket(location)
        self._cache = user_cache() / "lake"
        self._limit = limit
        self._hashes = Hashes()
        self._states: dict[str, list] = {}
        self._in_use: dict[str, set[str]] = {}  # per table what was fetched last: a view may still read it
        self._lock = Lock()
        self._used: int | None = None

    def settled(self) -> AbstractContextManager:
        """A bucket cannot be held; each file is fetched as it was when it was listed, or not at all."""
        return nullcontext()

    def names(self, daily: Iterable[str]) -> Iterator[str]:
        with _translated():
            found = list(self._bucket.list(Delimiter="/"))
            for table in daily:
                found += self._bucket.list(f"{table}/day=")
        self._states = {entry["Key"]: [entry["Size"], entry["ETag"].strip('"')] for entry in found}
        return (name for name in self._states if name.endswith(".parquet"))

    def read(self, name: str) -> bytes | None:
        try:
            with _translated():
                return self._bucket.get(name)[0]
        except LakeError as error:
            if isinstance(error.__cause__, MissingObject):
                return None
            raise

    def identified(self, files: list[LakeFile], progress: Progress) -> Iterator[LakeFile]:
        with ThreadPoolExecutor(THREADS) as pool, progress.bar("lake", len(files)) as bar:
            for file in in_order(pool, 2 * THREADS, self._identified, files):
                bar.update(1)
                yield file
        self._hashes.save()

    def check_still(self) -> None:
        """What is read are copies by content, which do not change."""

    def fetch(self, table: str, files: list[LakeFile]) -> list[LakeFile]:
        files = [self._here(file) for file in files]  # another machine may have identified them
        self._in_use[table] = {file.sha256 for file in files}
        with ThreadPoolExecutor(THREADS) as pool:
            missing = [file for file, there in zip(files, pool.map(self._is_here, files), strict=True) if not there]
            for _ in in_order(pool, THREADS, self._fetch, missing):
                pass
        self._hashes.save()
        return files

    def __reduce__(self) -> tuple:
        """To another process go only the place and what was listed."""
        return _listed_before, (self._bucket.location, self._limit, self._states)

    def _identified(self, file: LakeFile) -> LakeFile:
        state, name = self._states[file.name], f"{self._bucket.location}/{file.name}"
        sha256 = self._hashes.find(name, state) or self._noted(file.name, state[-1]) or self._fetch(file)
        self._hashes.note(name, state, sha256)
        return self._here(replace(file, sha256=sha256, size=state[0]))

    def _here(self, file: LakeFile) -> LakeFile:
        return replace(file, path=os.fspath(self._path(file.name, file.sha256)))

    def _noted(self, name: str, etag: str) -> str:
        """The SHA-256 that the bucket keeps of this version of an object, or ''."""
        with _translated():
            head = self._bucket.head(name)
        return head.sha256 if head and head.etag == etag else ""

    def _fetch(self, file: LakeFile) -> str:
        """Put a file into the cache; its digest."""
        with _translated():
            data, _ = self._bucket.get(file.name, etag=self._states[file.name][-1])
        sha256 = hashlib.sha256(data).hexdigest()
        if file.sha256 not in ("", sha256):
            raise LakeError(f"{self._bucket.location}/{file.name} has not the SHA-256 that is noted for it")
        try:
            self._keep(data, self._path(file.name, sha256))
        except OSError as error:
            raise LakeError(f"cannot keep a copy of {file.name} in {self._cache}: {error.strerror}") from error
        return sha256

    def _keep(self, data: bytes, path: Path) -> None:
        self._cache.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(prefix=".writing-", dir=self._cache)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            with self._lock:
                self._make_room(len(data))
                path.parent.mkdir(parents=True, exist_ok=True)
                os.replace(beside, path)
        finally:
            Path(beside).unlink(missing_ok=True)

    def _is_here(self, file: LakeFile) -> bool:
        path = Path(file.path)
        try:
            here = self._hashes.of_file(path) == file.sha256
            os.utime(self._cache / file.sha256)
        except OSError:
            return False
        return here

    def _path(self, name: str, sha256: str) -> Path:
        return self._cache / sha256 / name

    def _make_room(self, size: int) -> None:
        """Let go what was not used for longest, until there is room for `size` bytes more."""
        with suppress(OSError):  # another process may clear up as well
            if self._used is None or self._used + size > self._limit:
                self._used = self._clear(self._limit - size)
            self._used += size

    def _clear(self, limit: int) -> int:
        found = []
        for folder in self._cache.glob("[!.]*"):
            sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
            found.append((folder.stat().st_mtime_ns, sum(sizes), folder))
        used = sum(size for _, size, _ in found)
        for _, size, folder in sorted(found):
            if used <= limit:
                break
            if not any(folder.name in names for names in self._in_use.values()):
                shutil.rmtree(folder, ignore_errors=True)
                used -= size
        return used


def _listed_before(location: str, limit: int, states: dict[str, list]) -> BucketFiles:
    files = BucketFiles(location, limit)
    files._states = states
    return files


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except Conflict as error:
        raise LakeError(f"{error}: the lake was written to while it was read") from error
    except StoreError as error:
        raise LakeError(f"lake: {error}") from error
