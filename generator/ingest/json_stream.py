"""Reads JSON documents of any size from a stream. Only the value that is asked for is in memory.

for _ in stream.items():         # of an array
    card = stream.value()
for name in stream.members():    # of an object
    stream.value()               # each member must be read, also those that do not matter
"""

import codecs
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, BinaryIO

from generator import settings
from generator.ingest.bounded_file import encoding_of
from generator.ingest.values import unrepeated

_BEGINS = {"start_array": "[", "start_map": "{", "end_array": "]", "end_map": "}"}


class JsonStream:
    """The documents of a stream. Raises ValueError for no JSON, its cut end, a value too long, or a key twice."""

    def __init__(self, source: BinaryIO):
        import ijson  # only files of cards need it

        self._fault: type[Exception] = ijson.JSONError
        self._source = source
        self._decode: Callable[[bytes, bool], str] | None = None
        self._size, self._begun = 0, 0  # characters that were read; where the value that is read began
        self._events = ijson.basic_parse(self, multiple_values=True)
        self._ahead: tuple[str, Any] | None = None

    def peek(self) -> str:
        """Return how the next value begins: `[`, `{`, '"' for any that is no array and no object, '' at the end."""
        self._begun = self._size
        if self._ahead is None:
            self._ahead = self._next()
        return _BEGINS.get(self._ahead[0], '"' if self._ahead[0] else "")

    def value(self) -> Any:
        """Return the next value."""
        self._begun = self._size
        return self._value(*self._take())

    def items(self) -> Iterator[None]:
        """Yield before each item of an array. The item must be read before the next step."""
        self._take()
        while self.peek() != "]":
            yield
        self._take()

    def members(self) -> Iterator[str]:
        """Yield the name of each member of an object. Its value must be read before the next step."""
        self._take()
        names: set[str] = set()
        while self.peek() != "}":
            _, name = self._take()
            unrepeated([(name, None), *([(name, None)] if name in names else [])])
            names.add(name)
            yield name
        self._take()

    def read(self, size: int) -> bytes:
        """Return the next bytes in UTF-8, for the parser."""
        if not size:  # the parser asks what kind of stream it is
            return b""
        data = self._source.read(size)
        if self._decode is None:
            self._decode = codecs.getincrementaldecoder(encoding_of(data))().decode
        text = self._decode(data, not data)
        self._size += len(text)
        if self._size - self._begun > settings.MAX_CARD_CHARACTERS:
            raise ValueError(f"a value has more than {settings.MAX_CARD_CHARACTERS:,} characters")
        return text.encode() or (self.read(size) if data else b"")

    def _value(self, event: str, value: Any) -> Any:
        if event == "start_array":
            return [self._value(*found) for found in iter(self._take, ("end_array", None))]
        if event == "start_map":
            return unrepeated([(name, self._value(*self._take())) for _, name in iter(self._take, ("end_map", None))])
        return float(value) if isinstance(value, Decimal) else value

    def _take(self) -> tuple[str, Any]:
        found, self._ahead = self._ahead or self._next(), None
        if not found[0]:
            raise ValueError("it is cut off")
        return found

    def _next(self) -> tuple[str, Any]:
        """Return the next event of the parser, ("", None) at the end."""
        try:
            found: tuple[str, Any] = next(self._events, ("", None))
            return found
        except self._fault as error:
            if "premature EOF" not in str(error):
                raise ValueError(f"it is no JSON: {str(error).splitlines()[0].rstrip('.')}") from None
            if not self._size:
                return "", None
            raise ValueError("it is cut off") from None
        except RecursionError:
            raise ValueError("a value is nested too deeply") from None
