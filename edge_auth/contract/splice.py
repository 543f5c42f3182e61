"""Card details: gzip members that are cut into fragments and spliced together without being inflated.

The open month and each closed period of a product's history are one gzip member each. Its JSON is compressed in
fragments: the head, and the rows of each history array. Every fragment ends in a full flush (RFC 1951), so it does not
refer to the bytes before it and can be copied into another member. An extra field of the gzip header (RFC 1952) says
where the fragments lie; other readers skip it.
"""

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from isal import isal_zlib

from edge_auth.contract.codec import deflate, inflate, sha256
from edge_auth.contract.pages import BETWEEN, CARD_TAIL, HISTORY_ARRAYS, HISTORY_MARKS, rows_since

_HEADER = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF))
_HEADER_WITH_EXTRA = bytes((0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF))
# Length of the extra field, id of its subfield, length of the subfield.
_EXTRA_FIELD = Struct("<H2sH")
_SUBFIELD_ID = b"CP"
# For the head and each array: offset in the member and length of the fragment, size and CRC-32 of its text.
_FRAGMENT_TABLE = Struct("<" + "IIII" * (1 + len(HISTORY_ARRAYS)))
_HEADER_OF_FRAGMENTS = _HEADER_WITH_EXTRA + _EXTRA_FIELD.pack(
    _EXTRA_FIELD.size - 2 + _FRAGMENT_TABLE.size, _SUBFIELD_ID, _FRAGMENT_TABLE.size
)
_TABLE_OFFSET = len(_HEADER_OF_FRAGMENTS)
_TRAILER = Struct("<II")
_ARRAY_DIGEST = Struct("<QI")
_FINAL_BLOCK = b"\x03\x00"


class SplicedCard(NamedTuple):
    """A card detail.

    Attributes:
        member: The gzip member.
        size: Bytes of its JSON.
        digest: A hash of its content.
    """

    member: bytes
    size: int
    digest: bytes


class _Fragment(NamedTuple):
    """Deflate data that ends in a full flush; size in bytes and CRC-32 of its text."""

    data: bytes
    size: int
    crc: int


class _Deflated:
    """Concatenated fragments."""

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self.size = self.crc = 0

    def add(self, fragment: _Fragment) -> None:
        """Append a fragment."""
        self.data.append(fragment.data)
        self.crc = isal_zlib.crc32_combine(self.crc, fragment.crc, fragment.size)
        self.size += fragment.size

    def joined(self) -> _Fragment:
        """Return everything as one fragment."""
        return _Fragment(b"".join(self.data), self.size, self.crc)

    def member(self, header: bytes) -> bytes:
        """Return everything as a gzip member."""
        return b"".join([header, *self.data, _FINAL_BLOCK, _TRAILER.pack(self.crc, self.size & 0xFFFFFFFF)])


def encode_fragments(head: bytes, arrays: Sequence[bytes], tail: bytes) -> tuple[bytes, bytes]:
    """Return a history, or a Card with its history, as JSON and as a gzip member.

    Args:
        head: The text before the history object.
        arrays: The rows of the three history arrays, each joined by `,\\n`, or empty.
        tail: The text after the history object.
    """
    texts, ends = (head + b"{" + HISTORY_MARKS[0], *arrays), _array_ends(arrays, tail)
    deflated: list[bytes] = []
    table: list[int] = []
    offset = _TABLE_OFFSET + _FRAGMENT_TABLE.size
    for text, end in zip(texts, (b"", *ends), strict=True):
        data = deflate(text) if text else b""
        table += (offset, len(data), len(text), isal_zlib.crc32(text))
        end_data = _deflate_constant(end).data
        deflated += (data, end_data)
        offset += len(data) + len(end_data)
    plain = _join_texts(texts, ends)
    trailer = _TRAILER.pack(isal_zlib.crc32(plain), len(plain) & 0xFFFFFFFF)
    return plain, b"".join((_HEADER_OF_FRAGMENTS, _FRAGMENT_TABLE.pack(*table), *deflated, _FINAL_BLOCK, trailer))


def splice(card: bytes, periods: Sequence[bytes]) -> SplicedCard:
    """Return a Card with its whole history.

    Args:
        card: The member of the Card with the open month.
        periods: The members of its closed periods, oldest first.
    """
    members = [_fragments(member) for member in (*periods, card)]
    head = members[-1][0]
    arrays = [_join_rows([fragments[number] for fragments in members]) for number in range(1, 1 + len(HISTORY_ARRAYS))]
    deflated, digests = _Deflated(), [sha256(_inflate(head))]
    deflated.add(head)
    for rows, end in zip(arrays, _array_ends([rows.data for rows in arrays], CARD_TAIL), strict=True):
        deflated.add(rows)
        deflated.add(_deflate_constant(end))
        digests.append(_ARRAY_DIGEST.pack(rows.size, rows.crc))
    return SplicedCard(deflated.member(_HEADER), deflated.size, sha256(b"".join(digests)))


def detail_since(card: bytes, periods: Sequence[bytes], day: str) -> bytes:
    """Return the JSON of a Card with its history from a day (YYYY-MM-DD) on; the members are those of `splice`."""
    members = [_fragments(member) for member in (*periods, card)]
    arrays = [
        BETWEEN.join(filter(None, (rows_since(_inflate(fragments[number]), day) for fragments in members)))
        for number in range(1, 1 + len(HISTORY_ARRAYS))
    ]
    return _join_texts([_inflate(members[-1][0]), *arrays], _array_ends(arrays, CARD_TAIL))


def _join_texts(texts: Sequence[bytes], ends: Sequence[bytes]) -> bytes:
    """Join the head and the rows of each array with the text that follows each array."""
    return b"".join(text + end for text, end in zip(texts, (b"", *ends), strict=True))


def _join_rows(fragments: Sequence[_Fragment]) -> _Fragment:
    """Join the rows of one array in several periods."""
    deflated = _Deflated()
    for fragment in fragments:
        if not fragment.size:
            continue
        if deflated.size:
            deflated.add(_deflate_constant(BETWEEN))
        deflated.add(fragment)
    return deflated.joined()


def _array_ends(arrays: Sequence[bytes], tail: bytes) -> list[bytes]:
    """Return the text that follows the rows of each array."""
    ends = [*HISTORY_MARKS[1:-1], HISTORY_MARKS[-1] + tail]
    return [b"\n" + end if rows else end for rows, end in zip(arrays, ends, strict=True)]


def _fragments(member: bytes) -> list[_Fragment]:
    """Return the head and the arrays of a member."""
    table = _FRAGMENT_TABLE.unpack_from(member, _TABLE_OFFSET)
    entries = zip(*(table[column::4] for column in range(4)), strict=True)
    return [_Fragment(member[offset : offset + length], size, crc) for offset, length, size, crc in entries]


def _deflate(text: bytes) -> _Fragment:
    if not text:
        return _Fragment(b"", 0, 0)
    return _Fragment(deflate(text), len(text), isal_zlib.crc32(text))


_deflate_constant = lru_cache(64)(_deflate)


def _inflate(fragment: _Fragment) -> bytes:
    return inflate(fragment.data)
