"""A collection over the lake of `value_lake`, and the files that apps export of it."""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.support.value_lake import NAMES, OLD, SETS, SHINY, UNPRICED, YOUNG


@dataclass(frozen=True)
class Owned:
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
    price, note = "1.234,50", 'Très "beau"; oui'
    rows = [
        [n, one.id, *[one.name] * 2, "", one.set, price, 1, "NM", "X" * one.foil, *[""] * 3, note, one.quantity, 1]
        for n, one in enumerate(lines)
    ]
    return table(";", columns.split(";"), rows, csv.QUOTE_ALL).encode("cp1252")


@dataclass(frozen=True)
class App:
    """How an app writes a table: the names of its columns, a row, and its words for the two finishes.

    A row has places for `name` (up to its brackets), `set`, `number`, `quantity` and `finish`.
    """

    columns: str
    row: str
    finishes: tuple[str, str]
    before: str = ""

    def __call__(self, lines: list[Owned]) -> bytes:
        rows = csv.reader(self.row for _ in lines)
        filled = [[cell.format(**self._values(one)) for cell in row] for one, row in zip(lines, rows, strict=True)]
        return self.before.encode() + table(",", self.columns.split(","), filled).encode()

    def _values(self, one: Owned) -> dict[str, object]:
        name = one.name.partition(" [")[0]
        return {**vars(one), "name": name, "set": one.set, "number": one.number, "finish": self.finishes[one.foil]}


APPS = {
    "ManaBox": App(
        "Name,Set code,Set name,Collector number,Foil,Rarity,Quantity,ManaBox ID,Scryfall ID,Purchase price,Misprint,"
        "Altered,Condition,Language,Purchase price currency",
        "{name},XXX,{set},{number},{finish},rare,{quantity},1,a,0.5,false,false,near_mint,en,EUR",
        ("normal", "foil"),
        "\ufeff",
    ),
    "Moxfield": App(  # its codes of sets are none that the catalogue knows: names and numbers decide
        "Count,Tradelist Count,Name,Edition,Condition,Language,Foil,Tags,Last Modified,Collector Number,Alter,Proxy,"
        "Purchase Price",
        "{quantity},0,{name},xxx,Near Mint,English,{finish},,2026-01-01 00:00:00.000000,{number},False,False,",
        ("", "foil"),
    ),
    "Dragon Shield": App(
        "Folder Name,Quantity,Trade Quantity,Card Name,Set Code,Set Name,Card Number,Condition,Printing,Language,"
        "Price Bought,Date Bought,LOW,MID,MARKET",
        "Mine,{quantity},0,{name},X,{set},{number} / 196,NearMint,{finish},English,0.10,2026-04-06,0.01,0.15,0.10",
        ("Normal", "Foil"),
        '"sep=,"\r\n',
    ),
    "Dragon Shield’s app": App(
        "Quantity,Name,CardNumber,Expansion Code,Expansion Name,PurchasePrice,Foil,Condition,Language,PurchaseDate",
        "{quantity},{name},{number},XXX,{set},0.5,{finish},NearMint,English,2026-04-06",
        ("false", "true"),
    ),
    "Deckbox": App(
        "Count,Tradelist Count,Name,Edition,Edition Code,Card Number,Condition,Language,Foil,Signed,Artist Proof,"
        "Altered Art,Misprint,Promo,Textless,Printing Id,Printing Note,Tags,My Price,Cost,Rarity,Price,TcgPlayer ID",
        "{quantity},0,{name},{set},XXX,{number},Near Mint,English,{finish},,,,,,,1,,,,{{1}}{{G}},Rare,$0.50,",
        ("", "foil"),
    ),
    "TCGplayer": App(
        "Quantity,Name,Simple Name,Set,Card Number,Set Code,Printing,Condition,Language,Rarity,Product ID,SKU",
        "{quantity},{name} ({number}),{name},{set},{number},XXX,{finish},Near Mint,English,Rare,0,0",
        ("Normal", "Foil"),
    ),
    "TCGplayer’s stock": App(
        "TCGplayer Id,Product Line,Set Name,Product Name,Title,Number,Rarity,Condition,TCG Market Price,Total Quantity",
        "1,Magic,{set},{name},,{number},R,{finish},0.5,{quantity}",
        ("Near Mint", "Near Mint Foil"),
    ),
    "Archidekt": App(
        "Quantity,Name,Finish,Condition,Date Added,Language,Purchase Price,Tags,Edition Name,Edition Code,"
        "Multiverse Id,Scryfall ID,MTGO ID,Collector Number",
        "{quantity},{name},{finish},NM,2026-04-06,EN,,,{set},xxx,0,,0,{number}",
        ("Normal", "Foil"),
    ),
    "Collectr": App(
        "Portfolio Name,Category,Set,Product Name,Card Number,Rarity,Variance,Grade,Card Condition,Average Cost Paid,"
        "Quantity,Market Price (As of 2026-08-22),Price Override,Watchlist,Date Added,Notes",
        "Main,Magic,{set},{name},{number},Rare,{finish},Ungraded,Near Mint,0,{quantity},71.20,0,false,2026-05-02,",
        ("Normal", "Holofoil"),
    ),
    "YGOPRODeck": App(
        "cardname,cardq,cardrarity,card_condition,card_edition,cardset,cardcode,cardid,print_id",
        "{name},{quantity},Common{finish},Near Mint,Unlimited,{set},XXX-EN{number},16768387,21779",
        ("", ""),
    ),
    "Delver Lens": App(
        "QuantityX,Name,Edition,Edition code,Collector's number,Foil,Scryfall ID,Acquired Price,List name",
        "{quantity}x,{name},{set},xxx,{number},{finish},,$13.94,Mine",
        ("", "Foil"),
    ),
    "a table": App(
        "Card,Set ID,Set Name,Quantity,Foil,Number",
        "{name},xxx,{set},{quantity},{finish},{number}",
        ("REGULAR", "FOIL"),
    ),
}  # fmt: skip


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
    **APPS,
    "Cardmarket stock": stock,
    "a table of columns of one’s own": spreadsheet,
    "a plain list": deck,
}
