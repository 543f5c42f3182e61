"""Card details and their periods as gzip members that are joined without being inflated.

Each is one gzip member of the JSON that `pages` describes, cut at its three arrays: a full flush (RFC 1951) after each
piece lets it be inflated by itself, and so stand in any other member. Where the head and the rows of each array lie is
said in the member's extra field (RFC 1952), which others pass over.
"""

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from isal import isal_zlib

from edge_auth.contract.codec import LEVEL, sha256
from edge_auth.contract.pages import BETWEEN, CARD_TAIL, HISTORY_ARRAYS, HISTORY_MARKS, since

_HEADER = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF))
_CUT_HEADER = bytes((0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF))
# Begin and length of the fragment in the member; size and CRC-32 of what it inflates to. Of the head and each array.
_TABLE = Struct("<" + "IIII" * (1 + len(HISTORY_ARRAYS)))
_EXTRA = Struct("<H2sH")
_TABLE_BEGIN = len(_CUT_HEADER) + _EXTRA.size
_TRAILER = Struct("<II")
_SUM = Struct("<QI")
_LAST_BLOCK = b"\x03\x00"
_RAW = -15  # zlib's number for a stream without header and trailer


class SplicedCard(NamedTuple):
    """A card detail: its gzip member, the size of its JSON, and a hash that tells it from all others."""

    member: bytes
    size: int
    digest: bytes


class _Part(NamedTuple):
    """A deflate fragment that ends in a full flush; size and CRC-32 of what it inflates to."""

    fragment: bytes
    size: int
    crc: int


class _Run:
    """Parts in a row."""

    def __init__(self) -> None:
        self.fragments: list[bytes] = []
        self.size = self.crc = 0

    def add(self, part: _Part) -> None:
        self.fragments.append(part.fragment)
        self.crc = isal_zlib.crc32_combine(self.crc, part.crc, part.size)
        self.size += part.size

    def joined(self) -> _Part:
        return _Part(b"".join(self.fragments), self.size, self.crc)

    def member(self, header: bytes) -> bytes:
        return b"".join([header, *self.fragments, _LAST_BLOCK, _TRAILER.pack(self.crc, self.size & 0xFFFFFFFF)])


def encode_fragments(head: bytes, arrays: Sequence[bytes], tail: bytes) -> tuple[bytes, bytes]:
    """A history, or a Card with one, as JSON and as a gzip member.

    Args:
        head: what stands before the history object.
        arrays: the rows of its three arrays, each joined by `,\n`, or empty.
        tail: what stands behind it.
    """
    pieces, closings = [head + b"{" + HISTORY_MARKS[0], *arrays], _closings(arrays, tail)
    run, places, place = _Run(), [], _TABLE_BEGIN + _TABLE.size
    for piece, closing in zip(pieces, (b"", *closings), strict=True):
        part = _part(piece)
        run.add(part)
        places += [place, len(part.fragment), part.size, part.crc]
        run.add(_fixed(closing))
        place += len(part.fragment) + len(_fixed(closing).fragment)
    extra = _EXTRA.pack(_EXTRA.size - 2 + _TABLE.size, b"CP", _TABLE.size)
    return _text(pieces, closings), run.member(_CUT_HEADER + extra + _TABLE.pack(*places))


def splice(card: bytes, periods: Sequence[bytes]) -> SplicedCard:
    """A Card with its whole history.

    Args:
        card: the member of the Card with the open month.
        periods: the members of the closed periods that exist for it, oldest first.
    """
    members = [_parts(member) for member in (*periods, card)]
    head = members[-1][0]
    arrays = [_rows([parts[number] for parts in members]) for number in range(1, 1 + len(HISTORY_ARRAYS))]
    whole, said = _Run(), [sha256(_inflated(head))]
    whole.add(head)
    for rows, closing in zip(arrays, _closings([rows.fragment for rows in arrays], CARD_TAIL), strict=True):
        whole.add(rows)
        whole.add(_fixed(closing))
        said.append(_SUM.pack(rows.size, rows.crc))
    return SplicedCard(whole.member(_HEADER), whole.size, sha256(b"".join(said)))


def detail_since(card: bytes, periods: Sequence[bytes], day: str) -> bytes:
    """The JSON of a Card with its history from a day (YYYY-MM-DD) on; the members are those that `spliced` takes."""
    members = [_parts(member) for member in (*periods, card)]
    arrays = [
        BETWEEN.join(filter(None, (since(_inflated(parts[number]), day) for parts in members)))
        for number in range(1, 1 + len(HISTORY_ARRAYS))
    ]
    return _text([_inflated(members[-1][0]), *arrays], _closings(arrays, CARD_TAIL))


def _text(pieces: Sequence[bytes], closings: Sequence[bytes]) -> bytes:
    """The head and the rows of the arrays, each array with what follows it."""
    return b"".join(piece + closing for piece, closing in zip(pieces, (b"", *closings), strict=True))


def _rows(parts: Sequence[_Part]) -> _Part:
    """The rows of one array in several periods."""
    run = _Run()
    for part in filter(lambda part: part.size, parts):
        if run.size:
            run.add(_fixed(BETWEEN))
        run.add(part)
    return run.joined()


def _closings(arrays: Sequence[bytes], tail: bytes) -> list[bytes]:
    """What follows each array: the end of its last row, the beginning of the next array."""
    ends = [*HISTORY_MARKS[1:-1], HISTORY_MARKS[-1] + tail]
    return [b"\n" + end if rows else end for rows, end in zip(arrays, ends, strict=True)]


def _parts(member: bytes) -> list[_Part]:
    """Head and arrays of a member."""
    table = _TABLE.unpack_from(member, _TABLE_BEGIN)
    places = zip(*(table[column::4] for column in range(4)), strict=True)
    return [_Part(member[begin : begin + length], size, crc) for begin, length, size, crc in places]


def _part(text: bytes) -> _Part:
    if not text:
        return _Part(b"", 0, 0)
    compressor = isal_zlib.compressobj(LEVEL, isal_zlib.DEFLATED, _RAW)
    fragment = compressor.compress(text) + compressor.flush(isal_zlib.Z_FULL_FLUSH)
    return _Part(fragment, len(text), isal_zlib.crc32(text))


_fixed = lru_cache(64)(_part)


def _inflated(part: _Part) -> bytes:
    return isal_zlib.decompressobj(_RAW).decompress(part.fragment)
