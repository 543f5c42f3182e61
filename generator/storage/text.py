"""Text as the API compares it: names, words of names, slugs and numbers. Generator and shim share these functions.

The pages have the same functions in `explore/fold.js`; `tests/support/text_cases.py` has the cases that test both.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

MAX_DIGITS = 18  # of an integer, so that it fits into 64 bits
UNICODE_VERSION = unicodedata.unidata_version
APOSTROPHES = "'\u2019\u2018\u201b\u02bc\u00b4`\u2032"
_DIGITS = re.compile("[0-9]+")
_WORD = re.compile(r"[^\W_]+")  # \w is what str.isalnum takes, and the underscore
# From bytes in UTF-8 to words between blanks. Those of other characters than ASCII stay as they are.
_PLAIN = bytes(
    code if code > 127 or chr(code) == "\n" else ord(chr(code).lower()) if chr(code).isalnum() else ord(" ")
    for code in range(256)
)
_MOST_SAID_WORDS = 3  # of a phrase that people say
_SIGNS = re.compile(r"(?:[\W_]|\u02bc)+")  # U+02BC is a letter for str.isalnum, and an apostrophe for us
_BRACKET = re.compile(r" [\[(]")
_FACES = re.compile(" //? ")


def fold(text: str) -> str:
    """Return a text in Unicode NFKD, without characters of category Mn, casefolded.

    The time grows with the square of a run of combining marks, so callers bound the length of texts.
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", text)
    for char in set(folded):  # to look at each different character once takes a fifth of the time
        if not char.isascii() and unicodedata.category(char) == "Mn":
            folded = folded.replace(char, "")
    return folded.casefold()


def fold_without_apostrophes(text: str) -> str:
    """Return a text without apostrophes, folded: in this form names of sets are searched."""
    if text.isascii():
        return text.replace("'", "").replace("`", "").lower()
    for apostrophe in APOSTROPHES:
        text = text.replace(apostrophe, "")
    return fold(text)


def words(text: str) -> list[str]:
    """Return the words of a query or a name: runs of letters and digits of the folded text without apostrophes."""
    folded = fold_without_apostrophes(text)
    return [folded] if folded.isalnum() else _WORD.findall(folded)


def as_names_say(words_: Sequence[str], said: Mapping[str, str]) -> list[str]:
    """Return words with those of names in the place of those that people say, by the longest phrase that is known."""
    found: list[str] = []
    rest = list(words_)
    while rest:
        phrases = {count: " ".join(rest[:count]) for count in range(_MOST_SAID_WORDS, 0, -1)}
        count = next((count for count, phrase in phrases.items() if phrase in said), 0)
        found += said[phrases[count]].split() if count else rest[:1]
        del rest[: count or 1]
    return found


def word_text(text: str) -> str:
    """Return the words of a text, joined by single spaces."""
    return " ".join(words(text))


def sign_text(text: str) -> str:
    """Return the runs of the folded text that are neither letters nor digits, with a 0 between them, which is in none.

    Apostrophes are signs, and so is white space. A text without letters and digits is a part of a folded text if it is
    a part of one of its runs.
    """
    return "0".join(_SIGNS.findall(fold(text)))


def base_name(name: str) -> str:
    """Return a product's name before its first ` [` or ` (`: the card without its attacks or its version.

    It is the whole name if nothing before has a word.
    """
    before = _BRACKET.split(name, 1)[0]
    return before if words(before) else name


def short_name(name: str) -> str:
    """Return the base name before its first ` - `, "" if it has none: of `Boss's Orders - Ghetsis` `Boss's Orders`."""
    before, mark, _ = base_name(name).partition(" - ")
    return before if mark else ""


def face_name(name: str) -> str:
    """Return the name before its first ` // ` or ` / `, "" if it has none: the front of a card with two faces."""
    before, *others = _FACES.split(name, 1)
    return before if others else ""


def name_key(name: str) -> str:
    """Return the text by which names are equal: their words, or for a name without words its fold."""
    return word_text(name) or fold(name)


def name_keys(names: Sequence[str]) -> list[bytes]:
    """Return the `name_key` of each of some names of one line, in UTF-8, in a fifth of the time of one by one."""
    folded = fold_without_apostrophes("\n".join([name for name in names if not name.isascii()]))
    others = iter(folded.replace("'", " ").replace("`", " ").split("\n"))  # made by the fold, from full-width ones
    text = "\n".join([name if name.isascii() else next(others) for name in names]).encode().translate(_PLAIN, b"'`")
    keys = [b" ".join(line.split()) for line in text.split(b"\n")]
    if not text.isascii():
        keys = [key if key.isascii() else " ".join(_WORD.findall(key.decode())).encode() for key in keys]
    return [key or fold(name).encode() for key, name in zip(keys, names, strict=True)]


def number_filter_key(number: str) -> str:
    """Return the text that `number=` compares: folded, without leading zeros (`TG04` is `tg4`, `000` is `0`)."""
    return _DIGITS.sub(lambda digits: digits.group().lstrip("0") or "0", fold(number))


def number_sort_key(number: str) -> str:
    """Return the text that `sort=number` compares: ASCII digits padded with zeros to 10 digits, then folded."""
    return fold(_DIGITS.sub(lambda digits: digits.group().zfill(10), number))


def composed(text: str) -> str:
    """Return a text in NFC, the form in which the names of expansions are compared."""
    return unicodedata.normalize("NFC", text)
