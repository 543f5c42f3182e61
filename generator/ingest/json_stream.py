"""Reads JSON documents of any size from a stream. Only the value that is asked for is in memory.

for _ in stream.items():         # of an array
    card = stream.value()
for name in stream.members():    # of an object
    stream.value()               # each member must be read, also those that do not matter
"""

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from generator.ingest.bounded_file import encoding_of

_CHUNK_BYTES = 1 << 20
_SPACE = re.compile(r"[\ufeff \t\n\r]*")
_MAX_TOKEN = 16  # characters; an error nearer to the end of what was read may only mean that more has to be read
_IS_CUT_OFF = "it is cut off"


class JsonStream:
    """The documents of a stream, one after the other.

    Its methods raise ValueError if the text is no JSON, is cut off, or has a value that is too long.

    Args:
        read: Returns up to so many of the next bytes, and b"" at the end.
        max_characters: The longest value that is read as a whole.
    """

    def __init__(self, read: Callable[[int], bytes], max_characters: int):
        self._read = read
        self._max_characters = max_characters
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)
        self._decode: Callable[[bytes, bool], str] | None = None
        self._text, self._at, self._is_all = "", 0, False

    def peek(self) -> str:
        """Return the next character that is no white space, '' at the end."""
        while True:
            self._at = self._space_end()
            if self._at < len(self._text) or self._is_all:
                return self._text[self._at : self._at + 1]
            self._fill()

    def value(self) -> Any:
        """Return the next value."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
                # At the end of what was read it may be the beginning of a longer number, as `1` of `1.5` and `1e-7` is.
                if self._text[end : end + 3].strip(".eE+-") or self._is_all:
                    self._at = end
                    return value
            except json.JSONDecodeError as error:
                self._check_cut(error)
            except RecursionError:
                raise ValueError("a value is nested too deeply") from None
            if len(self._text) - self._at > self._max_characters:
                raise ValueError(f"a value has more than {self._max_characters:,} characters")
            self._fill()

    def items(self) -> Iterator[None]:
        """Yield before each item of an array. The item must be read before the next step."""
        self._take("[")
        if self.peek() == "]":
            self._take("]")
            return
        while True:
            yield
            if self._take(",]") == "]":
                return

    def members(self) -> Iterator[str]:
        """Yield the name of each member of an object. Its value must be read before the next step."""
        self._take("{")
        if self.peek() == "}":
            self._take("}")
            return
        while True:
            name = self.value() if self.peek() == '"' else self._take('"')
            self._take(":")
            yield name
            if self._take(",}") == "}":
                return

    def _take(self, allowed: str) -> str:
        """Read one of these characters."""
        found = self.peek()
        if not found:
            raise ValueError(_IS_CUT_OFF)
        if found not in allowed:
            raise ValueError(f"it is no JSON: {found!r} stands where {' or '.join(map(repr, allowed))} is expected")
        self._at += 1
        return found

    def _check_cut(self, error: json.JSONDecodeError) -> None:
        """Raise ValueError unless the error may be gone when more is read."""
        last = len(self._text) - (0 if self._is_all else _MAX_TOKEN)
        if not error.msg.startswith("Unterminated string") and error.pos < last:
            raise ValueError(f"it is no JSON: {error.msg}") from None
        if self._is_all:
            raise ValueError(_IS_CUT_OFF) from None

    def _space_end(self) -> int:
        found = _SPACE.match(self._text, self._at)
        return found.end() if found else self._at

    def _fill(self) -> None:
        """Read more, at least as much as is waiting: a long value is decoded again only a few times."""
        waiting = self._text[self._at :]
        data = self._read(max(_CHUNK_BYTES, len(waiting)))
        self._is_all = not data
        if self._decode is None:
            self._decode = codecs.getincrementaldecoder(encoding_of(data))().decode
        self._text, self._at = waiting + self._decode(data, self._is_all), 0


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it is no JSON: {name} is no number")
