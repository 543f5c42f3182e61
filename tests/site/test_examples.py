"""Every example of the reference, run as it stands in the page."""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from edge_auth.api.blueprints import ENDPOINTS
from generator.site import pages as site
from tests.site.conftest import EXAMPLE_STEP
from tests.support.oracle import series
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.rounding import number
from tests.support.programs import require
from tests.support.service import Service
from tests.support.site_lake import EMBERFOX

COMMANDS = {"sh": ["sh"], "py": [sys.executable], "mjs": ["node"]}
ARGUMENTS = {
    "The price of a deck list": ["deck.txt"],
    "Completion as you type": ["ember"],
    "What a collection was worth, day by day": ["collection.csv"],
    "An alert when a price falls": [str(EMBERFOX), "2", "404404"],
    "The price of a list of names": ["BOX 1", "Emberfox-EX", "No such card"],
    "What a collection is worth": ["collection.csv"],
}
DECK = """Pokémon: 8
4 Emberfox ex
1 Emberfox-EX (asp) 12 *F* [Ramp{top}] ^Have,#37d67a^
2x filler 003 FIL 3

Trainer: 4
1 No such card
3 No picture ASP 7
"""
COLLECTION = {EMBERFOX: 3, 2: 1, 777: 9} | {100 + n: n % 4 for n in range(130)}
APART = ("Tools for", "A typed client")  # run in test_recipes.py
NEEDS = {"sh": ("curl",), "py": (), "mjs": ("Node.js",)}


def worth(lake: OracleLake, quantity: Mapping[int, int]) -> Row:
    """The values of a collection: `trend` and `low` now, and `weeks` by Monday.

    `quantity`: by id. Unknown products are worth nothing. A week without a price keeps the last one.
    """
    now = {id_: rows[max(rows)] for id_, rows in lake.guide.items()}
    values = {
        price: sum((now[id_][price] or 0) * count for id_, count in quantity.items() if id_ in now)
        for price in ("trend", "low")
    }
    listed = series.listed(lake, list(quantity))
    weeks = dict.fromkeys(listed["weeks"], 0.0)
    for product in listed["data"]:
        last = 0.0
        for week, price in zip(weeks, product["trend"], strict=True):
            last = last if price is None else price
            weeks[week] += last * quantity[product["id_product"]]
    return {price: number(value) for price, value in values.items()} | {"weeks": weeks}


class Examples(HTMLParser):
    """(title, extension, text) of the code that says in what language it is."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self._title, self._open = "", False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._title = given.get("aria-label") or self._title
        self._open = tag == "code" and given.get("data-example") in COMMANDS
        if self._open:
            self.found.append((self._title, given["data-example"], ""))

    def handle_data(self, data: str) -> None:
        if self._open:
            title, extension, text = self.found[-1]
            self.found[-1] = (title, extension, text + data)

    def handle_endtag(self, tag: str) -> None:
        self._open = False


PAGES = {key: text.decode() for key, text in site.documents().items() if re.fullmatch(r"docs/.*\.html", key)}
EXAMPLES = [example for text in PAGES.values() for example in Examples(text).found]


@pytest.fixture(scope="module")
def served(site_service: Service) -> dict[tuple[str, str], str]:
    """The examples of the pages that are served, which name what their build has."""
    client = site_service.client()
    found = [example for key in PAGES for example in Examples(client.get(f"/{key}").text).found]
    assert [example[:2] for example in found] == [example[:2] for example in EXAMPLES]
    return {(title, extension): _of_a_step(text) for title, extension, text in found}


def _of_a_step(text: str) -> str:
    """Fill in the builds of a step, which the service has and no build knows."""
    return text.replace("{from}...{to}", "...".join(EXAMPLE_STEP))


def test_there_is_an_example_of_every_endpoint_in_every_language() -> None:
    counts = {extension: sum(1 for _, other, _ in EXAMPLES if other == extension) for extension in COMMANDS}
    calls = len(ENDPOINTS)
    more = {"sh": 3, "py": 11, "mjs": 5}  # the first call in curl is a line of its own
    assert counts == {extension: calls + number for extension, number in more.items()}


def test_the_examples_of_a_description_are_one_request_that_is_answered(demo_service: tuple[Service, str]) -> None:
    """A tool that fills in every example of an operation gets an answer, and so does a model that copies a line."""
    client = demo_service[0].client(demo_service[1])
    requests = {}
    for path, item in client.get("/api/v1/openapi.json").json["paths"].items():
        given = {(one["in"], one["name"]): one["example"] for one in item["get"]["parameters"] if "example" in one}
        query = {name: value for (place, name), value in given.items() if place == "query"}
        subjects = {name: quote(str(value), safe="") for (place, name), value in given.items() if place == "path"}
        requests[re.sub(r"{(\w+)}", lambda name: subjects.get(name[1], name[0]), path)] = query  # noqa: B023
    unknown = "/api/v1/changes/{from}...{to}"  # belongs to the service, and not to a build
    assert [path for path in requests if "{" in path] == [unknown]
    assert requests["/api/v1/cards"].keys() == {"q", "limit"}
    targets = [f"{path}?{urlencode(query)}" if query else path for path, query in requests.items() if path != unknown]
    lines = re.findall(r'"\$CARDS(.*?)"', client.get("/llms.txt").text)
    assert len(lines) >= len(ENDPOINTS)
    for target in (*targets, *(line for line in lines if line != unknown)):
        assert client.get(target).status == 200, target


RECIPE_OUTPUTS = {
    # 5 × 22.10 + 2 × 1.03
    "The price of a deck list": "1 No such card is no card\n3 No picture has no price\ntogether 112.56\n",
    "Completion as you type": "Emberfox ex (1)\n",
    "The first page in a spreadsheet": f"{EMBERFOX},Emberfox ex [Blazing Tail],Ashen Peaks,012,Ultra Rare,22.1,16.9\n",
}
# The calls of endpoints come from one template for each language, so that few of them tell whether it is right.
RECIPES = ("deck list", "Completion", "day by day", "An alert", "spreadsheet")
SPECIAL = ("first call", "whole list", "list of names", "Fetch only", "Keep a copy", "Catalogue", "as files", *RECIPES)


def in_short(title: str, extension: str) -> bool:
    """Whether `make test` runs an example: special ones in one language, and those of endpoints in none.

    Another test asks for what the examples of all endpoints ask.
    """
    return extension == "py" and any(words in title for words in SPECIAL)


@pytest.mark.parametrize(
    ("title", "extension"),
    [
        pytest.param(*found, marks=[pytest.mark.thorough] * (not in_short(*found)))
        for *found, _ in EXAMPLES
        if not found[0].startswith(APART)
    ],
)
def test_an_example_runs(
    site_service: Service,
    site_store: Path,
    site_key: str,
    tmp_path: Path,
    served: dict[tuple[str, str], str],
    title: str,
    extension: str,
) -> None:
    require(*NEEDS[extension])
    (tmp_path / f"example.{extension}").write_text(served[title, extension], "utf-8")
    _write_files(tmp_path)
    environment = os.environ | {"CARDS": f"http://127.0.0.1:{site_service.port}", "KEY": site_key}
    if "day by day" in title:
        mirror = served["Keep a copy of all files, in Python", "py"]
        subprocess.run([sys.executable, "-c", mirror], cwd=tmp_path, env=environment, capture_output=True, check=True)
    said = []
    for _ in range(2):  # a second time with what the first one left
        done = subprocess.run(
            [*COMMANDS[extension], f"example.{extension}", *ARGUMENTS.get(title.partition(", in ")[0], [])],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        said.append(done.stdout)
        assert done.returncode == 0 and done.stdout.strip(), (done.stdout[-500:], done.stderr[-1500:])
        if not any(
            words in title for words in ("whole list", "Fetch only", "Keep a copy", "list of names", "An alert")
        ):
            break
    if "whole list" in title:
        assert all(f"Box {n}" in done.stdout for n in range(3))
    if "list of names" in title:
        assert all(words in done.stdout for words in ("Box 1", "Emberfox ex", "22.1", "there is no card"))
        assert "No such card" in done.stdout
        assert "Box 0" not in done.stdout
    if title.partition(", in ")[0] in RECIPE_OUTPUTS:
        assert RECIPE_OUTPUTS[title.partition(", in ")[0]] in done.stdout
    if "An alert" in title:
        assert "Emberfox ex [Blazing Tail] fell from 30.00 to 22.10" in said[0] and "0 of 3 prices fell" in done.stdout
    if "day by day" in title:
        assert done.stdout.splitlines() == _days(OracleLake(site_store.parent / "lake"))
    if "collection is" in title:
        sums = worth(OracleLake(site_store.parent / "lake"), COLLECTION)
        weeks = [f"{week} {value:.2f}" for week, value in sums["weeks"].items()]
        now = f"now {sums['trend']:.2f}, at the lowest offers {sums['low']:.2f}"
        assert done.stdout.splitlines() == [now, *weeks]
    if "Keep a copy" in title:
        assert done.stdout.rstrip().endswith(" 0 of them new")
        kept = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "mirror").iterdir()}
        assert len(kept) > 8 and all(sha256[:12] in name for name, sha256 in kept.items())
    if "Fetch only" in title:
        assert "phash-2" in done.stdout and ("304" in done.stdout or extension == "sh")


def _days(lake: OracleLake) -> list[str]:
    """What the collection was worth on each day, from the cards that have a price on it."""
    known: dict[date, list[Decimal]] = {}
    for id_, count in COLLECTION.items():
        for day, row in lake.guide.get(id_, {}).items():
            known.setdefault(day, []).extend([row["trend"] * count] * (row["trend"] is not None))
    return [f"{day} {sum(prices):.2f} of {len(prices)} cards" for day, prices in sorted(known.items())]


def _write_files(folder: Path) -> None:
    """Write what the examples read: a deck list, noted prices, and a collection with some products on two lines."""
    (folder / "deck.txt").write_text(DECK, "utf-8")
    (folder / "noted.json").write_text(f'{{"{EMBERFOX}": 30, "2": 5}}')
    lines = [f'"{count - 1}",{id_}' for id_, count in COLLECTION.items()] + [f"1,{id_}" for id_ in COLLECTION]
    (folder / "collection.csv").write_text("\r\n".join(["quantity,idProduct", *lines]), "utf-8-sig")
