"""What people say for what names say otherwise: `words.csv` beside this module, or the lake's own in its place.

A search that finds nothing is offered with the words of names (`edge_auth/search/advice.py`).
"""

import csv
from functools import cache
from importlib.resources import files

from generator.errors import LakeError
from generator.storage.text import word_text

WORDS_NAME = "words.csv"
_HEADER = ["said", "means"]
_MOST_LINES, _MAX_CHARACTERS = 1000, 100


@cache
def usual_words() -> dict[str, str]:
    return parse_words(WORDS_NAME, (files("generator.lake") / WORDS_NAME).read_bytes())


def parse_words(path: str, data: bytes) -> dict[str, str]:
    """Return what names say instead of the words of each line, "" for nothing. Raise LakeError for another file."""
    try:
        header, *lines = csv.reader(data.decode("utf-8-sig").splitlines(), strict=True)
    except (ValueError, csv.Error):  # a UnicodeDecodeError is a ValueError
        header, lines = [], []
    if header != _HEADER or len(lines) > _MOST_LINES:
        raise LakeError(
            f"{path}: must be a CSV file in UTF-8 with the header said,means and at most {_MOST_LINES:,} lines"
        )
    for number, line in enumerate(lines, 2):
        if len(line) != len(_HEADER) or not word_text(line[0]) or max(map(len, line)) > _MAX_CHARACTERS:
            allowed = f"of at most {_MAX_CHARACTERS} characters, the first one with words"
            raise LakeError(f"{path}: line {number} must hold two texts {allowed}")
    return {word_text(said): means.strip() for said, means in lines}
