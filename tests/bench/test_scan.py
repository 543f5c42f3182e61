"""The measurement of the scanner: it draws scenes, runs the modules of the site, and counts what they find."""

import pytest

from bench import scan
from bench.scan_photos import PHOTOS
from tests.support.programs import needs


@pytest.mark.thorough
@needs("Node.js")
def test_every_way_of_a_card_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["scan", "--cards", "20", "--photographed", "1", "--workers", "1"])
    scan.main()
    lines = capsys.readouterr().out.splitlines()
    rows = {cells[1].strip(): cells[2:4] for cells in (line.split("|") for line in lines) if len(cells) == 8}
    assert [rows[way] for way in PHOTOS] == [[" 100.0 % ", " 100.0 % "]] * len(PHOTOS)
    assert "one search with seven views" in lines[-1]
