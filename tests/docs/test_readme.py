"""README.md: its five lines run as they stand, and the last one gets the answer that the page shows."""

import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.test_first_five_minutes import Shell
from tests.support.programs import needs
from tests.support.service import ROOT


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
