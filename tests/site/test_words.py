"""The pages cut words as the API does, and find names in spite of mistakes."""

import random
import string

import pytest
from playwright.sync_api import Browser

from generator.demo.name_parts import CREATURES, ITEMS, PEOPLE
from tests.support.service import ROOT
from tests.support.text_cases import CASES

CUTS = "[name, baseName(name), shortName(name), faceName(name)]"
CUT = "(names) => { %s; return names.map((name) => " + CUTS + ".map(wordText)); }"
NEAR = "([names, texts]) => { %s; return texts.map((text) => nearest(names, text, 3).map(({words}) => words)); }"


def evaluate(browser: Browser, module: str, function: str, argument: object) -> object:
    """What a function says that has the text of a module of the pages in its place."""
    text = (ROOT / "generator/site/templates/pages/explore" / module).read_text("utf-8").replace("export ", "")
    page = browser.new_page()
    try:
        return page.evaluate(function % text, argument)
    finally:
        page.close()


def test_the_pages_cut_the_same_words(browser: Browser) -> None:
    cut = evaluate(browser, "fold.js", CUT, [case.name for case in CASES])
    assert cut == [[case.words, case.base, case.short, case.face] for case in CASES]


def mistaken(rng: random.Random, text: str) -> str:
    """A text with a letter left out, put in, replaced, or swapped with the next one."""
    at, letter = rng.randrange(len(text)), rng.choice(string.ascii_lowercase)
    return rng.choice(
        (
            text[:at] + text[at + 1 :],
            text[:at] + letter + text[at:],
            text[:at] + letter + text[at + 1 :],
            text[:at] + text[at + 1 : at + 2] + text[at] + text[at + 2 :],
        )
    )


@pytest.mark.thorough
def test_names_with_one_or_two_mistakes_are_among_the_nearest(browser: Browser) -> None:
    rng = random.Random(7)
    words = sorted({name.lower() for name in (*CREATURES, *ITEMS, *PEOPLE) if len(name) > 4 and name.isalpha()})
    names = [f"{word}{end}" for word in words for end in ("", " ex", " v", " vmax")]
    meant = [rng.choice(names) for _ in range(200)]
    texts = [mistaken(rng, mistaken(rng, name) if place % 2 else name) for place, name in enumerate(meant)]
    entries = [{"words": name, "products": 1 + len(name) % 3} for name in names]
    found = evaluate(browser, "near-names.js", NEAR, [entries, texts])
    assert isinstance(found, list)
    assert sum(name in near for name, near in zip(meant, found, strict=True)) >= 180
