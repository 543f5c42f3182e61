"""Compression of objects: one gzip member each, with the same bytes for the same JSON.

igzip at level 1 takes a fraction of zlib's time, for about the size of zlib's level 1. On x86 its code for the first
byte of a stream (`write_first_byte` in igzip_icf_body_h1_gr_bt.asm) hashes the address of the stream instead of the
text, so the bytes depend on where the stream lies in memory. A stream with a preset dictionary never runs that code.
The dictionary is bytes that UTF-8 text cannot hold: no match refers to it, and every reader inflates the member without
it.
"""

import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator

from isal import igzip, isal_zlib

# Names how objects are compressed. It is an input of every layer: change it when the same JSON gives other bytes.
CODEC = "igzip 1, preset"
_LEVEL = 1
_NEVER_IN_TEXT = b"\xff"
_PRESET = _NEVER_IN_TEXT * 8
# The kernel copies the bytes of a write without a pause for other programs.
CHUNK_BYTES = 1 << 16
_BUFFER_BYTES = 16 << 10
_GZIP_WBITS = 31  # zlib's number for a gzip header and a 32 KiB window
_RAW_WBITS = -15  # the same for a deflate stream without header and trailer


def compress(data: bytes) -> bytes:
    """Return data as one gzip member, without time and name in its header."""
    compressor = _compressor(data, _GZIP_WBITS)
    member: bytes = compressor.compress(data) + compressor.flush()
    return member


def compress_chunks(chunks: Iterable[bytes]) -> bytes:
    """Return the concatenated chunks of UTF-8 text as one gzip member, without time and name in its header."""
    compressor = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _GZIP_WBITS, zdict=_PRESET)
    return b"".join((*(compressor.compress(chunk) for chunk in chunks), compressor.flush()))


def deflate(data: bytes) -> bytes:
    """Return data as a deflate stream that ends in a full flush, so that another stream can follow it."""
    compressor = _compressor(data, _RAW_WBITS)
    stream: bytes = compressor.compress(data) + compressor.flush(zlib.Z_FULL_FLUSH)
    return stream


def _compressor(data: bytes, wbits: int) -> "isal_zlib.Compress | zlib._Compress":
    """Return a new compressor; zlib's for data that is no text, where a match could refer to the preset dictionary."""
    if _NEVER_IN_TEXT in data:
        return zlib.compressobj(_LEVEL, zlib.DEFLATED, wbits)
    return isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, wbits, zdict=_PRESET)


def decompress(member: bytes, size: int = _BUFFER_BYTES) -> bytes:
    """Return the content of a gzip member, or raise OSError. If its size is given, its memory is taken once."""
    try:
        data: bytes = isal_zlib.decompress(member, wbits=_GZIP_WBITS, bufsize=size + 1)  # a full buffer is doubled
    except isal_zlib.error as error:  # type: ignore[misc]  # isal's stub declares it as an instance
        raise OSError(f"not a gzip member: {error}") from error
    return data


def decompressed_chunks(members: bytes) -> Iterator[bytes]:
    """Yield the content of concatenated gzip members, at most 64 KiB at a time."""
    with igzip.IGzipFile(fileobj=io.BytesIO(members)) as file:  # type: ignore[no-untyped-call]  # isal lacks it
        try:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk
        except (EOFError, isal_zlib.error) as error:  # type: ignore[misc]  # as above
            raise OSError(f"not gzip members: {error}") from error


def sha256(data: bytes) -> bytes:
    """Return the SHA-256 of data: 32 bytes, the hash that checks every object of a store."""
    return hashlib.sha256(data).digest()
