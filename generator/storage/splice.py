"""Card details: gzip members that are cut into fragments and spliced together without being inflated.

The open month and each closed period of a product's history are one gzip member each. Its JSON is compressed in
fragments: the head, and the rows of each history array. Every fragment ends in a full flush (RFC 1951), so it does not
refer to the bytes before it and can be copied into another member. An extra field of the gzip header (RFC 1952) says
where the fragments lie; other readers skip it.

A detail begins with the product's line of the catalogue, which is compressed when the detail is put together.
"""

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from isal import isal_zlib

from generator.storage.bodies import BETWEEN, CARD_TAIL, HISTORY_ARRAYS, HISTORY_MARKS, PERIOD_TAIL, rows_since
from generator.storage.stores.codec import decompress, deflate, sha256

_HEADER = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF))
_HEADER_WITH_EXTRA = bytes((0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF))
# Length of the extra field, id of its subfield, length of the subfield.
_EXTRA_FIELD = Struct("<H2sH")
_SUBFIELD_ID = b"CP"
# For the head and each array: offset in the member and length of the fragment, size and CRC-32 of its text.
_FRAGMENT_ENTRY = Struct("<IIII")
_TABLE_SIZE = _FRAGMENT_ENTRY.size * (1 + len(HISTORY_ARRAYS))
_HEADER_OF_FRAGMENTS = _HEADER_WITH_EXTRA + _EXTRA_FIELD.pack(
    _EXTRA_FIELD.size - 2 + _TABLE_SIZE, _SUBFIELD_ID, _TABLE_SIZE
)
_TABLE = slice(len(_HEADER_OF_FRAGMENTS), len(_HEADER_OF_FRAGMENTS) + _TABLE_SIZE)
_TRAILER = Struct("<II")
_ARRAY_DIGEST = Struct("<QI")
_FINAL_BLOCK = b"\x03\x00"
# For each array the text that follows it in a Card, if it has rows and if it has none.
_MARKS_AFTER = [(b"\n" + mark, mark) for mark in (*HISTORY_MARKS[1:-1], HISTORY_MARKS[-1] + CARD_TAIL)]
_HEAD = b"{" + HISTORY_MARKS[0]
# Deflate data that ends in a full flush; size in bytes and CRC-32 of its text.
_Fragment = tuple[bytes, int, int]


class SplicedCard(NamedTuple):
    """A card detail: its gzip member, the bytes of its JSON, and a hash of its content."""

    member: bytes
    size: int
    digest: bytes


class _Deflated:
    """Pieces of deflate data, and the size and the CRC-32 of their text."""

    def __init__(self, text: bytes):
        self.data = [_HEADER, deflate(text)]
        self.size, self.crc = len(text), isal_zlib.crc32(text)

    def add_rows(self, fragments: Sequence[_Fragment]) -> tuple[int, int]:
        """Append the rows of one array in several periods. Return the size and the CRC-32 of their text."""
        size = crc = 0
        for data, size_of_fragment, crc_of_fragment in fragments:
            if size_of_fragment and size:
                self.data += (_deflate_constant(BETWEEN), data)
                crc = isal_zlib.crc32_combine(isal_zlib.crc32(BETWEEN, crc), crc_of_fragment, size_of_fragment)
                size += len(BETWEEN) + size_of_fragment
            elif size_of_fragment:
                self.data.append(data)
                size, crc = size_of_fragment, crc_of_fragment
        if size:
            self.crc = isal_zlib.crc32_combine(self.crc, crc, size)
            self.size += size
        return size, crc

    def add_constant(self, text: bytes) -> None:
        """Append one of the few texts between arrays."""
        self.data.append(_deflate_constant(text))
        self.crc = isal_zlib.crc32(text, self.crc)  # a fifth of the time of combining
        self.size += len(text)

    def member(self) -> bytes:
        return b"".join((*self.data, _FINAL_BLOCK, _TRAILER.pack(self.crc, self.size & 0xFFFFFFFF)))


def encode_fragments(arrays: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Return the history of a period as JSON and as a gzip member.

    The member has four fragments: the text up to `"price_guide":[\\n`, and each of the three arrays. The texts between
    them are deflated apart, because `splice` chooses them anew: a line break before `]` is there only after rows.
    """
    first = _deflate_constant(_HEAD)
    plain, deflated = [_HEAD], [first]
    table = [_FRAGMENT_ENTRY.pack(_TABLE.stop, len(first), len(_HEAD), isal_zlib.crc32(_HEAD))]
    offset = _TABLE.stop + len(first)
    for text, end in zip(arrays, _array_ends(arrays, PERIOD_TAIL), strict=True):
        data, end_data = deflate(text) if text else b"", _deflate_constant(end)
        table.append(_FRAGMENT_ENTRY.pack(offset, len(data), len(text), isal_zlib.crc32(text)))
        plain += (text, end)
        deflated += (data, end_data)
        offset += len(data) + len(end_data)
    json = b"".join(plain)
    trailer = _TRAILER.pack(isal_zlib.crc32(json), len(json) & 0xFFFFFFFF)
    return json, b"".join((_HEADER_OF_FRAGMENTS, *table, *deflated, _FINAL_BLOCK, trailer))


def decode_fragments(member: bytes) -> list[bytes]:
    """Return the rows of the history arrays of a member: what `encode_fragments` was given."""
    _, size = _TRAILER.unpack_from(member, len(member) - _TRAILER.size)
    rest, arrays = decompress(member, size)[len(_HEAD) :], []
    for mark in HISTORY_MARKS[1:]:
        rows, _, rest = rest.partition(mark)
        arrays.append(rows.removesuffix(b"\n"))
    return arrays


def splice(line: bytes, periods: Sequence[bytes]) -> SplicedCard:
    """Return a Card with its whole history, from its line of JSON and the members of the periods, oldest first."""
    members, head = [_fragments(member) for member in periods], _head(line)
    deflated, digests = _Deflated(head), [sha256(head)]
    for number, (mark, empty_mark) in enumerate(_MARKS_AFTER, start=1):
        rows = deflated.add_rows([fragments[number] for fragments in members])
        deflated.add_constant(mark if rows[0] else empty_mark)
        digests.append(_ARRAY_DIGEST.pack(*rows))
    return SplicedCard(deflated.member(), deflated.size, sha256(b"".join(digests)))


def detail_since(line: bytes, periods: Sequence[bytes], day: str) -> bytes:
    """Return the JSON of a Card with its history from a day (YYYY-MM-DD) on; the arguments are those of `splice`."""
    members = list(map(decode_fragments, periods))
    arrays = [
        BETWEEN.join(filter(None, (rows_since(arrays[number], day) for arrays in members)))
        for number in range(len(HISTORY_ARRAYS))
    ]
    return _head(line) + b"".join(map(bytes.__add__, arrays, _array_ends(arrays, CARD_TAIL)))


def _head(line: bytes) -> bytes:
    """Return the text of a detail before the rows of its first array."""
    return line[:-1] + b',"history":' + _HEAD


def _array_ends(arrays: Sequence[bytes], tail: bytes) -> list[bytes]:
    """Return the text that follows the rows of each array."""
    ends = [*HISTORY_MARKS[1:-1], HISTORY_MARKS[-1] + tail]
    return [b"\n" + end if rows else end for rows, end in zip(arrays, ends, strict=True)]


def _fragments(member: bytes) -> list[_Fragment]:
    entries = _FRAGMENT_ENTRY.iter_unpack(member[_TABLE])
    return [(member[offset : offset + length], size, crc) for offset, length, size, crc in entries]


@lru_cache(64)
def _deflate_constant(text: bytes) -> bytes:
    return deflate(text) if text else b""
