"""Every example of the reference, run as it stands in the page."""

import hashlib
import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from edge_auth.core.endpoints import ENDPOINTS
from generator.site import pages as site
from tests.support.oracle import collection
from tests.support.oracle.lake import OracleLake
from tests.support.service import Service
from tests.support.site_lake import EMBERFOX

COMMANDS = {"sh": ["sh"], "py": [sys.executable], "mjs": ["node"]}
ARGUMENTS = {
    "The price of a list of names": ["BOX 1", "Emberfox ex [Blazing Tail]", "No such card"],
    "What a collection is worth": ["collection.csv"],
}
COLLECTION = {EMBERFOX: 3, 2: 1, 777: 9} | {100 + n: n % 4 for n in range(130)}
NEEDS = {"sh": "curl", "py": sys.executable, "mjs": "node"}


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


EXAMPLES = Examples(site.documents()["docs/index.html"].decode()).found


@pytest.fixture(scope="module")
def served(site_service: Service) -> dict[tuple[str, str], str]:
    """The examples of the page that is served, which names what its build has."""
    found = Examples(site_service.client().get("/docs").text).found
    assert [example[:2] for example in found] == [example[:2] for example in EXAMPLES]
    return {(title, extension): text for title, extension, text in found}


def test_there_is_an_example_of_every_endpoint_in_every_language() -> None:
    counts = {extension: sum(1 for _, other, _ in EXAMPLES if other == extension) for extension in COMMANDS}
    calls = len(ENDPOINTS)
    more = {"sh": 3, "py": 5, "mjs": 4}  # the first call in curl is a line of its own
    assert counts == {extension: calls + number for extension, number in more.items()}


# The calls of endpoints come from one template for each language, so that few of them tell whether it is right.
SPECIAL = ("first call", "whole list", "list of names", "Fetch only", "Keep a copy", "Catalogue", "as files")


def in_short(title: str, extension: str) -> bool:
    """Whether `make test` runs an example. It runs those of all endpoints in curl."""
    return extension == "sh" or any(words in title for words in SPECIAL)


@pytest.mark.parametrize(
    ("title", "extension"),
    [pytest.param(*found, marks=[pytest.mark.thorough] * (not in_short(*found))) for *found, _ in EXAMPLES],
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
    if shutil.which(NEEDS[extension]) is None:
        pytest.skip(f"no {NEEDS[extension]} on this machine")
    (tmp_path / f"example.{extension}").write_text(served[title, extension], "utf-8")
    _write_collection(tmp_path / "collection.csv")
    environment = os.environ | {"CARDS": f"http://127.0.0.1:{site_service.port}", "KEY": site_key}
    for _ in range(2):  # a second time with what the first one left
        done = subprocess.run(
            [*COMMANDS[extension], f"example.{extension}", *ARGUMENTS.get(title.partition(", in ")[0], [])],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0 and done.stdout.strip(), (done.stdout[-500:], done.stderr[-1500:])
        if not any(words in title for words in ("whole list", "Fetch only", "Keep a copy", "list of names")):
            break
    if "whole list" in title:
        assert all(f"Box {n}" in done.stdout for n in range(3))
    if "list of names" in title:
        assert all(words in done.stdout for words in ("Box 1", "Emberfox ex", "22.1", "there is no card"))
        assert "Box 0" not in done.stdout
    if "collection" in title:
        worth = collection.worth(OracleLake(site_store.parent / "lake"), COLLECTION)
        weeks = [f"{week} {value:.2f}" for week, value in worth["weeks"].items()]
        now = f"now {worth['trend']:.2f}, at the lowest offers {worth['low']:.2f}"
        assert done.stdout.splitlines() == [now, *weeks]
    if "Keep a copy" in title:
        assert done.stdout.rstrip().endswith(" 0 of them new")
        kept = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "mirror").iterdir()}
        assert len(kept) > 8 and all(sha256[:12] in name for name, sha256 in kept.items())
    if "Fetch only" in title:
        assert "phash-2" in done.stdout and ("304" in done.stdout or extension == "sh")


def _write_collection(file: Path) -> None:
    """Write a collection as exports of stock have it; some products are on two lines."""
    lines = [f'"{count - 1}",{id_}' for id_, count in COLLECTION.items()] + [f"1,{id_}" for id_ in COLLECTION]
    file.write_text("\r\n".join(["quantity,idProduct", *lines]), "utf-8-sig")
