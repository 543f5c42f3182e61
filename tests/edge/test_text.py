"""Names are compared by their words, which generator, shim, pages and oracle cut alike."""

import sys
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from edge_auth import text
from tests.support.oracle import text as oracle_text
from tests.support.text_cases import CASES, Cut


@pytest.mark.parametrize("case", CASES, ids=ascii)
def test_words_of_names(case: Cut) -> None:
    assert text.words(case.name) == case.words.split()
    assert text.word_text(text.base_name(case.name)) == case.base
    assert text.word_text(text.short_name(case.name)) == case.short


@pytest.mark.parametrize("case", CASES, ids=ascii)
def test_the_oracle_cuts_the_same_words(case: Cut) -> None:
    assert oracle_text.words(case.name) == case.words.split()
    assert oracle_text.words(oracle_text.base_name(case.name)) == case.base.split()


@pytest.mark.thorough
def test_words_have_all_letters_and_digits_and_nothing_else() -> None:
    kept = {char for char in map(chr, range(sys.maxunicode)) if text.fold(char) == char != "\u02bc"}
    assert {char for char in kept if text.words(char) == [char]} == {char for char in kept if char.isalnum()}
    assert all(text.sign_text(char) == ("" if char.isalnum() else char) for char in kept)


@pytest.mark.parametrize(
    ("name", "signs"),
    [
        ("Mewtwo & Mew-GX", " & 0-"),
        ("a [b | c]", " [0 | 0]"),
        ("'\u02bc'", "'\u02bc'"),
        ("a", ""),
        (". .", ". ."),
    ],
)
def test_signs_are_what_words_leave(name: str, signs: str) -> None:
    assert text.sign_text(name) == signs


# Marks that the fold drops and keeps, of all orders, some of which are two or hidden in another character; and bases.
MARKS = (
    "\u0301\u0316\u0344\u0345\u0f71\u0f73\u0f81\u3099\uff9e\u034f\u1dce\u302e\u302f\U00016ff0\U0001d165\U0001d16d\u1b44"
)
BASES = "aA1\u00e9\u1e9b\u0149\u00b4\ufc5e\U0001d160\U0001d1bb\u0958\ufdfa\uac00\u1100\u1161 -\u0130\u01f0"


@settings(max_examples=300)
@given(st.text(st.sampled_from(MARKS) | st.sampled_from(MARKS + BASES) | st.characters(), min_size=100, max_size=160))
def test_a_long_text_folds_as_the_definition_says(long: str) -> None:
    assert text.fold(long) == oracle_text.fold.__wrapped__(long)


def test_each_character_folds_within_marks_as_the_definition_says() -> None:
    combining = [char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.normalize("NFKD", char) != char]
    combining += [char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.combining(char)]
    for start in range(0, len(combining), 50):
        long = "".join(f"\U0001d16d{char}\u302e\u0301" for char in combining[start : start + 50])
        assert text.fold(long) == oracle_text.fold.__wrapped__(long)


@pytest.mark.parametrize("marks", ["\u0301\u0316", "\u0f73", "\u302e\U0001d165", "\u1b44\u0f81\uff9e"])
def test_long_runs_of_marks_fold_at_once(marks: str) -> None:
    """100,000 take minutes if they are sorted one by one."""
    began = time.process_time()
    assert text.fold("a" + marks * 50_000)[0] == "a"
    assert time.process_time() - began < 5


ONE_LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))


@settings(max_examples=200)
@given(st.lists(ONE_LINE, min_size=1))
@example([case.name for case in CASES if "\n" not in case.name])
@example(["\u0149", "\u00c5b-c", "d`e"])  # the first folds to an apostrophe and a letter
@example(["Boss\uff07s", "Boss\uff40s", "Boss\u1fefs"])  # these fold to signs that would be apostrophes before the fold
def test_keys_of_many_names_are_those_of_each(names: list[str]) -> None:
    assert text.name_keys(names) == [text.name_key(name).encode() for name in names]


def test_a_name_without_words_is_compared_by_its_fold() -> None:
    assert text.name_key("\u2606!") == unicodedata.normalize("NFKD", "\u2606!") and text.name_key("A-B") == "a b"
