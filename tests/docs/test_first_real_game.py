"""docs/your-first-real-game.md: its lines are run again in order, on an invented game. `make golden` writes it."""

import json
from pathlib import Path

import pytest

from generator.ingest import downloads
from tests.docs.test_first_five_minutes import check_transcript
from tests.support.programs import needs
from tests.support.recorded import Recorded
from tests.support.service import ROOT

DOCUMENT = ROOT / "docs" / "your-first-real-game.md"
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
    monkeypatch.setattr(downloads, "_read_answer", lambda request, _: (documents[request.full_url], {}))
    check_transcript(DOCUMENT, tmp_path, capfd, monkeypatch, recorded, most=20)
