"""Text folding: one function serves generator and shim, so a search can never disagree with its index."""

import re
import unicodedata

UNICODE_VERSION = unicodedata.unidata_version
_DIGITS = re.compile("[0-9]+")


def fold(text: str) -> str:
    """Unicode NFKD, less the characters of category Mn, casefolded (contract, section 2)."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn").casefold()


def words(text: str) -> list[str]:
    """The words of a search or a name: folded, then split on white space."""
    return fold(text).split()


def word_text(text: str) -> str:
    """The words of a name as one text, joined by single spaces."""
    return " ".join(words(text))


def number_filter_key(number: str) -> str:
    """What `number=` compares: folded, every run of digits without leading zeros (`TG04` is `tg4`, `000` is `0`)."""
    return _DIGITS.sub(lambda run: run.group().lstrip("0") or "0", fold(number))


def number_sort_key(number: str) -> str:
    """What `sort=number` compares: every run of ASCII digits padded to 10 digits, then folded."""
    return fold(_DIGITS.sub(lambda run: run.group().zfill(10), number))


def composed(text: str) -> str:
    """NFC, in which names of expansions are compared."""
    return unicodedata.normalize("NFC", text)
