"""The pages cut words as the API does."""

from playwright.sync_api import Browser

from tests.support.service import ROOT
from tests.support.text_cases import CASES

CUTS = "[name, baseName(name), shortName(name), faceName(name)]"
CUT = "(names) => { %s; return names.map((name) => " + CUTS + ".map(wordText)); }"


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
