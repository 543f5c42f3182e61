"""The tutorials and the lines of README.md: run in order they print what the pages show. `make golden` writes them."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stderr, suppress
from pathlib import Path

import pytest

from generator.cli import main
from generator.ingest import downloads
from tests.support.programs import needs
from tests.support.recorded import Recorded
from tests.support.service import ROOT, Service, until

DOCUMENT = ROOT / "docs" / "first-five-minutes.md"
HOME = "/home/you"
PORT = "8000"
# What differs from run to run, or with any change to the product.
CHANGES = {
    r"(\d{4}-\d{2}-\d{2})-[0-9a-f]{12}": r"\1-<hash>",
    r"\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{6}": "<run>",
    r"20(2[6-9]|[3-9]\d)-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}( UTC|Z)?": "<now>",
    r"key_[0-9a-f]{12}": "<key>",
    r"cpm_live_\w{4}": "<prefix>",
    r"[\d,.]+ (s|h|d|days|MB)\b": r"<n> \1",
    r"^(\d{4}-\S+ +).*(live|previous)$": r"\1\2",
    r"python +\S+, cardpress \S+": "python <version>",
    r"libraries +\d+": "libraries <n>",
    r"history-202\d, (history-202\d, )?": "",
    r"^made [a-z0-9, -]+;": "made <layers>;",
    r"_\d{4}-\d{2}-\d{2}\.json": "_<today>.json",
}


class Shell:
    """What a user's shell would do with a line, in this process where it can be."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture, patch: pytest.MonkeyPatch, stack: ExitStack):
        self.folder, self.capture, self.patch, self.stack = folder, capture, patch, stack
        self.service: Service | None = None

    def run(self, line: str) -> str:
        """What the line prints."""
        if line.endswith("&"):
            self.service = self.stack.enter_context(Service(self.folder / "site_out", self.folder / "state"))
            log = self.service.log
            until(lambda: "listening" in log.read_text(), 60, "the shim says where it listens")
            return "" if "2>" in line else self._told(log.read_text())
        if assigned := re.fullmatch(r"export (\w+)=\$\((.*)\)", line):
            out, error = self._cardpress(shlex.split(assigned[2])[1:])
            self.patch.setenv(assigned[1], out.strip())
            return self._told(error)
        if assigned := re.fullmatch(r"export (\w+)=(\w+)", line):
            self.patch.setenv(assigned[1], assigned[2])
            return ""
        if redirected := re.fullmatch(r"cardpress (.*) > ([a-z.]+)", line):
            out, error = self._cardpress(shlex.split(redirected[1]))
            (self.folder / redirected[2]).write_text(out)
            return self._told(error)
        if line.startswith("cardpress "):
            with redirect_stderr(sys.stdout):  # in the order in which they were printed, as on a terminal
                return self._told("".join(self._cardpress(shlex.split(line)[1:])))
        here = line.replace(f":{PORT}", f":{self.service.port}" if self.service else "")
        return self._told(subprocess.run(here, shell=True, capture_output=True, text=True, timeout=60).stdout)

    def _cardpress(self, words: list[str]) -> tuple[str, str]:
        words = [str(self.service.port) if word == PORT and self.service else word for word in words]
        self.patch.setattr(sys, "argv", ["cardpress", *words])
        with suppress(SystemExit):
            main()
        return self.capture.readouterr()

    def _told(self, text: str) -> str:
        port = str(self.service.port) if self.service else PORT
        return text.replace(str(self.folder), HOME).replace(port, PORT).rstrip()


def parts(text: str) -> Iterator[tuple[str | None, list[str]]]:
    """The document's lines, grouped: a command with what it printed, or None with other lines."""
    inside, command, lines = False, None, []
    for line in text.splitlines():
        if line.startswith("```") or (inside and line.startswith("$ ")):
            yield command, lines
            command, lines = (line[2:], []) if line.startswith("$ ") else (None, [line])
            inside = line == "```console" if line.startswith("```") else inside
        else:
            lines.append(line)
    yield command, lines


def shortened(text: str, most: int) -> list[str]:
    lines = text.splitlines()
    return lines if len(lines) <= most else [*lines[:4], "…", *lines[-4:]]


def settled(lines: list[str]) -> str:
    text = "\n".join(lines)
    for pattern, instead in CHANGES.items():
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return text


def check_transcript(
    document: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    recorded: Recorded,
    most: int = 14,
) -> None:
    """Run the lines of a document in a folder, and compare what they print; or write it, for `make golden`.

    Args:
        most: The lines of the longest output that is not cut.
    """
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("CARDPRESS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".local" / "state"))
    written: list[str] = []
    changed = False
    with ExitStack() as stack:
        shell = Shell(tmp_path, capfd, monkeypatch, stack)
        for command, lines in parts(document.read_text("utf-8")):
            output = shortened(shell.run(command), most) if command else lines
            differs = settled(output) != settled(lines)
            assert recorded.update or not differs, command
            written += [f"$ {command}", *output] if command else output
            changed |= differs
    if changed:  # all of one run, so that a build has one id
        recorded.write(document, "\n".join([*written, ""]))


def test_a_build_has_one_id() -> None:
    found = set(re.findall(r"(\d{4}-\d{2}-\d{2})-[0-9a-f]{12}", DOCUMENT.read_text("utf-8")))
    assert len(found) == len(set(re.findall(r"\d{4}-\d{2}-\d{2}-[0-9a-f]{12}", DOCUMENT.read_text("utf-8"))))


@pytest.mark.shim_only("the transcript names the port of the shim")
@needs("curl")
@pytest.mark.thorough
def test_the_transcript_is_true(
    tmp_path: Path, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, recorded: Recorded
) -> None:
    check_transcript(DOCUMENT, tmp_path, capfd, monkeypatch, recorded)


@pytest.mark.thorough
@pytest.mark.shim_only("the lines start a shim on its port")
@needs("curl")
def test_the_five_lines_get_the_answer(
    tmp_path: Path, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "README.md").read_text("utf-8").partition("## The same in five lines")[2]
    [block] = re.findall(r"(?s)^```console\n(.*?)^```", page, re.MULTILINE)
    lines, answer = re.fullmatch(r"(?s)((?:\$ [^\n]+\n)+)(.+)", block).groups()
    commands = [re.sub(r" +# .*", "", line.removeprefix("$ ")) for line in lines.splitlines()]
    assert len(commands) == 5
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        shell = Shell(tmp_path, capfd, monkeypatch, stack)
        assert [shell.run(command) for command in commands][-1] == answer.rstrip()


REAL_GAME = ROOT / "docs" / "your-first-real-game.md"
FIGURES = ("avg", "low", "trend", "avg1", "avg7", "avg30")
NAMES = ("Ember Drake", "Tidewalker", "Stone Golem", "Moss Sprite", "Gale Falcon")


def market() -> dict[str, dict]:
    """The three files of an invented game by their paths, as the marketplace names them."""
    singles = [
        {
            "idProduct": 1000 + n,
            "name": f"{NAMES[n % 5]} (BT{1 + n // 80}-{1 + n % 80:03})",
            "idCategory": 1611,
            "categoryName": "Digimon Single",
            "idExpansion": 101 + n // 80,
            "idMetacard": n,
            "dateAdded": "2026-01-05 10:00:00",
        }
        for n in range(240)
    ]
    boxes = [{"idProduct": 2000 + n, "name": f"Booster Box {n + 1}", "idExpansion": 101 + n % 3} for n in range(12)]
    prices = [
        {"idProduct": row["idProduct"], "idCategory": 1611} | dict.fromkeys(FIGURES, 0.25 + row["idProduct"] % 40 / 4)
        for row in (*singles, *boxes)
    ]
    return {
        f"{path}_17.json": {"version": 1, "createdAt": created, key: rows}
        for path, key, rows, created in (
            ("productList/products_singles", "products", singles, "2026-07-14T11:04:27+0200"),
            ("productList/products_nonsingles", "products", boxes, "2026-07-14T11:04:27+0200"),
            ("priceGuide/price_guide", "priceGuides", prices, "2026-07-14T02:44:49+0200"),
        )
    }


@pytest.mark.thorough
@needs("curl")
def test_the_tutorial_is_true(
    tmp_path: Path, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, recorded: Recorded
) -> None:
    documents = {f"{downloads.BASE_URL}/{path}": json.dumps(document).encode() for path, document in market().items()}
    monkeypatch.setattr(downloads, "_read_answer", lambda request, *_: (documents[request.full_url], {}))
    check_transcript(REAL_GAME, tmp_path, capfd, monkeypatch, recorded, most=20)
