"""Modules that are joined into one script: what a reader of them may rely on."""

import pytest

from generator.errors import SiteError
from generator.site.pages import bundle


def joined(**modules: str) -> str:
    return bundle("main.js", lambda key: modules[key.removesuffix(".js").replace("/", "_")])


def test_modules_come_after_those_that_they_import_each_once() -> None:
    script = joined(
        main='import {one as uno} from "./a/one.js";\nimport "./two.js";\nuno();\n',
        a_one='// Says it.\nimport {two} from "../two.js";\nexport const one = () => two;\n',
        two="const hidden = 2;\nexport {hidden, two};\nfunction two() {}\n",
    )
    places = [script.index(f"const {name} = ") for name in ("$two_js", "$a_one_js", "$main_js")]
    assert places == sorted(places) and script.count("function two") == 1
    assert "const {one: uno} = $a_one_js;" in script and "return {hidden, two};" in script
    assert "import" not in script and "export" not in script and "Says it" not in script


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ('import {x} from "./main.js";\n', "main.js imports itself by way of main.js, other.js"),
        ("export default 5;\n", "other.js: write 'export default 5;'"),
        ('import * as all from "./main.js";\n', "other.js: write 'import"),
    ],
)
def test_other_forms_are_refused(other: str, problem: str) -> None:
    with pytest.raises(SiteError, match=problem):
        joined(main='import {x} from "./other.js";\n', other=other)
