"""CONTRIBUTING.md: its example in Python runs as it stands and prints what the page says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.service import ROOT, environment


@pytest.mark.thorough
def test_the_build_from_python_prints_what_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    [(code, printed)] = re.findall(r"(?s)^```python\n(.*?)^```\n.*?^```\n(.*?)^```", page, re.MULTILINE)
    program = [sys.executable, "-c", code]
    result = subprocess.run(program, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (result.stdout, result.stderr) == (printed, "")
