"""Tables that people keep, prices as text, and checks that contradict themselves: what is read, and what is refused."""

import codecs
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support import imports
from tests.support.commands import run

NOON = "2026-08-21T12:00:00Z"
Refused = Callable[..., str]


@pytest.fixture
def refused(lake: Path, tmp_path: Path) -> Refused:
    """Imports a text, which must be refused with one line that names the file, and leave no trace. Gives the line."""

    def refuse(kind: str, text: str | bytes, *more: object) -> str:
        path = tmp_path / "table"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        line = imports.refused(lake, kind, path, *more)
        assert line.startswith(f"cardpress: {path}: ")
        return line.removeprefix(f"cardpress: {path}: ")

    return refuse


def names(lake: Path, tmp_path: Path, text: str | bytes) -> dict[int, tuple]:
    """Import expansions, and return name, game and url of each."""
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    run("ingest", "expansions", "--lake", lake, path)
    found = pq.read_table(lake / "expansions-cardmarket.parquet").to_pylist()
    return {row["id"]: (row["name"], row["game"], row["url"]) for row in found}


TABLE = "id,name,game\n1,Blue,Magic\n2,Red,Magic\n"
SHAPES = {
    "line ends of Windows": TABLE.replace("\n", "\r\n"),
    "line ends of old Macs": TABLE.replace("\n", "\r"),
    "a mark": "\ufeff" + TABLE,
    "UTF-16 with a mark": codecs.BOM_UTF16_LE + TABLE.encode("utf-16-le"),
    "UTF-16 from the other end": codecs.BOM_UTF16_BE + TABLE.encode("utf-16-be"),
    "UTF-16 without a mark": TABLE.encode("utf-16-le"),
    "semicolons": TABLE.replace(",", ";"),
    "tabs": TABLE.replace(",", "\t"),
    "sep=": "sep=;\r\n" + TABLE.replace(",", ";"),
    "quoted sep=": '"sep=,"\n' + TABLE,
    "a blank first line": "\n" + TABLE,
    "a first line of delimiters": ",,\n" + TABLE,
    "blank lines within": TABLE.replace("\n", "\n\n,,\n"),
    "no last line end": TABLE.rstrip(),
    "capitals": TABLE.replace("id,name,game", "ID, Name ,GAME"),
    "quotes": 'id,name,game\n"1","Blue","Magic"\n"2","Red","Magic"\n',
    "gzip": gzip.compress(TABLE.encode()),
    "gzip in gzip": gzip.compress(gzip.compress(TABLE.encode())),
    "formulas": 'id,name,game\n"=""1""",Blue,Magic\n2,"=""Red""",Magic\n',
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_a_table_in_any_shape(lake: Path, tmp_path: Path, text: str | bytes) -> None:
    assert names(lake, tmp_path, text) == {1: ("Blue", "Magic", None), 2: ("Red", "Magic", None)}


NOTHING = ("NULL", "null", "N/A", "#N/A", "nan", "NaN", "undefined", "None", "-", " – ", "n.a.", "NaT")


def test_what_means_nothing_is_null_in_every_column(lake: Path, tmp_path: Path) -> None:
    lines = "".join(f"{n},Blue,{nothing},{nothing}\n" for n, nothing in enumerate(NOTHING))
    assert set(names(lake, tmp_path, f"id,name,game,url\n{lines}").values()) == {("Blue", None, None)}
    lines = "".join(f"{n},{nothing},Rare,{nothing},{nothing}\n" for n, nothing in enumerate(NOTHING))
    (tmp_path / "a.csv").write_text(f"id_product,number,rarity,image,updated_at\n{lines}")
    run("ingest", "attributes", "--lake", lake, tmp_path / "a.csv")
    rows = pq.read_table(lake / "list_pages.parquet").to_pylist()
    assert [(row["number"], row["rarity"], row["image"]) for row in rows] == [(None, "Rare", None)] * len(NOTHING)


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        ("attributes", 'id_product,name,number,rarity\n1,Kongming, "Sleeping Dragon",12,Rare\n', "line 2: 5 values"),
        ("attributes", "id_product,number,rarity\n1,2,Rare\n\n3,4\n", "line 4: 2 values, fewer than the 3 columns"),
        ("expansions", "id,name,name\n1,a,b\n", "line 1: column name stands twice, at 2 and 3"),
        ("expansions", "id,name,Name\n1,a,b\n", "line 1: column name stands twice"),
        ("expansions", "id,id_expansion,name\n1,2,b\n", "line 1: columns id and id_expansion are the same"),
        ("expansions", "id,name_en\n1,Blue\n", 'line 1: column "name_en" is not known: rename it to name'),
        ("expansions", "id,Expansion Name,game\n1,Blue,Magic\n", 'rename it to name'),
        ("attributes", "id_product,rarety\n1,Rare\n", 'column "rarety" is not known: rename it to rarity'),
        ("attributes", "cardmarket_product_id,rarity\n1,Rare\n", "rename it to id_product"),
        ("attributes", "id_product,collectorNumber\n1,4\n", "rename it to number"),
        ("expansions", "5000,Blue\n5001,Red\n", 'its header lacks id (or id_expansion, idExpansion)'),
        ("expansions", "id,name\n1,Blue\n2,Fl\xe9che\n".encode("latin-1"), "line 3: character 5 is the byte 0xe9"),
        ("expansions", 'id,name\n1,"Blue\n2,Red"\n3,Green\n', "line 2: name has a line break in it"),
        ("expansions", 'id,name\n1,"Blue\n2,Red\n', "no CSV"),
        ("expansions", 'id,name\n1,"Blue" or so\n', "line 2: no CSV"),
        ("expansions", 'id,name\n1, "Blue"\n', "line 2: name has a blank before its quote"),
        ("expansions", "id,name,\n1,Blue,x\n", 'line 2: "x" stands in a column without a name'),
        ("expansions", "id,name\n5e3,Blue\n", 'line 2: id must be an integer, not "5e3"'),
        ("expansions", "id,name\n", "it has no lines"),
        ("expansions", "id,name\n1,\n2,N/A\n", "none of its 2 lines has a value"),
        ("expansions", "id,name,game\n1,,Magic\n", "1 unknown ids skipped, because they have no name"),
        ("identifiers", "id_product,scheme,value\n1,TCGplayer,5\n2,TCGplayer,6\n", "all 2 lines were refused"),
        ("identifiers", "id_product,scheme,value\n1,a,b,c\n", "line 2: 4 values, more than the 3 columns"),
        ("identifiers", "id_product,scheme,value\n1,A,b\n", 'line 2: scheme "A": write 1 to 32 letters a-z'),
        ("identifiers", "id_product,scheme,value\n1,a,\n", "line 2: it has no value"),
        ("expansions", "id,name\n1,Blue\n2", "line 3: 1 value, fewer than the 2 columns"),
        ("attributes", "id_product,rarity\n1,Sélten\n".encode("cp1252"), "save the file as UTF-8"),
        ("attributes", "rarity\nRare\n", "line 1: its header lacks id_product (or idProduct, id)"),
        ("attributes", 'id_product,url\n1,"ftp://x"\n', "line 2: url must begin with https://"),
        ("attributes", '{"id_product": 1, "rarity": 5}\n', "line 1: rarity must be text, not 5"),
        ("attributes", "id,name\n1,Base\n", "no column of attributes: name at least one of cardmarket_url, image"),
        ("expansions", "id,name\n1,PokÃ©mon GO\n", 'line 2: character 6: "Ã©" was another letter'),
        ("expansions", "id,name\n1,Dragonâ€™s Maze\n", "line 2: character 9"),
        ("expansions", "id,name\n1,Pok\ufffdmon GO\n", 'write the file again as UTF-8'),
        ("expansions", "id,name\n1,Bl\0ue\n", "line 2: character 5"),
        ("expansions", "id,name\n1,#####\n", "line 2: name is \"#####\": widen the column"),
        ("expansions", "id,name\n1,=VLOOKUP(A2;B:C;2;0)\n", "line 2: name is a formula: save the table with"),
        ("attributes", "id_product,number\n1,12.0\n", 'line 2: number "12.0" is what a program made of a number'),
        ("attributes", "id_product,number\n1,1E+05\n", "write it as on the card"),
        ("expansions", "id,name\n1234567890123456789,Blue\n", "line 2: id must be an integer of at most 18 digits"),
        ("expansions", b"PK\x03\x04\x14", "it is a zip archive or a spreadsheet: unpack it, or save it as CSV"),
        ("expansions", b"\0" * 4096, "it is filled with zeros, as a crash leaves it"),
        ("attributes", "\n<!DOCTYPE html><html>", "it is a web page, perhaps of an error: download the file again"),
        ("attributes", "version https://git-lfs.github.com/spec/v1\n", "run `git lfs pull`"),
        ("expansions", gzip.compress(b"PAR1", mtime=0), "it is Parquet: give CSV or JSON"),
        ("expansions", '{"version": 1, "expansions": []}', "`cardpress ingest cardmarket --lake LAKE --expansions "),
        ("expansions", '{"id": 1, "name": }\n', "line 1: not JSON: Expecting value at character 19"),
        ("identifiers", '[\n{"id_product": 1}]', "write each object on a line of its own"),
        ("identifiers", "id_product,scheme,value\n1,a," + "b" * (1 << 20), "more than 1,048,576 bytes: repair it\n"),
    ],
)  # fmt: skip
def test_a_table_that_would_be_guessed_at(refused: Refused, kind: str, text: str | bytes, says: str) -> None:
    assert says in f"{refused(kind, text)}\n"


def test_columns_of_others_are_ignored_and_named(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id_product,number,number_source,first_seen\n1,004,tcgdex,2026-01-01\n")
    said = run("ingest", "attributes", "--lake", lake, tmp_path / "a.csv").stderr
    assert "ignored: first_seen, number_source" in said
    assert pq.read_table(lake / "list_pages.parquet")["number"].to_pylist() == ["004"]
    (tmp_path / "a.csv").write_text("id_product,number,\n1,005,\n")
    assert "ignored" not in run("ingest", "attributes", "--lake", lake, tmp_path / "a.csv").stderr


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        ("expansions", "id,name\n1,Blue\n1,Red\n", 'name of 1: "Blue", "Red"'),
        (
            "attributes",
            "id_product,number,rarity\n1,004,Rare\n1,005,Rare\n2,004,\n2,,Rare\n",
            'number of 1: "004", "005"',
        ),
    ],
)
def test_two_values_of_one_thing_are_reported(lake: Path, tmp_path: Path, kind: str, text: str, says: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    said = run("ingest", kind, "--lake", lake, tmp_path / "t.csv").stderr
    assert f"1 values are given in several ways, such as {says}" in said


def pages(tmp_path: Path, *prices: str) -> Path:
    path = tmp_path / "pages.jsonl"
    rows = ({"id": n, "scraped_at": NOON, "from_price": price} for n, price in enumerate(prices, 1))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        (["0.700", "6.820", "12.50"], [0.7, 6.82, 12.5]),
        (["6.820 €", "12,50 €"], [6820, 12.5]),
        (["6,820", "12.50"], [6820, 12.5]),
        (["1.234", "1.234.567"], [1234, 1234567]),
        (["1,234", "1.234.567"], [1.234, 1234567]),
        (["1.234", "1,234.56"], [1.234, 1234.56]),
        (["6.820", "2.500,00"], [6820, 2500]),
        (["6,820", "0,125"], [6.82, 0.125]),
        (["12.50", "0,02 €"], [12.5, 0.02]),
        (["0,02\u200b€", "\u200e1,50 €", "\ufeff3,00\u00ad"], [0.02, 1.5, 3]),
        (["1\u202f234,50 €", "12 345 EUR"], [1234.5, 12345]),
    ],
)
@pytest.mark.thorough
def test_one_rule_of_prices_for_a_file(lake: Path, tmp_path: Path, written: list[str], stored: list[float]) -> None:
    for folder, step in ((lake, 1), (lake.with_name("backwards"), -1)):
        run("ingest", "list-pages", "--lake", folder, pages(tmp_path, *written[::step]))
        [file] = folder.glob("listings/*/*.parquet")
        assert pq.read_table(file, partitioning=None)["from_price"].to_pylist() == stored[::step]


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (["6.820"], 'line 1: from_price "6.820" may be 6.82 or 6820, and the file does not show which'),
        (["5", "1,234 €"], 'line 2: from_price "1,234 €" may be 1.234 or 1234'),
        (["12.50", "0,02", "6.820"], 'line 3: from_price "6.820" may be 6.82 or 6820'),
        (["6.820", "12.50"], 'line 1: "6.820": the point stands before three digits, as between thousands, and is the'),
        (["1.234,56", "12.50"], 'the point is the decimal mark in "12.50" of line 2, and stands between thousands in'),
        (["12.50", "1.234.567"], "write all prices alike"),
        (["1 23,00"], "is no price"),
        (["1,234 €", "2,50 €"], 'line 1: "1,234 €": the comma stands before three digits'),
        (["ab 0,02 €"], "is no price"),
        (["12,50 CHF"], "is no price"),
    ],
)
def test_prices_with_two_readings(refused: Refused, tmp_path: Path, written: list[str], says: str) -> None:
    assert says in refused("list-pages", pages(tmp_path, *written).read_bytes())


def test_prices_of_offers_follow_the_rule_of_their_file(lake: Path, tmp_path: Path) -> None:
    listed = [{"price": text, "condition": "NM", "seller": "anna"} for text in ("6.820", "0.700")]
    path = tmp_path / "o.jsonl"
    path.write_text(json.dumps({"id_product": 1, "checked_at": NOON, "lowest": "1.234", "offer_list": listed}) + "\n")
    run("ingest", "offers", "--lake", lake, path)
    [row] = pq.read_table(next(lake.glob("filtered_checks/*/*")), partitioning=None).to_pylist()
    assert (row["lowest"], [offer["price"] for offer in row["offer_list"]]) == (1.234, [6.82, 0.7])


def offer(**more: object) -> dict:
    return {"price": 5, "condition": "NM", "seller": "anna"} | more


def checks(**values: object) -> str:
    return json.dumps({"id_product": 1, "slug": "a", "checked_at": NOON} | values) + "\n"


@pytest.mark.parametrize(
    ("kind", "values", "says"),
    [
        ("offers", {"offers": 7, "offer_list": []}, "line 1: offers is 7, but offer_list has 0"),
        ("offers", {"offers": 0, "offer_list": [offer()]}, "line 1: offers is 0, but offer_list has 1"),
        ("offers", {"offers": 1, "offer_list": [offer(), offer()]}, "offers is 1, but offer_list has 2"),
        ("offers", {"offers": 0, "lowest": 3}, "offers is 0, but lowest is 3"),
        ("offers", {"offers": 7, "article": []}, "offers is 7, but offer_list has 0"),
        ("watch-checks", {"num_offers": 7, "offer_list": []}, "num_offers is 7, but offer_list has 0"),
        ("watch-checks", {"num_offers": 0, "lowest_price": "3,00"}, "num_offers is 0, but lowest_price is 3"),
        ("watch-checks", {"offer_list": [], "lowest_price": 3}, "offer_list has 0, but lowest_price is 3"),
        ("watch-checks", {"num_offers": 0, "offer_list": [offer()]}, "num_offers is 0, but offer_list has 1"),
    ],
)
def test_a_check_that_contradicts_itself(
    refused: Refused, lake: Path, tmp_path: Path, kind: str, values: dict, says: str
) -> None:
    line = refused(kind, checks(**values))
    assert says in line and "--accept contradiction" in line
    accepted = run("ingest", kind, "--lake", lake, tmp_path / "table", "--accept", "contradiction", "--json")
    assert json.loads(accepted.stdout)["contradiction"] == 1


def test_a_list_may_be_shorter_than_its_count(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "o").write_text(
        checks(offers=300, offer_list=[offer()]) + checks(id_product=2, offers=0, offer_list=[])
    )
    run("ingest", "offers", "--lake", lake, tmp_path / "o")


def test_prices_of_the_marketplaces_api_are_euros(lake: Path, tmp_path: Path) -> None:
    articles = [offer() | {"currencyCode": "GBP", "price": 1, "priceEUR": 1.17}, offer() | {"currencyCode": "EUR"}]
    (tmp_path / "o").write_text(checks(article=articles, offer_list=None))
    run("ingest", "offers", "--lake", lake, tmp_path / "o")
    [row] = pq.read_table(next(lake.glob("filtered_checks/*/*")), partitioning=None).to_pylist()
    assert [found["price"] for found in row["offer_list"]] == [1.17, offer()["price"]]


def test_the_commonest_unknown_conditions_are_named(lake: Path, tmp_path: Path) -> None:
    odd = [offer(condition=text) for text in ("Bent", "Torn", "Bent", "NM")]
    (tmp_path / "o").write_text(checks(offer_list=odd))
    said = run("ingest", "offers", "--lake", lake, tmp_path / "o").stderr
    assert '3 offers have a condition that is none of the seven: "Bent" (2), "Torn" (1)' in said


def test_articles_of_the_marketplaces_api_are_offers(lake: Path, tmp_path: Path) -> None:
    seller = {"idUser": 9, "username": "anna", "name": {"firstName": "A"}}
    article = {"idArticle": 1, "price": 0.15, "condition": "NM", "count": 3, "seller": seller, "comments": "bent"}
    (tmp_path / "o").write_text(checks(offer_list=[article]))
    (tmp_path / "a").write_text(checks(id_product=2, article=[article]))
    run("ingest", "offers", "--lake", lake, tmp_path / "o", tmp_path / "a")
    run("ingest", "watch-checks", "--lake", lake, tmp_path / "o")
    for row in pq.read_table(next(lake.glob("filtered_checks/*/*")), partitioning=None).to_pylist():
        assert row["offer_list"] == [{"price": 0.15, "condition": "NM", "quantity": 3, "seller": "anna"}]
    [row] = pq.read_table(next(lake.glob("watch_checks/*/*")), partitioning=None).to_pylist()
    wanted = {"seller": "anna", "condition": "NM", "quantity": "3", "price": 0.15, "comment": "bent"}
    assert row["offer_list"] == [wanted]


@pytest.mark.parametrize("lacks", [{"price": None}, {"seller": {"id": 1}}, {"condition": "Bent"}, {"condition": None}])
def test_a_file_in_which_every_offer_is_incomplete(refused: Refused, lacks: dict) -> None:
    assert "each of its 2 offers lacks one of price, seller, condition" in refused(
        "offers", checks(offer_list=[offer(**lacks), offer(**lacks)])
    )
