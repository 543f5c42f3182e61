"""Bodies: the content of an answer in both encodings, with its ETags; and the form of pages and histories.

A page is a JSON array with one item per line: `[\\n`, its items joined by `,\\n`, then `\\n]\\n`. The rows of the
history arrays in a card detail are joined by `,\\n`, too; `HISTORY_MARKS` is the text around them. JSON escapes line
feeds inside strings, so a raw line feed always separates items. A reader can cut lists and histories by lines, without
parsing JSON.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from json.encoder import encode_basestring
from pathlib import Path
from threading import Lock

from generator.storage.stores.codec import compress, decompress

OPEN = b"[\n"
BETWEEN = b",\n"
CLOSE = b"\n]\n"
# The text after the history in a card detail, and in the object of a period.
CARD_TAIL, PERIOD_TAIL = b"}\n", b"\n"
HISTORY_ARRAYS = ("price_guide", "filtered", "listing")
# The text before the rows of each history array, and after the last one.
HISTORY_MARKS = (b'"price_guide":[\n', b'],"filtered":[\n', b'],"listing":[\n', b"]}")
_DAY = slice(len('{"day":"'), len('{"day":"YYYY-MM-DD'))
JSON = "application/json"
# The elements of Accept-Encoding that may mean gzip. Others are skipped: a client may send tens of thousands.
_GZIP_CODINGS = re.compile(r"(?:^|,)\s*(gzip|x-gzip|\*)\s*(?:;([^,]*))?(?=,|$)")
_GZIP_SUFFIX = "-gzip"
_OVERHEAD_BYTES = 500
LARGE_BYTES = 4 << 20
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))  # `json.dumps` makes one for each value
_inflating = Lock()
_MAX_LISTED_CHARACTERS = 8_000  # of tags: some two hundred
_MAX_HEADER_CHARACTERS = 1000  # a longer header is read as far as this: clients must not fill the memory


class Body:
    """The content of an answer.

    Args:
        size, cost: Bytes of the plain content, and those that the body takes in the cache.
        total: Of a page of a list: the number of rows of the whole list.

    Attributes:
        more_headers: What describes the answer beside its content.
    """

    file: Path | None = None  # a local file with the plain content, for some large bodies
    member: bytes | None = None  # the gzip member, if it is in memory

    def __init__(self, digest: bytes, size: int, cost: int, media_type: str = JSON, total: int | None = None):
        self.size = size
        self.cost = cost + _OVERHEAD_BYTES
        self.media_type = media_type
        self.more_headers: dict[str, str] = {} if total is None else {"X-Total-Count": str(total)}
        self._tag = digest.hex()[:32]
        self._headers: dict[bool, dict[str, str]] = {}

    @property
    def gzipped(self) -> bytes:
        if (member := self.member) is None:
            member = self.member = self._make_member()
        return member

    def _make_member(self) -> bytes:
        raise NotImplementedError

    @property
    def plain(self) -> bytes:
        return decompress(self.gzipped, self.size)

    def headers(self, gzip: bool) -> dict[str, str]:
        """Return the headers that describe the content in one encoding, with its strong ETag."""
        if gzip not in self._headers:
            tag, length = (self._tag + _GZIP_SUFFIX, len(self.gzipped)) if gzip else (self._tag, self.size)
            headers = {"Content-Type": self.media_type, "ETag": f'"{tag}"', "Content-Length": str(length)}
            headers |= self.more_headers
            self._headers[gzip] = {**headers, "Content-Encoding": "gzip"} if gzip else headers
        return self._headers[gzip]

    def matches(self, if_none_match: str) -> bool:
        """Return whether If-None-Match names this content in either encoding."""
        return matches_tag(if_none_match, self._tag, self._tag + _GZIP_SUFFIX)


class MadeBody(Body):
    """A body that was put together for an answer. It makes its gzip member when a client wants it."""

    def __init__(self, plain: bytes, digest: bytes | None = None, total: int | None = None):
        size = len(plain)
        super().__init__(digest or sha256(plain).digest(), size, size + size // 4, total=total)
        self._plain = plain

    def _make_member(self) -> bytes:
        return compress(self._plain)

    @property
    def plain(self) -> bytes:
        return self._plain


class StoredBody(Body):
    """A body whose gzip member is sent as it is stored. It holds only this member, a tenth of the size.

    Few clients do not accept gzip, so the plain content is inflated each time, unless a local file holds it.
    `read_gzipped` must not refer to this body: without a reference cycle, a body that the cache drops is freed at once.
    """

    def __init__(
        self,
        digest: bytes,
        size: int,
        cost: int,
        read_gzipped: Callable[[], bytes],
        media_type: str = JSON,
        file: Path | None = None,
    ):
        super().__init__(digest, size, cost, media_type)
        self.file = file
        self._read_gzipped = read_gzipped

    def _make_member(self) -> bytes:
        return self._read_gzipped()

    @property
    def plain(self) -> bytes:
        """The content. A large one is read from its file, or inflated one at a time."""
        if self.size < LARGE_BYTES:
            return super().plain
        if self.file is not None:
            with suppress(OSError):
                return self.file.read_bytes()
        gzipped = self.gzipped
        with _inflating:  # one at a time, since each takes memory; inflating does not hold the interpreter
            return decompress(gzipped, self.size)


def matches_tag(if_none_match: str, *tags: str) -> bool:
    """Return whether If-None-Match names one of some tags, or any. Only the beginning of a long header is read."""
    listed = if_none_match[:_MAX_LISTED_CHARACTERS]
    return any(f'"{tag}"' in listed for tag in tags) or listed.strip() == "*"


def accepts_gzip(accept_encoding: str) -> bool:
    return _accepts_gzip(accept_encoding[:_MAX_HEADER_CHARACTERS])


@lru_cache(256)
def _accepts_gzip(accept_encoding: str) -> bool:
    allowed: dict[str, bool] = {}
    for coding, parameters in _GZIP_CODINGS.findall(accept_encoding.lower()):
        quality = parameters.replace(" ", "").removeprefix("q=") or "1"
        allowed[coding] = re.fullmatch(r"1(\.0{0,3})?|0\.(?=.*[1-9])[0-9]{1,3}", quality) is not None
    return next((allowed[coding] for coding in ("gzip", "x-gzip", "*") if coding in allowed), False)


def list_body(
    lines: Sequence[bytes | memoryview],
    offset: int,
    limit: int,
    total: int,
    digest: bytes | None = None,
    more: Mapping[str, object] | None = None,
) -> Body:
    """Return one page of a list of `total` items: its lines, the Pagination, and `more` members.

    `digest` is a hash of the lines. With None it is computed from their text.
    """
    end = offset + len(lines)
    more_fields = f'true,"next_offset":{end}' if end < total else 'false,"next_offset":null'
    pagination = f'{{"limit":{limit},"offset":{offset},"returned":{len(lines)},"has_more":{more_fields}}}'.encode()
    tail = b",".join((pagination, *(dumps(name) + b":" + dumps(value) for name, value in (more or {}).items())))
    # Joining copies the text once, so the text around the items goes into the first and the last item.
    items = [*lines] or [b""]
    items[0] = b'{"data":[\n' + items[0]
    items[-1] = b"".join((items[-1], b'\n],"pagination":', tail, b"}\n"))
    return MadeBody(b",\n".join(items), sha256(digest + tail).digest() if digest else None, total)


def short_list(lines: Sequence[bytes], offset: int, limit: int) -> Body:
    """Return one page of a list that is in memory."""
    return list_body(lines[offset : offset + limit], offset, limit, len(lines))


def dumps(value: object) -> bytes:
    """Return a value as compact JSON in UTF-8."""
    if type(value) is str:
        return encode_basestring(value).encode()  # what `json.dumps` does, in a fifth of the time
    return _encoder.encode(value).encode()


def paged(items: Iterable[str], per_page: int, key: Callable[[int], str]) -> list[tuple[str, bytes]]:
    """Return items, each JSON text, as pages with their keys by number. No items give one empty page."""
    lines = [item.encode() for item in items]
    starts = range(0, max(len(lines), 1), per_page)
    return [(key(start // per_page), OPEN + BETWEEN.join(lines[start : start + per_page]) + CLOSE) for start in starts]


def split_page(page: bytes) -> list[bytes]:
    """Return the items of a page as JSON text."""
    inside = page[len(OPEN) : -len(CLOSE)]
    return inside.split(BETWEEN) if inside else []


def rows_since(rows: bytes, day: str) -> bytes:
    """Return the history rows of `day` (YYYY-MM-DD) and later, of rows in the order of their days."""
    first_day, low, high = day.encode(), 0, len(rows)
    while low < high:  # rows that begin before `low` are older, rows that begin at `high` or later are not
        separator = rows.rfind(BETWEEN, low, (low + high) // 2)
        start = low if separator < 0 else separator + len(BETWEEN)
        if rows[start + _DAY.start : start + _DAY.stop] >= first_day:
            high = start
        else:
            end = rows.find(BETWEEN, start)
            low = len(rows) if end < 0 else end + len(BETWEEN)
    return rows[low:]
