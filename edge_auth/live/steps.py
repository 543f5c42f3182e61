"""The steps between the builds of a store, for /changes. What cannot be read raises StoreError."""

from contextlib import suppress
from hashlib import sha256

from edge_auth.builds import layout
from edge_auth.builds.bodies import Body, MadeBody
from edge_auth.builds.changes import Step, Steps, listed_steps, read_index
from edge_auth.builds.pointer import Pointer
from edge_auth.errors import StoreError
from edge_auth.live.open_build import LruCache
from edge_auth.store.file_cache import FileCache
from edge_auth.store.interface import Store


class FollowedSteps:
    """The steps of a store, as the poller has seen them last. Documents of a bucket are copied, and kept in memory."""

    def __init__(self, store: Store, copies: FileCache | None, cache: LruCache):
        self._store, self._copies = store, copies
        self._cache = cache
        self._pointer: Pointer | None = None
        self._steps: Steps | None = None
        self._copied: Steps | None = None  # the steps whose documents were copied

    def follow(self, pointer: Pointer) -> None:
        """Read the index, if the pointer has moved or documents are missing. Otherwise the steps stay as they are."""
        if self._steps is None or not self._steps.complete or pointer != self._pointer:
            self._steps = listed_steps(pointer, read_index(self._store) if pointer.moved_from else {})
            self._pointer = pointer

    def copy(self) -> None:
        """Copy the documents of a bucket, once for each list of steps. One that fails is read from the bucket later."""
        steps, failed = self._steps, list[StoreError]()
        if self._copies is None or steps is None or steps == self._copied:
            return
        self._copied = steps
        for step in steps.documented:
            try:
                self._copies.path(self._store, layout.changes_name(step.from_, step.to), steps.comparison(step).sha256)
            except StoreError as error:
                failed.append(error)
        if failed:
            raise failed[0]

    def known(self) -> Steps:
        if self._steps is None:
            raise StoreError("the steps between builds could not be read yet")
        return self._steps

    def document(self, step: Step, steps: Steps) -> Body:
        """Return the document of a step, verified."""
        key = "step", step  # a build, which shares the cache, begins its keys with its id
        body: Body | None = self._cache.get(key)
        if body is None:
            name = layout.changes_name(step.from_, step.to)
            body = MadeBody(self._read(name, steps.comparison(step).sha256))
            self._cache.put(key, body, body.cost)
        return body

    def _read(self, name: str, digest: str) -> bytes:
        if self._copies is not None:
            with suppress(StoreError, OSError):  # a full disk, for example
                return self._copies.path(self._store, name, digest).read_bytes()
        data = self._store.get(name)
        if sha256(data).hexdigest() != digest:
            raise StoreError(f"{name} in {self._store.location} does not match its hash")
        return data
