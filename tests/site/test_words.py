"""The pages cut words as the API does."""

from playwright.sync_api import Browser

from tests.support.service import ROOT
from tests.support.text_cases import CASES

CUT = "(names) => { %s; return names.map((name) => [name, baseName(name), shortName(name)].map(wordText)); }"


def test_the_pages_cut_the_same_words(browser: Browser) -> None:
    module = (ROOT / "generator/site/templates/pages/explore/fold.js").read_text("utf-8").replace("export ", "")
    page = browser.new_page()
    cut = page.evaluate(CUT % module, [case.name for case in CASES])
    page.close()
    assert cut == [[case.words, case.base, case.short] for case in CASES]
