"""A cache of recently used values, bounded by their size in bytes."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any


class LruCache:
    """Values by key, least recently used first out. The threads of a process share it.

    Args:
        max_bytes: The cost of all values together.
    """

    def __init__(self, max_bytes: int):
        self._max_bytes = max_bytes
        self._free_bytes = max_bytes
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:
        """Return the value, or None."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def items(self) -> list[tuple[Any, Any]]:
        """Return all keys and values, most recently used first."""
        with self._lock:
            return [(key, value) for key, (value, _) in reversed(self._values.items())]

    def put(self, key: Hashable, value: Any, cost: int) -> None:
        """Store a value of `cost` bytes, unless it needs more than half of the cache."""
        if cost > self._max_bytes // 2:
            return
        with self._lock:
            _, replaced = self._values.pop(key, (None, 0))
            self._values[key] = (value, cost)
            self._free_bytes += replaced - cost
            while self._free_bytes < 0:
                _, (_, freed) = self._values.popitem(last=False)
                self._free_bytes += freed
