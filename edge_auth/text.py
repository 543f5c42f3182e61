"""Text folding: how names, slugs and numbers are compared, in the generator and in the shim."""

import re
import unicodedata

MAX_DIGITS = 18  # of an integer, so that it fits into 64 bits
UNICODE_VERSION = unicodedata.unidata_version
_DIGITS = re.compile("[0-9]+")


def fold(text: str) -> str:
    """Return a text in Unicode NFKD, without characters of category Mn, casefolded.

    The time grows with the square of a run of combining characters. So bound the length of a client's text before.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if unicodedata.category(char) != "Mn").casefold()


def words(text: str) -> list[str]:
    """Return the words of a query or a name: folded, then split on white space."""
    return fold(text).split()


def word_text(text: str) -> str:
    """Return the words of a name as one text, joined by single spaces."""
    return " ".join(words(text))


def number_filter_key(number: str) -> str:
    """Return the text that `number=` compares: folded, without leading zeros (`TG04` is `tg4`, `000` is `0`)."""
    return _DIGITS.sub(lambda digits: digits.group().lstrip("0") or "0", fold(number))


def number_sort_key(number: str) -> str:
    """Return the text that `sort=number` compares: ASCII digits padded with zeros to 10 digits, then folded."""
    return fold(_DIGITS.sub(lambda digits: digits.group().zfill(10), number))


def composed(text: str) -> str:
    """Return a text in NFC, the form in which the names of expansions are compared."""
    return unicodedata.normalize("NFC", text)
