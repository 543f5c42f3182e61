"""`cardpress ingest identifiers`: tables, and files of other catalogues in their real forms, with their oddities."""

import bz2
import gzip
import json
import lzma
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.commands import run
from tests.support.imports import content

Rows = set[tuple[int, str, str]]
KNOWN = (100, 101, 102, 273532)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake with some products, and an id that an import did not write."""
    folder = tmp_path / "lake"
    folder.mkdir()
    products = {"id_product": KNOWN, "name": ["Emberfox"] * len(KNOWN), "kind": ["single"] * len(KNOWN)}
    pq.write_table(pa.table(products), folder / "products.parquet")
    mine = {"id_product": [101], "scheme": ["scryfall"], "value": ["by-hand"], "remark": ["kept"]}
    pq.write_table(pa.table(mine), folder / "identifiers-mine.parquet")
    return folder


def rows(lake: Path) -> Rows:
    tables = (pq.read_table(path, partitioning=None) for path in sorted(lake.glob("identifiers*.parquet")))
    found = [tuple(row[name] for name in ("id_product", "scheme", "value")) for t in tables for row in t.to_pylist()]
    assert len(found) == len(set(found)), "a row twice"
    return set(found) - {(101, "scryfall", "by-hand")}


def ingest(lake: Path, *arguments: object, status: int = 0) -> subprocess.CompletedProcess:
    return run("ingest", "identifiers", "--lake", lake, *arguments, status=status)


def counts(lake: Path, *arguments: object) -> dict:
    return json.loads(ingest(lake, "--json", *arguments).stdout)


SCRYFALL = [
    {"object": "card", "id": "0000419b", "oracle_id": "b34bb2dc", "tcgplayer_id": 558404, "cardmarket_id": 100,
     "multiverse_ids": [], "card_faces": [{"object": "card_face", "name": "Front"}]},
    {"object": "card", "id": "rev", "layout": "reversible_card", "cardmarket_id": 101,
     "card_faces": [{"oracle_id": "face-1"}, {"oracle_id": "face-2"}, {"name": "none"}]},
    {"object": "card", "id": "token", "oracle_id": "t", "layout": "token"},
    {"object": "card", "id": "digital", "oracle_id": "d", "cardmarket_id": None, "tcgplayer_id": 1},
    {"object": "card", "id": "etched", "oracle_id": "b34bb2dc", "tcgplayer_id": None, "cardmarket_id": 100},
    {"object": "card", "id": "not yet", "oracle_id": "n", "cardmarket_id": 102},
    {"object": "card", "id": "future", "oracle_id": "f", "cardmarket_id": 999},
]  # fmt: skip
SCRYFALL_ROWS = {
    (100, "scryfall", "0000419b"), (100, "scryfall_oracle", "b34bb2dc"), (100, "tcgplayer", "558404"),
    (101, "scryfall", "rev"), (101, "scryfall_oracle", "face-1"), (101, "scryfall_oracle", "face-2"),
    (100, "scryfall", "etched"), (999, "scryfall", "future"), (999, "scryfall_oracle", "f"),
}  # fmt: skip
CARDS = [
    {"uuid": "u-1", "name": "A // B", "side": "a", "otherFaceIds": ["u-2"], "identifiers": {
        "mcmId": "100", "mcmMetaId": "7", "scryfallId": "s-1", "scryfallOracleId": "o-1", "tcgplayerProductId": "11"},
     "foreignData": [{"language": "German", "uuid": "f-1", "identifiers": {"scryfallId": "not-this"}}],
     "relatedCards": {"tokens": ["t-1"]}, "tokens": ["t-1", "t-2"]},
    {"uuid": "u-2", "name": "A // B", "side": "b", "identifiers": {"mcmId": 100, "scryfallId": "s-1"}},
    {"uuid": "u-3", "identifiers": {"mtgoId": "5", "scryfallId": "s-3"}},
]  # fmt: skip
SET = {
    "baseSetSize": 3, "booster": {"draft": {"boosters": [{"contents": {"common": 10}}]}}, "cards": CARDS,
    "code": "LEA", "tokens": [{"uuid": "t-1", "identifiers": {"mcmId": "101"}}],
    "sealedProduct": [{"uuid": "box", "identifiers": {"mcmId": "102"}}], "translations": {"German": None},
}  # fmt: skip
META = {"date": "2026-02-16", "version": "5.3.0+20260216"}
MTGJSON_ROWS = {
    (100, "mtgjson", "u-1"), (100, "scryfall", "s-1"), (100, "scryfall_oracle", "o-1"), (100, "tcgplayer", "11"),
    (100, "mtgjson", "u-2"), (101, "mtgjson", "t-1"),
}  # fmt: skip
MTGJSON = {
    "AllPrintings": {"meta": META, "data": {"LEA": SET, "EMPTY": {"cards": [], "tokens": []}}},
    "a set": {"meta": META, "data": SET},
    "AllIdentifiers": {"data": {card["uuid"]: card for card in (*CARDS, *SET["tokens"])}, "meta": META},
    "an array": [*CARDS, *SET["tokens"]],
}


def as_bulk(cards: list) -> bytes:
    """Scryfall's form: a card on each line."""
    return ("[\n" + ",\n".join(map(json.dumps, cards)) + "\n]").encode()


def as_lines(cards: list) -> bytes:
    return "".join(f"{json.dumps(card)}\n" for card in cards).encode()


@pytest.mark.parametrize(
    ("form", "compress"),
    [
        (as_bulk, bytes),
        (as_lines, gzip.compress),
        (as_bulk, bz2.compress),
        (lambda cards: json.dumps(cards, indent=1).encode(), lzma.compress),
    ],
)
def test_cards_of_scryfall(lake: Path, tmp_path: Path, form: Callable, compress: Callable) -> None:
    (tmp_path / "default-cards").write_bytes(compress(form(SCRYFALL)))
    done = ingest(lake, "--from", "scryfall", tmp_path / "default-cards")
    assert rows(lake) == SCRYFALL_ROWS
    place = f"{tmp_path}/default-cards: card"
    assert done.stdout.splitlines()[0] == (
        f"7 cards read: 3 matched, 2 without an id of the marketplace (such as {place} 3), 1 unknown to the catalogue "
        f'(such as id_product 999), 1 refused (such as {place} 6: value "not yet" of scheme "scryfall": '
        "write 1 to 200 characters without commas and blanks)"
    )


@pytest.mark.parametrize("name", MTGJSON)
def test_files_of_mtgjson(lake: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "file.json").write_text(json.dumps(MTGJSON[name]), "utf-8")
    found = counts(lake, "--from", "mtgjson", tmp_path / "file.json")
    assert rows(lake) == MTGJSON_ROWS
    assert (found["read"], found["matched"], found["without"]["count"], found["refused"]["count"]) == (4, 3, 1, 0)


def test_tables(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("value;id_product;scheme\n004;100;mine\nx y;100;mine\n5;1.5;mine\n5;100\n", "utf-8")
    lines = [
        {"id_product": 102, "scheme": "mine", "value": "é/ü"},
        {"id_product": "102", "scheme": "mine", "value": 7},
        {"id_product": 102, "scheme": "Mine", "value": "8"},
        {"id_product": 102, "scheme": "mine", "value": "a,b"},
        {"id_product": 102, "scheme": "mine", "value": " 8"},
        {"id_product": 102, "scheme": "mine", "value": ["8"]},
        {"id_product": None, "scheme": "mine", "value": "8"},
        {"id_product": 9, "scheme": "mine", "value": "é/ü"},
        7,
    ]
    (tmp_path / "b.jsonl").write_bytes(gzip.compress(as_lines(lines)))
    found = counts(lake, tmp_path / "a.csv", tmp_path / "b.jsonl")
    assert rows(lake) == {(100, "mine", "004"), (102, "mine", "é/ü"), (102, "mine", "7"), (9, "mine", "é/ü")}
    assert (found["unit"], found["read"], found["matched"], found["unknown"]["count"]) == ("line", 13, 3, 1)
    assert found["refused"]["count"] == 9 and found["refused"]["example"].startswith(f"{tmp_path}/a.csv: line 4: ")
    ingest(lake, "-", status=1)


@pytest.mark.parametrize(
    ("source", "data", "reason"),
    [
        ("scryfall", as_bulk(SCRYFALL)[:-40], "it is cut off"),
        ("scryfall", as_bulk(SCRYFALL)[:-2], "it is cut off"),
        ("scryfall", gzip.compress(as_bulk(SCRYFALL))[:-12], "ended before the end-of-stream marker"),
        ("scryfall", b"", "it has no cards"),
        ("scryfall", b"[]", "it has no cards"),
        ("scryfall", b"<html>Too many requests</html>", "it is a web page"),
        ("scryfall", b'[{"id": "\xff"}]', "utf-8"),
        ("scryfall", json.dumps(MTGJSON["AllPrintings"]).encode(), "it needs id, and one of"),
        ("scryfall", b'[{"object": "set", "id": "x"}]', "card 1: no card of Scryfall"),
        ("mtgjson", as_bulk(SCRYFALL), "it needs uuid and identifiers"),
        ("mtgjson", json.dumps(MTGJSON["AllPrintings"]).encode()[:-2], "it is cut off"),
        ("mtgjson", b'{"meta": {}, "data": {"Forest": [{"identifiers": {}}]}}', "it has no cards"),
        ("mtgjson", b'{"data": {"LEA": {"cards": [{"uuid": "u"} {}]}}}', "it is no JSON"),
        ("tcgdex", as_bulk(SCRYFALL), "it needs id, and one of"),
        ("tcgdex", b'{"id": "x", "localId": "1"} ]', "it is no JSON"),
        (None, b"", "no line has the columns"),
        (None, b"id_product,value\n1,2\n", "its header lacks scheme"),
        (None, b'{"id_product": 1, "value": "2"}\n', "no line has the columns"),
        (
            None,
            b'{"id_product": 1, "scheme": "a", "value": "2"}\n{"id_product": 1, "sch',
            "line 2 is no JSON, or cut off",
        ),
        (None, b'[{"id_product": 1, "scheme": "a", "value": "2"}]', "write each object on a line of its own"),
        (None, as_bulk(SCRYFALL), "write each object on a line of its own"),
        (None, b'id_product,scheme,value\n1,a,"b\n', "no CSV"),
    ],
)
def test_a_file_that_is_not_of_its_format(
    lake: Path, tmp_path: Path, source: str | None, data: bytes, reason: str
) -> None:
    (tmp_path / "good.csv").write_text("id_product,scheme,value\n100,mine,1\n", "utf-8")
    (tmp_path / "bad").write_bytes(data)
    before = content(lake)
    words = [tmp_path / "bad"] if source else [tmp_path / "good.csv", tmp_path / "bad"]
    refused = ingest(lake, *(("--from", source) if source else ()), "--replace", *words, status=1).stderr
    said = refused.splitlines()[-1]
    assert said.startswith(f"cardpress: {tmp_path}/bad: ") and reason in said
    assert content(lake) == before


def test_a_second_import_changes_nothing(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "cards.json").write_bytes(as_bulk([*SCRYFALL, {"id": "by-hand", "cardmarket_id": 101}]))
    first = counts(lake, "--from", "scryfall", tmp_path / "cards.json")
    assert first["tables"] == {"identifiers-imported.parquet": {"rows": 9, "new": 9, "removed": 0}}
    before = {path: path.stat().st_ino for path in lake.iterdir()}
    again = counts(lake, "--from", "scryfall", tmp_path / "cards.json")
    assert again["tables"] == {"identifiers-imported.parquet": {"rows": 9, "new": 0, "removed": 0}}
    assert {path: path.stat().st_ino for path in lake.iterdir()} == before


def test_replace_makes_the_files_the_whole_truth_of_their_schemes(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "all.json").write_bytes(as_bulk(SCRYFALL))
    (tmp_path / "own.csv").write_text("id_product,scheme,value\n100,mine,1\n100,other,1\n", "utf-8")
    ingest(lake, tmp_path / "own.csv")
    ingest(lake, "--from", "scryfall", tmp_path / "all.json")
    (tmp_path / "fewer.json").write_bytes(as_bulk(SCRYFALL[1:2]))
    found = counts(lake, "--from", "scryfall", "--replace", tmp_path / "fewer.json")
    kept = {(101, "scryfall", "rev"), (101, "scryfall_oracle", "face-1"), (101, "scryfall_oracle", "face-2")}
    assert rows(lake) == kept | {(100, "mine", "1"), (100, "other", "1")}
    assert found["tables"]["identifiers-mine.parquet"] == {"rows": 0, "new": 0, "removed": 1}
    assert "remark" in pq.read_schema(lake / "identifiers-mine.parquet").names
    (tmp_path / "own.csv").write_text("id_product,scheme,value\n101,mine,2\n", "utf-8")
    ingest(lake, "--replace", tmp_path / "own.csv")
    assert rows(lake) == kept | {(101, "mine", "2"), (100, "other", "1")}
    before = content(lake)
    ingest(lake, "--replace", tmp_path / "own.csv")
    assert content(lake) == before
