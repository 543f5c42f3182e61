"""Bodies: the content of an answer in both encodings, with its ETags."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock

from edge_auth.contract.codec import compress, decompress, sha256
from edge_auth.contract.index import Entry
from edge_auth.contract.layers import Layer
from edge_auth.contract.splice import SplicedCard

JSON = "application/json"
_ENTITY_TAG = re.compile(r'(?:W/)?"([^"]*)"')
# The elements of Accept-Encoding that may mean gzip. Others are skipped: a client may send tens of thousands.
_GZIP_CODINGS = re.compile(r"(?:^|,)\s*(gzip|x-gzip|\*)\s*(?:;([^,]*))?(?=,|$)")
_GZIP_SUFFIX = "-gzip"
_OVERHEAD_BYTES = 500
LARGE_BYTES = 4 << 20
_inflating = Lock()
_MAX_CACHED_HEADER_CHARACTERS = 100


class Body:
    """The content of an answer, plain and as a gzip member.

    A body that was put together for an answer holds its plain content, and its gzip member after a client wanted it; a
    card detail then gives up the plain content, so that the cache holds more of them. A body from the store holds only
    the gzip member, a tenth of the size. Few clients do not accept gzip, so for these the body is inflated each time,
    unless a local file holds the plain content.

    Args:
        digest: A hash of the content.
        size: Bytes of the plain content.
        read_gzipped: Returns the gzip member.
        plain: The plain content, if it was put together for an answer.
        cost: Bytes that the body takes in the cache.
        total: Of a page of a list: the number of rows of the whole list.
        file: A local file with the plain content, for large bodies from the store.
        one_form: Whether the plain content is given up when there is a gzip member.

    Attributes:
        size: Bytes of the plain content.
    """

    def __init__(
        self,
        digest: bytes,
        size: int,
        read_gzipped: Callable[[], bytes],
        cost: int,
        plain: bytes | None = None,
        media_type: str = JSON,
        total: int | None = None,
        file: Path | None = None,
        one_form: bool = False,
    ):
        self.file = file
        self.media_type = media_type
        self._total = total
        self.cost = cost + _OVERHEAD_BYTES
        self._tag = digest.hex()[:32]
        self.size = size
        self._plain = plain
        # `read_gzipped` must not refer to this body. Without a reference cycle, a body that the cache drops is freed
        # at once, and not when the garbage collector runs.
        self._read_gzipped = read_gzipped
        self._gzipped: bytes | None = None
        self._one_form = one_form
        self._headers: dict[bool, dict[str, str]] = {}

    @classmethod
    def from_json(cls, plain: bytes, digest: bytes | None = None, total: int | None = None) -> "Body":
        """Return a body of JSON that was put together for an answer; `digest` is a hash of its content."""
        size = len(plain)
        return cls(digest or sha256(plain), size, partial(compress, plain), size + size // 4, plain, total=total)

    @classmethod
    def from_store(cls, layer: Layer, entry: Entry, media_type: str = JSON, file: Path | None = None) -> "Body":
        """Return the body of a stored object. Its gzip member is sent unchanged, its hash comes from the index."""
        read_gzipped = partial(layer.read_member, entry)
        return cls(entry.json_sha256, entry.json_size, read_gzipped, entry.length, media_type=media_type, file=file)

    @classmethod
    def from_detail(cls, plain: bytes) -> "Body":
        """Return the body of a card detail that was cut from the history."""
        return cls(sha256(plain), len(plain), partial(compress, plain), len(plain), plain, one_form=True)

    @classmethod
    def from_card(cls, card: SplicedCard) -> "Body":
        """Return the body of a card detail."""
        return cls(card.digest, card.size, lambda: card.member, len(card.member))

    @property
    def gzipped(self) -> bytes:
        """The content as a gzip member."""
        if (gzipped := self._gzipped) is None:
            gzipped = self._gzipped = self._read_gzipped()
            if self._one_form:
                self._plain, self._read_gzipped = None, lambda: gzipped
        return gzipped

    @property
    def plain(self) -> bytes:
        """The content without compression."""
        plain = self._plain  # another thread may give it up meanwhile
        return decompress(self.gzipped, self.size) if plain is None else plain

    def inflated(self, waiting: Callable[[], AbstractContextManager[None]]) -> bytes:
        """Return the content without compression. A large one is inflated while other requests run.

        Args:
            waiting: Returns the context in which other requests run.
        """
        if self.size < LARGE_BYTES or self._plain is not None:
            return self.plain
        if self.file is not None:
            with suppress(OSError), waiting():
                return self.file.read_bytes()
        gzipped = self.gzipped
        with waiting(), _inflating:  # one at a time, since each takes memory; inflating does not hold the interpreter
            return decompress(gzipped, self.size)

    def headers(self, gzip: bool) -> dict[str, str]:
        """Return the headers that describe the content in one encoding, with its strong ETag."""
        if gzip not in self._headers:
            tag, length = (self._tag + _GZIP_SUFFIX, len(self.gzipped)) if gzip else (self._tag, self.size)
            headers = {"Content-Type": self.media_type, "ETag": f'"{tag}"', "Content-Length": str(length)}
            if self._total is not None:
                headers["X-Total-Count"] = str(self._total)
            self._headers[gzip] = {**headers, "Content-Encoding": "gzip"} if gzip else headers
        return self._headers[gzip]

    def matches(self, if_none_match: str) -> bool:
        """Return whether If-None-Match names this content in either encoding."""
        if if_none_match.strip() == "*":
            return True
        return any(tag.removesuffix(_GZIP_SUFFIX) == self._tag for tag in _ENTITY_TAG.findall(if_none_match))


def matches_tag(if_none_match: str, tag: str) -> bool:
    """Return whether If-None-Match names a tag, or any."""
    return if_none_match.strip() == "*" or tag in _ENTITY_TAG.findall(if_none_match)


def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether an Accept-Encoding header allows gzip."""
    usual = len(accept_encoding) <= _MAX_CACHED_HEADER_CHARACTERS  # clients must not fill the memory
    return _cached_accepts_gzip(accept_encoding) if usual else _accepts_gzip(accept_encoding)


def _accepts_gzip(accept_encoding: str) -> bool:
    allowed: dict[str, bool] = {}
    for coding, parameters in _GZIP_CODINGS.findall(accept_encoding.lower()):
        quality = parameters.replace(" ", "").removeprefix("q=") or "1"
        allowed[coding] = re.fullmatch(r"1(\.0{0,3})?|0\.(?=.*[1-9])[0-9]{1,3}", quality) is not None
    return next((allowed[coding] for coding in ("gzip", "x-gzip", "*") if coding in allowed), False)


_cached_accepts_gzip = lru_cache(256)(_accepts_gzip)


def list_body(
    lines: Sequence[bytes | memoryview],
    offset: int,
    limit: int,
    total: int,
    digest: bytes | None = None,
    more: Mapping[str, object] | None = None,
) -> Body:
    """Return one page of a list: its items, the Pagination, and other members.

    Args:
        lines: The items as JSON, one per line.
        total: Number of items of the whole list.
        digest: A hash of the lines. With None it is computed from their text.
        more: Members that follow the Pagination.
    """
    end = offset + len(lines)
    more_fields = f'true,"next_offset":{end}' if end < total else 'false,"next_offset":null'
    pagination = f'{{"limit":{limit},"offset":{offset},"returned":{len(lines)},"has_more":{more_fields}}}'.encode()
    tail = b",".join((pagination, *(dumps(name) + b":" + dumps(value) for name, value in (more or {}).items())))
    # Joining copies the text once, so the text around the items goes into the first and the last item.
    items = [*lines] or [b""]
    items[0] = b'{"data":[\n' + items[0]
    items[-1] = b"".join((items[-1], b'\n],"pagination":', tail, b"}\n"))
    return Body.from_json(b",\n".join(items), sha256(digest + tail) if digest else None, total)


def dumps(value: object) -> bytes:
    """Return a value as compact JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
