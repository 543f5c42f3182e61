"""Names are compared by their words, which generator, shim, pages and oracle cut alike."""

import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from edge_auth import text
from tests.support.oracle import text as oracle_text
from tests.support.text_cases import CASES, Cut


@pytest.mark.parametrize("case", CASES, ids=ascii)
def test_words_of_names(case: Cut) -> None:
    assert text.words(case.name) == oracle_text.words(case.name) == case.words.split()
    assert text.word_text(text.base_name(case.name)) == case.base
    assert text.word_text(text.short_name(case.name)) == case.short
    assert oracle_text.words(oracle_text.base_name(case.name)) == case.base.split()


@pytest.mark.thorough
def test_words_have_all_letters_and_digits_and_nothing_else() -> None:
    kept = {char for char in map(chr, range(sys.maxunicode)) if text.fold(char) == char != "\u02bc"}
    assert {char for char in kept if text.words(char) == [char]} == {char for char in kept if char.isalnum()}
    assert all(text.sign_text(char) == ("" if char.isalnum() else char) for char in kept)


ONE_LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))


@settings(max_examples=200)
@given(st.lists(ONE_LINE, min_size=1))
@example([case.name for case in CASES if "\n" not in case.name])
@example(["\u0149", "\u00c5b-c", "d`e"])  # the first folds to an apostrophe and a letter
@example(["Boss\uff07s", "Boss\uff40s", "Boss\u1fefs"])  # these fold to signs that would be apostrophes before the fold
def test_keys_of_many_names_are_those_of_each(names: list[str]) -> None:
    assert text.name_keys(names) == [text.name_key(name).encode() for name in names]
