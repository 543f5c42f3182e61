"""The index of reference fingerprints that photos are compared with, as arrays."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.errors import RecognitionError
from generator.fingerprints.recipe import VERSION, Fingerprint

_HASHES = ("art_p", "art_d", "card_p")


@dataclass(frozen=True)
class References:
    """The entries of an index, sorted by key."""

    image_url: str
    keys: tuple[str, ...]
    products: tuple[Sequence[int], ...]
    hashes: NDArray[np.uint64]  # (3, entries): art_p, art_d, card_p
    colours: NDArray[np.int16]  # (entries, 48), each channel minus its mean, × 16

    def __len__(self) -> int:
        return len(self.keys)


def read_index(location: str, data: bytes) -> References:
    """Read an index from the bytes of its JSON.

    Args:
        location: Where it comes from, for messages.
    """
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RecognitionError(f"{location} is no fingerprint index: {error}") from error
    return from_index(location, parsed)


def from_index(location: str, index: Any) -> References:
    """Read an index from the parsed JSON of the API."""
    try:
        version, image_url = index["version"], index["image_url"]
        entries = sorted(index["entries"], key=lambda entry: entry["key"])
        if not entries:
            raise RecognitionError(f"{location}: the index has no entries")
        if version != VERSION:
            raise RecognitionError(
                f"{location}: the index has the recipe {version}, and this version only knows {VERSION}"
            )
        return References(
            image_url,
            tuple(entry["key"] for entry in entries),
            tuple(entry["products"] for entry in entries),
            np.stack([_bytes(entries, name, 8).view(">u8")[:, 0].astype(np.uint64) for name in _HASHES]),
            centred(_bytes(entries, "colour", 48)),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecognitionError(f"{location} is no fingerprint index: {type(error).__name__} {error}") from error


def _bytes(entries: Sequence[Mapping[str, Any]], name: str, width: int) -> NDArray[np.uint8]:
    texts = [entry[name] for entry in entries]
    wrong = next((text for text in texts if len(text) != 2 * width), None)
    if wrong is not None:
        raise ValueError(f"{name} must have {2 * width} hex digits, not {wrong!r:.40}")
    data = bytes.fromhex("".join(texts))
    return np.frombuffer(data, np.uint8).reshape(len(texts), width)


def centred(colours: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Return colour grids minus each channel's mean, × 16 to stay whole: (n, 48) → (n, 48).

    This removes the brightness and the colour of the light.
    """
    cells = colours.reshape(len(colours), 16, 3).astype(np.int16)
    differences: NDArray[np.int16] = 16 * cells - cells.sum(1, dtype=np.int16, keepdims=True)
    return differences.reshape(len(colours), 48)


def arrays(entries: Sequence[Fingerprint]) -> tuple[NDArray[np.uint64], NDArray[np.int16]]:
    """Return fingerprints as References have them: (3, n) hashes and (n, 48) centred colours."""
    hashes = np.array([[getattr(entry, name) for entry in entries] for name in _HASHES], np.uint64)
    grids = np.frombuffer(b"".join(entry.colour for entry in entries), np.uint8)
    return hashes, centred(grids.reshape(len(entries), 48))
