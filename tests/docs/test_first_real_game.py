"""docs/your-first-real-game.md: its lines are run again in order, on an invented game. `make golden` writes it."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs.test_first_five_minutes import check_transcript
from tests.support.recorded import Recorded
from tests.support.service import ROOT

DOCUMENT = ROOT / "docs" / "your-first-real-game.md"
SCRIPT = Path("docs") / "deploy" / "fetch-cardmarket.sh"
FIGURES = ("avg", "low", "trend", "avg1", "avg7", "avg30")
NAMES = ("Ember Drake", "Tidewalker", "Stone Golem", "Moss Sprite", "Gale Falcon")


def write_market(folder: Path) -> None:
    """Write the three files of an invented game as the marketplace names them."""
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
    for path, key, rows, created in (
        ("productList/products_singles_17.json", "products", singles, "2026-07-14T11:04:27+0200"),
        ("productList/products_nonsingles_17.json", "products", boxes, "2026-07-14T11:04:27+0200"),
        ("priceGuide/price_guide_17.json", "priceGuides", prices, "2026-07-14T02:44:49+0200"),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps({"version": 1, "createdAt": created, key: rows}))


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("curl") or not shutil.which("gzip"), reason="no curl or gzip on this machine")
def test_the_tutorial_is_true(
    tmp_path: Path, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, recorded: Recorded
) -> None:
    write_market(tmp_path / "market")
    monkeypatch.setenv("CARDMARKET_DOWNLOADS", (tmp_path / "market").as_uri())
    (tmp_path / SCRIPT.parent).mkdir(parents=True)
    shutil.copy(ROOT / SCRIPT, tmp_path / SCRIPT)
    command = tmp_path / "bin" / "cardpress"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m generator "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    check_transcript(DOCUMENT, tmp_path, capfd, monkeypatch, recorded)
