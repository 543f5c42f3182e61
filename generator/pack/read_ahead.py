"""A store for who reads a build from end to end: neighbours in a pack come in blocks, not by a request each."""

from collections import OrderedDict
from typing import Any

from edge_auth.contract.store.interface import Store

BLOCK_BYTES = 4 << 20
_MOST_BLOCKS = 64


class ReadAhead:
    """A store whose ranges are cut out of blocks; everything else is the store's own."""

    def __init__(self, store: Store):
        self._store = store
        self._blocks: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """The bytes of an object, or `length` of them from `offset`; errors as the store's."""
        if not length or offset + length > self._size(name):
            return self._store.get(name, offset, length)
        first = offset // BLOCK_BYTES
        blocks = [self._block(name, number) for number in range(first, (offset + length - 1) // BLOCK_BYTES + 1)]
        start = offset - first * BLOCK_BYTES
        return b"".join(blocks)[start : start + length] if len(blocks) > 1 else blocks[0][start : start + length]

    def _size(self, name: str) -> int:
        if name not in self._sizes:
            self._sizes[name] = self._store.stat(name) or 0
        return self._sizes[name]

    def _block(self, name: str, number: int) -> bytes:
        block = self._blocks.pop((name, number), None)
        if block is None:
            start = number * BLOCK_BYTES
            block = self._store.get(name, start, min(BLOCK_BYTES, self._size(name) - start))
        self._blocks[name, number] = block
        if len(self._blocks) > _MOST_BLOCKS:
            self._blocks.popitem(last=False)
        return block
