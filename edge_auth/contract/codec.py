"""How objects are compressed: one gzip member each, the same bytes for the same JSON.

igzip at its fastest level costs a tenth of zlib's time for about the size of zlib's level 1.
"""

import hashlib

from isal import igzip, isal_zlib

LEVEL = 1
_GZIP = 31  # zlib's number for a gzip header around a 32 KiB window


def compress(data: bytes) -> bytes:
    """One gzip member, with no time and no name in its header."""
    return igzip.compress(data, compresslevel=LEVEL, mtime=0)


def decompress(data: bytes) -> bytes:
    """The bytes of a gzip member.

    Raises:
        OSError: `data` is no whole gzip member.
    """
    try:
        return isal_zlib.decompress(data, wbits=_GZIP)
    except isal_zlib.error as error:
        raise OSError(f"not a gzip member: {error}") from error


def sha256(data: bytes) -> bytes:
    """The 32-byte digest by which everything in the store is checked."""
    return hashlib.sha256(data).digest()
