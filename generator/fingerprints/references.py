"""The index of reference fingerprints that photos are compared with, from the API, an exported file or a lake."""

import gzip
import json
import urllib.error
import urllib.request
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.errors import RecognitionError
from generator.fingerprints.recipe import VERSION, Fingerprint
from generator.fingerprints.table import read_entries, read_recipe, table_files
from generator.lake.lake import RECIPE_NAME
from generator.lake.writer import LakeWriter

_TIMEOUT_SECONDS = 60
_MAX_MESSAGE_CHARACTERS = 300
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
    """Read an index from the bytes of its JSON. `location` is where it comes from, for messages."""
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
    """Return colour grids minus each channel's mean, which is the light, × 16 to stay whole: (n, 48) → (n, 48)."""
    cells = colours.reshape(len(colours), 16, 3).astype(np.int16)
    differences: NDArray[np.int16] = 16 * cells - cells.sum(1, dtype=np.int16, keepdims=True)
    return differences.reshape(len(colours), 48)


def arrays(entries: Sequence[Fingerprint]) -> tuple[NDArray[np.uint64], NDArray[np.int16]]:
    """Return fingerprints as References have them: (3, n) hashes and (n, 48) centred colours."""
    hashes = np.array([[getattr(entry, name) for entry in entries] for name in _HASHES], np.uint64)
    grids = np.frombuffer(b"".join(entry.colour for entry in entries), np.uint8)
    return hashes, centred(grids.reshape(len(entries), 48))


def load_index(location: str, api_key: str | None) -> References:
    """Load an index from `/api/v1/fingerprints`, a `fingerprints.json` or `.json.gz`, or a lake or its Parquet file."""
    if location.startswith(("http://", "https://")):
        return read_index(location, _fetch(location, api_key))
    path = Path(location)
    if path.is_dir() or path.suffix == ".parquet":
        return from_index(location, _lake_index(path))
    try:
        data = path.read_bytes()
        return read_index(location, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except (OSError, EOFError, zlib.error) as error:
        raise RecognitionError(f"{location}: {getattr(error, 'strerror', None) or error}") from error


def _lake_index(path: Path) -> dict[str, Any]:
    lake = LakeWriter(str(path if path.is_dir() else path.parent))
    recipe = read_recipe(lake)
    names = table_files(lake) if path.is_dir() else [path.name]
    if recipe is None or not names:
        missing = RECIPE_NAME if recipe is None else "fingerprints*.parquet"
        raise RecognitionError(f"{path}: no {missing} there")
    return recipe | {"entries": [row for name in names for row in read_entries(lake, name).to_pylist()]}


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the API has none, and the key must not be sent to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


def _fetch(url: str, api_key: str | None) -> bytes:
    if not api_key:
        raise RecognitionError(f"{url} needs an API key: give --key, or set CARDPRESS_KEY")
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {api_key}", "Accept-Encoding": "gzip"})
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=_TIMEOUT_SECONDS) as response:
            body: bytes = response.read()
            coding = response.headers.get("Content-Encoding")
        return gzip.decompress(body) if coding == "gzip" else body
    except urllib.error.HTTPError as error:
        raise RecognitionError(f"{url}: {error.code} {_message(error)}") from error
    except (OSError, HTTPException, ValueError, EOFError, zlib.error) as error:
        reason = getattr(error, "reason", None) or error
        raise RecognitionError(f"{url}: {getattr(reason, 'strerror', None) or reason}") from error


def _message(error: urllib.error.HTTPError) -> str:
    """Return the message of an error response, on one line."""
    with suppress(ValueError, KeyError, TypeError, OSError):
        return " ".join(str(json.loads(error.read())["error"]["message"]).split())[:_MAX_MESSAGE_CHARACTERS]
    return str(error.reason)
