"""Reads the layers that builds share again, in rotation, because a night makes and verifies only the new ones.

`private/last-reads.json` names when each layer was last read. Each night reads those that were not read for the longest
time, until it has read its share of all bytes. So everything is read within some days, and no night reads much.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta

from edge_auth.builds import layout
from edge_auth.builds.layers import Layer
from edge_auth.errors import AccessDenied, MissingObject
from edge_auth.store.interface import Store
from generator.clock import Clock, parse_timestamp, timestamp
from generator.pack.verify import damage

# Nights that follow each other faster than this read nothing again.
_SHORTEST_INTERVAL = timedelta(hours=12)


class Rotation:
    """The layers that one night reads again.

    Args:
        days: Within how many days everything is read, if a night runs every day.

    Attributes:
        read: The layers that were read, by name.
        bytes: Their size.
    """

    def __init__(self, store: Store, days: int, clock: Clock):
        self.store, self.days, self.clock = store, days, clock
        self.read: list[str] = []
        self.bytes = 0
        self._times = _read_times(store)

    def damaged(self, layers: list[Layer]) -> dict[str, str]:
        """Read the layers whose turn it is. Return what is wrong, by the layers' names.

        Raises:
            StoreError: The store failed.
        """
        broken = {}
        for layer in self._due(layers):
            self.read.append(layer.name)
            self.bytes += _size(layer)
            if defect := damage(layer):
                broken[layer.name] = defect
        return broken

    def save(self, layers: Iterable[Layer], verified: Iterable[str]) -> None:
        """Record that layers were read now: those of the rotation, and others that were verified, by name.

        Args:
            layers: All layers of the build. Others are forgotten.
        """
        now, read = timestamp(self.clock()), {*self.read, *verified}
        times = {
            layer.folder: now if layer.name in read else self._times[layer.folder]
            for layer in layers
            if layer.name in read or layer.folder in self._times
        }
        last = {"": now} if self.read else {"": self._times[""]} if "" in self._times else {}
        data = json.dumps(last | times, indent=1).encode() + b"\n"
        self.store.put(layout.LAST_READS, data)

    def _due(self, layers: list[Layer]) -> Iterator[Layer]:
        """Yield the layers to read, those that were not read for the longest time first."""
        budget = sum(map(_size, layers)) * self._elapsed_days() / self.days
        for layer in sorted(layers, key=lambda layer: (self._times.get(layer.folder, ""), layer.folder)):
            if budget <= 0:
                return
            budget -= _size(layer)
            yield layer

    def _elapsed_days(self) -> int:
        """Return the days since the last rotation, rounded; 0 if it has just been."""
        if "" not in self._times:
            return 1
        elapsed = self.clock() - parse_timestamp(self._times[""])
        if timedelta() <= elapsed < _SHORTEST_INTERVAL:
            return 0
        return min(self.days, max(1, round(elapsed / timedelta(days=1))))


def _size(layer: Layer) -> int:
    return sum(file.size for file in (*layer.index.packs, *layer.index.files)) + 1


def _read_times(store: Store) -> dict[str, str]:
    """Return when each layer was last read, by folder; under '' when a night last read any of them again."""
    try:
        times = json.loads(store.get(layout.LAST_READS))
        return {str(folder): timestamp(parse_timestamp(time)) for folder, time in times.items()}
    except (MissingObject, AccessDenied, ValueError, TypeError, AttributeError):  # damaged, or an older policy
        return {}
