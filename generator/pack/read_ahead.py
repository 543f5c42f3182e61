"""Reads packs in blocks of 4 MB, for sequential readers of a build."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from edge_auth.store.interface import Span, Store

BLOCK_BYTES = 4 << 20
_MAX_BLOCKS = 64


class ReadAhead:
    """A store that reads ranges from cached blocks. All other methods are the store's own."""

    def __init__(self, store: Store):
        self._store = store
        self._blocks: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Return an object, or `length` bytes of it from `offset`; raises what the store raises."""
        if not length or offset + length > self._size(name):
            return self._store.get(name, offset, length)
        first = offset // BLOCK_BYTES
        blocks = [self._block(name, number) for number in range(first, (offset + length - 1) // BLOCK_BYTES + 1)]
        start = offset - first * BLOCK_BYTES
        return b"".join(blocks)[start : start + length] if len(blocks) > 1 else blocks[0][start : start + length]

    def get_many(self, spans: Sequence[Span]) -> list[bytes]:
        """Return ranges, each from its blocks; raises what the store raises."""
        return [self.get(*span) for span in spans]

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
        if len(self._blocks) > _MAX_BLOCKS:
            self._blocks.popitem(last=False)
        return block
