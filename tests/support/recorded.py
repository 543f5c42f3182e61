"""Files of the repository that tests record: golden answers, transcripts, copies of what the product makes.

A test that has the fixture `recorded` compares such a file with what the product does now. `make golden` runs these
tests alone, with `--update-golden`: they write their files instead, and pytest lists the files that changed.
"""

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.support.service import ROOT

FIXTURE = "recorded"


class Recorded:
    """Writes the files of one test with `--update-golden`. Without it, it writes nothing."""

    def __init__(self, node: pytest.Item, update: bool):
        self.node, self.update = node, update

    def write(self, file: Path, text: str) -> bool:
        """Return whether recorded files are written anew: then `file` holds `text`, and there is nothing to compare."""
        if not self.update:
            return False
        before = file.read_text("utf-8") if file.exists() else ""
        if text != before:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
            lines = [line[:1] for line in unified_diff(before.splitlines(), text.splitlines(), lineterm="", n=0)][2:]
            summary = f"{file.relative_to(ROOT)} | {lines.count('+')} lines added, {lines.count('-')} removed"
            self.node.user_properties.append((FIXTURE, summary))
        return True


def records(item: pytest.Item) -> bool:
    """Return whether a test writes recorded files. A test that a second folder runs again writes them once."""
    return FIXTURE in getattr(item, "fixturenames", ()) and item.function.__module__ == item.module.__name__


def changed(reports: Iterator[pytest.TestReport]) -> list[str]:
    """Return one line for each file that the tests of these reports have changed."""
    properties = {pair for report in reports for pair in getattr(report, "user_properties", ())}
    return sorted(summary for name, summary in properties if name == FIXTURE)
