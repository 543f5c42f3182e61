"""The steps of the store that /changes lists, followed with the pointer."""

from collections.abc import Callable
from hashlib import sha256

from edge_auth.builds import layout
from edge_auth.builds.bodies import Body, MadeBody
from edge_auth.builds.cache import LruCache
from edge_auth.builds.changes import Step, Steps, listed_steps, read_index
from edge_auth.builds.pointer import Pointer
from edge_auth.errors import EdgeError, StoreError
from edge_auth.live.refresh_budget import RefreshBudget
from edge_auth.store.interface import Store


class FollowedSteps:
    """The steps of a store.

    Args:
        cache: Where documents are kept.
        refresh: Makes the poller look at the pointer at once, and waits for it.
        problem: Returns the error for a store whose pointer could not be read yet.
    """

    def __init__(self, store: Store, cache: LruCache, refresh: Callable[[], object], problem: Callable[[], EdgeError]):
        self._store = store
        self._cache = cache
        self._refresh = refresh
        self._problem = problem
        self._budget = RefreshBudget()
        self._pointer: Pointer | None = None
        self._steps: Steps | None = None

    def follow(self, pointer: Pointer) -> None:
        """Read the index, if the pointer has moved or documents are missing.

        Raises:
            StoreError: The index cannot be read. The steps stay as they are.
        """
        if self._steps is not None and self._steps.complete and pointer == self._pointer:
            return
        index = read_index(self._store) if pointer.moved_from else {}
        self._pointer, self._steps = pointer, listed_steps(pointer, index)

    def known(self) -> Steps:
        """Return the steps."""
        if self._steps is None:
            self._refresh()
        if self._steps is None:
            raise self._problem()
        return self._steps

    def refreshed(self) -> Steps:
        """Return the steps after another look at the store, if the rate of looks allows one."""
        if self._budget.take():
            self._refresh()
        return self.known()

    def document(self, step: Step, steps: Steps) -> Body:
        """Return the document of a step, verified."""
        key = "step", step  # a build, which shares the cache, begins its keys with its id
        body: Body | None = self._cache.get(key)
        if body is None:
            body = MadeBody(self._read(step, steps.comparison(step).sha256))
            self._cache.put(key, body, body.cost)
        return body

    def _read(self, step: Step, digest: str) -> bytes:
        name = layout.changes_name(step.from_, step.to)
        data = self._store.get(name)
        if sha256(data).hexdigest() != digest:
            raise StoreError(f"{name} in {self._store.location} does not match its hash")
        return data
