"""Text as the API compares it: folding and collector numbers."""

import re
import unicodedata
from functools import cache


@cache
def fold(text: str) -> str:
    """NFKD, without the characters of category Mn, casefolded (section 2, text folding)."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn").casefold()


def bare(text: str) -> str:
    return fold("".join(c for c in text if c not in "'\u2019\u2018\u201b\u02bc\u00b4`\u2032"))


@cache
def words(text: str) -> list[str]:
    """The longest runs of characters for which `str.isalnum` is true, of the bare text (section 2, words)."""
    runs = [""]
    for c in bare(text):
        if c.isalnum():
            runs[-1] += c
        elif runs[-1]:
            runs.append("")
    return runs if runs[-1] else runs[:-1]


def base_name(name: str) -> str:
    """The part before the first ` [` or ` (`, or the whole name if that part has no word."""
    cuts = [place for mark in (" [", " (") if (place := name.find(mark)) >= 0]
    part = name[: min(cuts)] if cuts else name
    return part if words(part) else name


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
