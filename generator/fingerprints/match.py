"""Finds the entries nearest to a photo, by the distance that docs/fingerprint.md defines.

The entries are those of an index: from the API, an exported file or a lake.

distance = differing bits of art_p, art_d and card_p + colour / 2. Colour is the mean difference of the 48 values after
each channel was shifted to the same mean. Equal pictures have distance 0, unrelated ones about 100.
"""

import gzip
import json
import math
import urllib.error
import urllib.request
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.errors import RecognitionError
from generator.fingerprints.recipe import VERSION, Fingerprint, Pixels, average, fingerprint
from generator.fingerprints.table import read_entries, read_recipe
from generator.lake.lake import RECIPE_NAME
from generator.lake.table_writer import LakeWriter

_TIMEOUT_SECONDS = 60
_MAX_MESSAGE_CHARACTERS = 300
_URL, _GZIP = ("http://", "https://"), b"\x1f\x8b"  # how they begin
_HASHES = ("art_p", "art_d", "card_p")


@dataclass(frozen=True)
class References:
    """The entries of an index, sorted by key."""

    image_url: str
    keys: tuple[str, ...]
    products: tuple[Sequence[int], ...]
    hashes: NDArray[np.uint64]  # (3, entries): art_p, art_d, card_p
    colours: NDArray[np.int16]  # (entries, 48), each channel minus its mean, × 16


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
            _centred(_bytes(entries, "colour", 48)),
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


def _centred(colours: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Return colour grids minus each channel's mean, which is the light, × 16 to stay whole: (n, 48) → (n, 48)."""
    cells = colours.reshape(len(colours), 16, 3).astype(np.int16)
    differences: NDArray[np.int16] = 16 * cells - cells.sum(1, dtype=np.int16, keepdims=True)
    return differences.reshape(len(colours), 48)


def load_index(location: str, api_key: str | None) -> References:
    """Load an index from `/api/v1/fingerprints`, a `fingerprints.json` or `.json.gz`, or a lake."""
    if Path(location).is_dir():
        return from_index(location, _lake_index(location))
    data = _read(location, api_key)
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RecognitionError(f"{location} is no fingerprint index: {error}") from error
    return from_index(location, parsed)


def _lake_index(location: str) -> dict[str, Any]:
    lake = LakeWriter(location)
    recipe, names = read_recipe(lake), lake.list_tables("fingerprints")
    if recipe is None or not names:
        missing = RECIPE_NAME if recipe is None else "fingerprints*.parquet"
        raise RecognitionError(f"{location}: no {missing} there")
    return recipe | {"entries": [row for name in names for row in read_entries(lake, name).to_pylist()]}


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the API has none, and the key must not be sent to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


def _read(location: str, api_key: str | None) -> bytes:
    try:
        data = _fetch(location, api_key) if location.startswith(_URL) else Path(location).read_bytes()
        return gzip.decompress(data) if data.startswith(_GZIP) else data
    except urllib.error.HTTPError as error:
        raise RecognitionError(f"{location}: {error.code} {_message(error)}") from error
    except (OSError, HTTPException, ValueError, EOFError, zlib.error) as error:
        reason = getattr(error, "reason", None) or error
        raise RecognitionError(f"{location}: {getattr(reason, 'strerror', None) or reason}") from error


def _fetch(url: str, api_key: str | None) -> bytes:
    if not api_key:
        raise RecognitionError(f"{url} needs an API key: give --key, or set CARDPRESS_KEY")
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {api_key}", "Accept-Encoding": "gzip"})
    with urllib.request.build_opener(_NoRedirects).open(request, timeout=_TIMEOUT_SECONDS) as response:
        body: bytes = response.read()
    return body


def _message(error: urllib.error.HTTPError) -> str:
    with suppress(ValueError, KeyError, TypeError, OSError):
        return " ".join(str(json.loads(error.read())["error"]["message"]).split())[:_MAX_MESSAGE_CHARACTERS]
    return str(error.reason)


_MAX_WIDTH, _MAX_HEIGHT = 378, 528  # pixels of all views but the first
# shift to the right (part of the width), shift down (part of the height), degrees
_MOVES = ((0.02, 0, 0), (-0.02, 0, 0), (0, 0.02, 0), (0, -0.02, 0), (0, 0, 2.0), (0, 0, -2.0))


def views(photo: Pixels) -> list[Pixels]:
    """Return the photo, four copies shifted by 2 %, and two turned by 2 degrees.

    Pixels beyond the edge have the colour of the edge. With several views more badly cut or turned photos are found,
    but matching takes longer (docs/fingerprint.md has the measurement).
    """
    height, width = photo.shape[:2]
    small = photo
    if width > _MAX_WIDTH or height > _MAX_HEIGHT:
        small = average(photo, min(width, _MAX_WIDTH), min(height, _MAX_HEIGHT))
    return [photo, *(_moved(small, *move) for move in _MOVES)]


def _moved(photo: Pixels, right: float, down: float, degrees: float) -> Pixels:
    height, width = photo.shape[:2]
    y, x = np.ogrid[:height, :width]
    y, x = y - (height - 1) / 2, x - (width - 1) / 2
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    across = np.rint(cos * x - sin * y + (width - 1) / 2 + right * width).astype(np.intp)
    along = np.rint(sin * x + cos * y + (height - 1) / 2 + down * height).astype(np.intp)
    moved: Pixels = photo[along.clip(0, height - 1), across.clip(0, width - 1)]
    return moved


_COLOUR_UNIT = 16 * 48  # divides the sum over 48 differences, each × 16, into their mean
_COLOUR_WEIGHT = 0.5


class Match(NamedTuple):
    """An entry, and its distance from the nearest view of the photo."""

    key: str
    distance: float
    products: Sequence[int]
    image: str


def match_photo(photo: Pixels, references: References, top: int) -> list[Match]:
    """Return the `top` entries nearest to any view of a photo, nearest first, at the same distance by key.

    Args:
        photo: (height, width, 3) RGB, 8 bits, upright and roughly cut to the card.
    """
    smallest = distances([fingerprint(view) for view in views(photo)], references).min(0)
    places = np.argsort(smallest, kind="stable")[:top]  # stable: entries are sorted by key
    return [
        Match(
            references.keys[place],
            float(smallest[place]),
            references.products[place],
            references.image_url.replace("{key}", references.keys[place]),
        )
        for place in places
    ]


def distances(fingerprints: Sequence[Fingerprint], references: References) -> NDArray[np.float64]:
    """Return the distances from each of n fingerprints to each entry: (n, entries)."""
    found = []
    for one in fingerprints:
        hashes = np.array([getattr(one, name) for name in _HASHES], np.uint64)
        colour = _centred(np.frombuffer(one.colour, np.uint8)[None, :])
        bits = np.bitwise_count(references.hashes ^ hashes[:, None]).sum(0, dtype=np.int64)
        colours = np.abs(references.colours - colour).sum(1, dtype=np.int64)
        found.append(bits + colours / _COLOUR_UNIT * _COLOUR_WEIGHT)
    return np.stack(found)
