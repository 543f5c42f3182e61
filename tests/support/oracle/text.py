"""Text as the API compares it: folding and collector numbers."""

import re
import unicodedata
from functools import cache


@cache
def fold(text: str) -> str:
    """NFKD, without the characters of category Mn, casefolded (section 2, text folding)."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn").casefold()


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@cache
def number_sort_key(number: str | None) -> str | None:
    """What `sort=number` compares by code point; None where there is nothing to compare."""
    padded = re.sub("[0-9]+", lambda run: run.group().zfill(10), number or "")
    return fold(padded) or None


@cache
def number_match_key(number: str) -> str:
    """What `number=` compares: `4`, `004` are one number, `4a` and `14` are others."""
    return re.sub("[0-9]+", lambda run: run.group().lstrip("0") or "0", fold(number))
