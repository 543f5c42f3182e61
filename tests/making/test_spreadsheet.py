"""The table for spreadsheets: its values by brute force, its texts in a spreadsheet."""

import csv
import gzip
import io
import itertools
import random
import subprocess
from datetime import date, timedelta
from pathlib import Path

import pytest

from generator.storage.builds import open_build
from generator.storage.stores.folder import FolderStore
from tests.support.commands import build
from tests.support.lakes import Rows, write
from tests.support.oracle import Oracle
from tests.support.programs import needs
from tests.support.selection import mostly_thorough
from tests.support.spreadsheets import csv_rows

AS_OF = date(2024, 3, 3)
UTF8 = "44,34,76,1"  # LibreOffice's numbers for commas, quotes, UTF-8, and from the first line on
FORMULAS = ["=1+2", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1"]
TEXTS = [*FORMULAS, "a,b", 'say "x"', "two\nlines", "two\r\nlines", "'=1", " =1", "é — 日本", "", "63/100"]
AGES = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 20, 28, 29, 30, 31, 33, 34, 60, 100, 363, 364, 365, 366, 398, 700)
PRICES = (None, 0.0, 0.004, 0.01, 0.02, 0.03, 1.0, 1.01, 4.99, 20.0, 1234.56, 1e12, 999999999999.99)


def rows(rng: random.Random) -> Rows:
    """Products with awkward texts, whose guide ends on several days, with both finishes and few and many prices."""
    expansions = [{"id": number, "name": text, "game": text} for number, text in enumerate(TEXTS) if text]
    products = [
        {"id_product": number - 20, "name": rng.choice([text for text in TEXTS if text.strip()]), "kind": "single"}
        | {name: rng.choice([None, *TEXTS]) for name in ("rarity", "number")}
        | {"id_expansion": rng.choice([None, *range(20)]), "url": rng.choice([None, "https://x.example/a?b"])}
        for number in range(60)
    ]
    guide = {}
    for age in AGES:
        day = (AS_OF - timedelta(days=age)).isoformat()
        guide[day] = [row for product in products if (row := priced(product["id_product"], age, rng))]
    return Rows(products=products, expansions=expansions, price_guide=guide)


def priced(id_product: int, age: int, rng: random.Random) -> dict:
    if age < 10 * (id_product % 4 - 1) or rng.random() < 0.1:
        return {}
    some = PRICES if id_product % 5 else (5.0, 5.01)
    trends = {"trend": None if id_product % 3 == 0 else rng.choice(some), "trend_holo": rng.choice(some)}
    others = [f"{name}{holo}" for name in ("low", "avg7", "avg30") for holo in ("", "_holo")]
    return {"id_product": id_product, **trends, **{name: rng.choice(PRICES) for name in others}}


def table_of(lake: Path, as_of: date) -> bytes:
    store = lake.parent / f"store-{as_of}"
    made = open_build(FolderStore(str(store)), build(lake, store, as_of.isoformat()))
    [file] = [file for name, file in made.bulk_files.items() if name.startswith("prices-")]
    return gzip.decompress(made.store.get(file.object))


@pytest.mark.parametrize("seed", mostly_thorough(range(8), 0, 1))
def test_values_are_those_of_the_oracle(seed: int, tmp_path: Path) -> None:
    lake = write(rows(random.Random(seed)), tmp_path / "lake", seed)
    for as_of in (AS_OF, AS_OF - timedelta(days=40)):
        expected, text = csv_rows(Oracle(lake, as_of.isoformat()).lake), table_of(lake, as_of).decode()
        assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == expected
        assert len(expected) > 30


def test_a_lake_without_prices_has_the_header_alone(tmp_path: Path) -> None:
    lake = write(Rows(products=[{"id_product": 1, "name": "a", "kind": "single"}]), tmp_path / "lake", 1)
    assert table_of(lake, AS_OF).count(b"\n") == 1


def test_deviations_round_half_away_from_zero(tmp_path: Path) -> None:
    """Two prices of so many days each: the deviation is often half their distance, and a half cent is rounded up."""
    spreads, counts = (0.0, 0.01, 0.02, 0.04, 1.0, 3.33, 9e12), ((3, 3), (4, 4), (1, 5), (2, 6), (2, 2), (5, 0))
    cases = list(enumerate(itertools.product(spreads, counts)))
    guide = {
        (AS_OF - timedelta(days=age)).isoformat(): [
            {"id_product": number, "trend": 1.0 + spread * (age >= first)}
            for number, (spread, (first, second)) in cases
            if age < first + second
        ]
        for age in range(8)
    }
    products = [{"id_product": number, "name": "P", "kind": "single"} for number, _ in cases]
    lake = write(Rows(products=products, price_guide=guide), tmp_path / "lake", 1)
    text = table_of(lake, AS_OF).decode()
    assert list(csv.reader(io.StringIO(text))) == csv_rows(Oracle(lake, AS_OF.isoformat()).lake)


@needs("LibreOffice")
def test_a_spreadsheet_reads_texts_as_texts(tmp_path: Path) -> None:
    """LibreOffice opens the file, and writes what its cells show: no text has become a formula, no row is broken."""
    lake = write(rows(random.Random(3)), tmp_path / "lake", 1)
    (tmp_path / "prices.csv").write_bytes(table_of(lake, AS_OF))
    convert(tmp_path / "prices.csv", "ods")
    (tmp_path / "prices.csv").unlink()
    convert(tmp_path / "prices.ods", f"csv:Text - txt - csv (StarCalc):{UTF8}")
    shown = (tmp_path / "prices.csv").read_text("utf-8")
    expected = csv_rows(Oracle(lake, AS_OF.isoformat()).lake)
    for name in ("id_product", "name", "number", "url"):
        column = expected[0].index(name)
        found = ["".join(row[column].split()) for row in csv.reader(io.StringIO(shown))]  # cells show no tabs
        assert found == ["".join(row[column].split()) for row in expected], name


def convert(file: Path, form: str) -> None:
    """Open a file in LibreOffice, and write it beside in another format."""
    profile = f"-env:UserInstallation={file.with_name('profile').as_uri()}"
    command = ["soffice", profile, "--headless", f"--infilter=CSV:{UTF8}", "--convert-to", form]
    subprocess.run([*command, "--outdir", file.parent, file], check=True, capture_output=True, timeout=120)
