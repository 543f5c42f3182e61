"""Bodies: the content of an answer in its two encodings, with its ETags, and a cache of those made recently."""

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache, partial
from threading import Lock
from typing import Any

from edge_auth.contract.builds import Layer
from edge_auth.contract.codec import compress, decompress, sha256
from edge_auth.contract.index import Entry
from edge_auth.contract.splice import SplicedCard

_ENTITY_TAG = re.compile(r'(?:W/)?"([^"]*)"')
_GZIP_SUFFIX = "-gzip"
JSON = "application/json"


class Body:
    """The content of an answer in either encoding.

    What was put together for the answer is kept, and its gzip member once that was asked for. Of what the store holds
    only the member is kept, which is a tenth: few clients take nothing else, and those have it inflated each time.

    Args:
        digest: tells the content from all others.
        size: bytes of the content.
        stored: reads the gzip member, of so many bytes, where that is what there is.
        plain: the content, where it was put together.
    """

    def __init__(
        self,
        digest: bytes,
        size: int,
        *,
        stored: tuple[Callable[[], bytes], int] | None = None,
        plain: bytes | None = None,
        media_type: str = JSON,
    ):
        self.media_type = media_type
        self._tag = digest.hex()[:32]
        self._size = size
        self._plain = plain
        # No reference to ourselves: what the cache drops must be gone at once, not when cycles are looked for.
        self._read, length = stored or (partial(compress, plain), size + size // 4)
        self._gzipped: bytes | None = None
        self._headers: dict[bool, dict[str, str]] = {}
        self.cost = length + 500

    @classmethod
    def made(cls, plain: bytes, digest: bytes | None = None) -> "Body":
        """A body that was put together for this answer; `digest` tells its content from all others."""
        return cls(digest or sha256(plain), len(plain), plain=plain)

    @classmethod
    def stored(cls, layer: Layer, entry: Entry, media_type: str = JSON) -> "Body":
        """An object as it is: its tag is known from the index, its gzip member goes out untouched."""
        read = partial(layer.stored, entry)
        return cls(entry.json_sha256, entry.json_size, stored=(read, entry.length), media_type=media_type)

    @classmethod
    def spliced(cls, card: SplicedCard) -> "Body":
        """A card detail as it was joined."""
        return cls(card.digest, card.size, stored=(lambda: card.member, len(card.member)))

    @property
    def gzipped(self) -> bytes:
        if self._gzipped is None:
            self._gzipped = self._read()
        return self._gzipped

    @property
    def plain(self) -> bytes:
        return decompress(self.gzipped) if self._plain is None else self._plain

    def headers(self, gzip: bool) -> dict[str, str]:
        """What the headers say of the content in one encoding, its strong ETag among it."""
        if gzip not in self._headers:
            tag, length = (self._tag + _GZIP_SUFFIX, len(self.gzipped)) if gzip else (self._tag, self._size)
            said = {"Content-Type": self.media_type, "ETag": f'"{tag}"', "Content-Length": str(length)}
            self._headers[gzip] = {**said, "Content-Encoding": "gzip"} if gzip else said
        return self._headers[gzip]

    def matches(self, if_none_match: str) -> bool:
        """Whether a client that sends this If-None-Match has the body already, in either encoding."""
        if if_none_match.strip() == "*":
            return True
        return any(tag.removesuffix(_GZIP_SUFFIX) == self._tag for tag in _ENTITY_TAG.findall(if_none_match))


@lru_cache(256)
def accepts_gzip(accept_encoding: str) -> bool:
    """Whether an Accept-Encoding header allows gzip."""
    allowed: dict[str, bool] = {}
    for piece in accept_encoding.lower().split(","):
        coding, _, parameters = piece.partition(";")
        quality = parameters.replace(" ", "").removeprefix("q=") or "1"
        allowed[coding.strip()] = re.fullmatch(r"1(\.0{0,3})?|0\.(?=.*[1-9])[0-9]{1,3}", quality) is not None
    return next((allowed[coding] for coding in ("gzip", "x-gzip", "*") if coding in allowed), False)


def list_body(
    lines: Sequence[bytes | memoryview], offset: int, limit: int, total: int, digest: bytes | None = None
) -> Body:
    """A page of a list: the items as they are stored, one per line, and the Pagination.

    Args:
        digest: what tells these lines from all others; None to find it out from them.
    """
    end = offset + len(lines)
    more = end < total
    pagination = {
        "limit": limit,
        "offset": offset,
        "returned": len(lines),
        "has_more": more,
        "next_offset": end if more else None,
    }
    said = dumps(pagination)
    rows = [*lines] or [b""]
    rows[0] = b'{"data":[\n%b' % rows[0]
    rows[-1] = b'%b\n],"pagination":%b}\n' % (rows[-1], said)
    plain = b",\n".join(rows)  # the one time that all is copied
    return Body.made(plain, digest and sha256(digest + said))


def dumps(value: object) -> bytes:
    """Compact JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class Cache:
    """Values used recently, as many as fit into a number of bytes. Shared by the threads of a process."""

    def __init__(self, capacity: int):
        self._capacity = capacity
        self._free = capacity
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:
        """The value, or None."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: Any, cost: int) -> None:
        """Keep a value of so many bytes, unless it alone would push out most of the others."""
        if cost > self._capacity // 2:
            return
        with self._lock:
            _, replaced = self._values.pop(key, (None, 0))
            self._values[key] = (value, cost)
            self._free += replaced - cost
            while self._free < 0:
                _, (_, freed) = self._values.popitem(last=False)
                self._free += freed
