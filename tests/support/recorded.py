"""Files of the repository that tests record: golden answers, transcripts, copies of what the product makes.

A test that has the fixture `recorded` compares such a file with what the product does now. `make golden` runs these
tests alone, with `--update-golden`: they write their files instead.
"""

from pathlib import Path

import pytest

FIXTURE = "recorded"


class Recorded:
    """Writes the files of one test with `--update-golden`. Without it, it writes nothing."""

    def __init__(self, update: bool):
        self.update = update

    def write(self, file: Path, text: str) -> bool:
        """Return whether recorded files are written anew: then `file` holds `text`, and there is nothing to compare."""
        if not self.update:
            return False
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return True


def records(item: pytest.Item) -> bool:
    """Return whether a test writes recorded files. A test that a second folder runs again writes them once."""
    return FIXTURE in getattr(item, "fixturenames", ()) and item.function.__module__ == item.module.__name__
