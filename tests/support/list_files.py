"""A collection over the lake of `value_lake`, and the files that apps export of it."""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.support.value_lake import NAMES, OLD, SETS, SHINY, UNPRICED, YOUNG


@dataclass(frozen=True)
class Owned:
    """A line of a collection."""

    id: int
    quantity: int
    foil: bool = False

    @property
    def name(self) -> str:
        return NAMES[self.id][0]

    @property
    def set(self) -> str:
        return SETS[NAMES[self.id][1]]

    @property
    def number(self) -> str:
        return NAMES[self.id][2] or ""


COLLECTION = [
    Owned(1, 2), Owned(2, 1), Owned(3, 4), Owned(4, 1), Owned(5, 3), Owned(6, 1), Owned(7, 1), Owned(8, 2),
    Owned(YOUNG, 2), Owned(OLD, 1), Owned(UNPRICED, 5), Owned(SHINY, 2, foil=True), Owned(3, 1, foil=True),
]  # fmt: skip


def table(
    separator: str, columns: list[str], rows: Iterable[Iterable[object]], quoting: int = csv.QUOTE_MINIMAL
) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, quoting=quoting).writerows([columns, *rows])
    return text.getvalue()


def stock(lines: list[Owned]) -> bytes:
    columns = (
        "idArticle;idProduct;English Name;Local Name;Exp.;Exp. Name;Price;Language;Condition;Foil?;Signed?;Playset?;"
        "Altered?;Comments;Amount;onSale"
    )
    rows = [
        [
            n,
            one.id,
            one.name,
            one.name,
            "",
            one.set,
            "1.234,50",
            1,
            "NM",
            "X" * one.foil,
            "",
            "",
            "",
            'Très "beau"; oui',
            one.quantity,
            1,
        ]
        for n, one in enumerate(lines)
    ]
    return table(";", columns.split(";"), rows, csv.QUOTE_ALL).encode("cp1252")


def manabox(lines: list[Owned]) -> bytes:
    columns = (
        "Name,Set code,Set name,Collector number,Foil,Rarity,Quantity,ManaBox ID,Scryfall ID,Purchase price,Misprint,"
        "Altered,Condition,Language,Purchase price currency"
    )
    rows = [
        [
            one.name,
            "XXX",
            one.set,
            one.number,
            "foil" if one.foil else "normal",
            "rare",
            one.quantity,
            1,
            "a",
            0.5,
            "false",
            "false",
            "near_mint",
            "en",
            "EUR",
        ]
        for one in lines
    ]
    return b"\xef\xbb\xbf" + table(",", columns.split(","), rows).encode()


def moxfield(lines: list[Owned]) -> bytes:
    """It has codes of sets, which the catalogue does not know: names and numbers decide."""
    columns = (
        "Count,Tradelist Count,Name,Edition,Condition,Language,Foil,Tags,Last Modified,Collector Number,Alter,Proxy,"
        "Purchase Price"
    )
    rows = [
        [
            one.quantity,
            0,
            one.name,
            "xxx",
            "Near Mint",
            "English",
            "foil" * one.foil,
            "",
            "2026-01-01 00:00:00.000000",
            one.number.lstrip("0"),
            "False",
            "False",
            "",
        ]
        for one in lines
    ]
    return table(",", columns.split(","), rows, csv.QUOTE_ALL).encode()


def dragon_shield(lines: list[Owned]) -> bytes:
    columns = (
        "Folder Name,Quantity,Trade Quantity,Card Name,Set Code,Set Name,Card Number,Condition,Printing,Language,"
        "Price Bought,Date Bought,LOW,MID,MARKET"
    )
    rows = [
        [
            "Mine",
            one.quantity,
            0,
            one.name.partition(" [")[0],
            "X",
            one.set,
            one.number and f"{one.number} / 196",
            "NearMint",
            "Foil" if one.foil else "Normal",
            "English",
            "0.10",
            "2026-04-06",
            "0.01",
            "0.15",
            "0.10",
        ]
        for one in lines
    ]
    return b'"sep=,"\r\n' + table(",", columns.split(","), rows).encode()


def spreadsheet(lines: list[Owned]) -> bytes:
    """Cells as they are pasted, in an order of one's own."""
    rows = [["yes" if one.foil else "no", f"{one.quantity},0", one.id] for one in reversed(lines)]
    return table("\t", ["foil", "qty", "ID Product"], rows).encode("utf-16")


def deck(lines: list[Owned]) -> bytes:
    text = [
        f"{one.quantity}x {one.name.partition(' [')[0]} ({one.set}) {one.number}{' *F*' * one.foil}" for one in lines
    ]
    return "\r\n".join(["// Mine", "Deck:", *text, "", "Sideboard"]).encode("cp1252")


FORMATS: dict[str, Callable[[list[Owned]], bytes]] = {
    "Cardmarket stock": stock,
    "ManaBox": manabox,
    "Moxfield": moxfield,
    "Dragon Shield": dragon_shield,
    "a table": spreadsheet,
    "a plain list": deck,
}
