"""The prose of the endpoints has exactly the headings and rows that the endpoints need."""

from importlib.resources import files

import pytest

from edge_auth.api.blueprints import ENDPOINTS
from generator.errors import SiteError
from generator.site import openapi
from generator.site.prose import PARAMETERS, Prose

TEXT = files("generator.site").joinpath("operations.md").read_text("utf-8")
ROW = "| days | Only the history of the last N days, which end with the as-of day; without it all history. | 30 |\n"
GAMES = "## /api/v1/games" + TEXT.partition("## /api/v1/games")[2].partition("## ")[0] + "## "
OPERATOR = dict.fromkeys(("contact_name", "contact_url", "license_name", "license_url"), "")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (ROW, "", "has no row 'days' below '## /api/v1/cards/{idProduct}'"),
        (ROW, ROW + "| hours | Not there. | |\n", "nothing uses the row 'hours' below '## /api/v1/cards/{idProduct}'"),
        (ROW, ROW + ROW, "its name stands there twice"),
        (ROW, ROW.replace(" | 30 |", " |"), "has not three cells"),
        (ROW, ROW.replace("N days", "{most} days"), "may name type, minimum, maximum in braces"),
        (GAMES, "## ", "has no heading '## /api/v1/games'"),
        (GAMES, f"## /api/v1/other: Series\n\n{GAMES}", "no endpoint has the path of the heading '## /api/v1/other'"),
    ],
)
def test_a_missing_or_superfluous_row_is_refused(old: str, new: str, problem: str) -> None:
    assert old in TEXT
    with pytest.raises(SiteError, match=problem.replace("{", r"\{")):
        openapi.make_document(Prose(TEXT.replace(old, new, 1)), OPERATOR)


def test_a_row_of_a_path_goes_before_the_shared_one() -> None:
    table = "| name | says | such as |\n|---|---|---|\n| q | {} | {} |\n\n"
    prose = Prose(f"## {PARAMETERS}\n\n{table.format('General.', 'x')}## /a: A\n\n{table.format('Own.', '')}## /b: B\n")
    assert prose.sentence("/a", PARAMETERS, "q") == ("Own.", "")
    assert prose.sentence("/b", PARAMETERS, "q") == ("General.", "x")


def test_examples_name_parameters() -> None:
    for endpoint in ENDPOINTS:
        assert set(Prose().example_query(endpoint.path)) <= set(endpoint.query or ())
