"""Imports names of expansions from the lists of sets and cards that other catalogues publish (docs/ingest.md).

The surest reading of the files counts: the marketplace's own names by id, then a set with such an id, then cards whose
ids of the marketplace are products of the expansion, then the name and the number of cards. An expansion that has a
name keeps it. One without a sure name stays without, and the names that it may have are said.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from generator.errors import IngestError
from generator.ingest.card_formats import CARD_FORMATS, member
from generator.ingest.formats import check_length
from generator.ingest.lines import as_table
from generator.ingest.pipeline import FileChange, ImportFiles, OnRead
from generator.ingest.products import GAMES, CatalogueUpdate
from generator.ingest.streams import FileLimits, JsonStream, open_bounded
from generator.ingest.table_files import EXPANSIONS_FILE, select
from generator.ingest.values import parse_id, parse_text, quoted_json
from generator.lake.table_writer import LakeWriter

_PAIR = re.compile(r"""\[\s*(["'])((?:\\.|(?!\1).)+)\1\s*,\s*([0-9]+)\s*\]""")  # ['Champion\'s Path', 3419]
_ESCAPED = re.compile(r"\\(.)")
_BY_LIST, _BY_ID, _BY_CARD, _BY_NAME = range(4)  # the surest first
_GIVEN = pa.schema(
    [
        ("rank", pa.int8()),
        ("name", pa.string()),
        *((name, pa.int64()) for name in ("id_expansion", "id_product", "cards")),
    ]
)

_Given = tuple[int, str, int | None, int | None, int | None]


class SetFormat(NamedTuple):
    """The game of a catalogue, and under which members its sets have their number of cards, its cards their set."""

    game: str
    cards: tuple[str, ...]  # what has it is a set
    set_of_card: tuple[str, ...]


SET_FORMATS = {
    "tcgdex": SetFormat(GAMES[6], ("cardCount", "total"), ("set", "name")),
    "scryfall": SetFormat(GAMES[1], ("card_count",), ("set_name",)),
}


@dataclass
class SetLists(ImportFiles):
    """Lists of sets or cards of a catalogue."""

    catalogue: str
    paths: Sequence[Path]
    limits: FileLimits
    named: int = field(default=0, init=False)
    left: int = field(default=0, init=False)  # expansions that still have no name
    candidates: dict[int, list[str]] = field(default_factory=dict, init=False)  # what may be the names of some of them
    _given: list[_Given] = field(default_factory=list, init=False)

    @property
    def summary(self) -> str:
        return f"{len(self._given):,} names read: {self.named:,} expansions named, {self.left:,} left"

    @property
    def counts(self) -> dict[str, object]:
        return {"read": len(self._given), "named": self.named, "left": self.left, "candidates": self.candidates}

    def read(self, on_read: OnRead) -> None:
        """Read the names. Raise IngestError for a file that has none, or a wrong value."""
        for path in self.paths:
            before = len(self._given)
            try:
                with open_bounded(path, self.limits) as file:
                    is_source = file.peek(1)[:1].isalpha()  # `export const …`, and no JSON
                    self._given += _listed(file.read().decode()) if is_source else self._described(JsonStream(file))
                if len(self._given) == before:
                    raise ValueError("it names no set")
            except ValueError as error:
                raise IngestError(f"{path}: no list of {CARD_FORMATS[self.catalogue].name}'s: {error}") from None
            on_read(path)

    def _described(self, stream: JsonStream) -> Iterator[_Given]:
        """Yield what sets and cards say. A card without a set or a product says nothing."""
        cards_format, format_ = CARD_FORMATS[self.catalogue], SET_FORMATS[self.catalogue]
        for one in cards_format.cards(stream):
            if (cards := parse_id(member(one, *format_.cards), "the number of cards")) is not None:
                id_ = parse_id(member(one, "thirdParty", "cardmarket"), "the id of the marketplace")
                if name := _name(member(one, "name")):
                    yield _BY_NAME if id_ is None else _BY_ID, name, id_, None, cards
            elif name := _name(member(one, *format_.set_of_card)):
                yield from ((_BY_CARD, name, None, product, None) for product in cards_format.identify(one).products)

    def merge(self, lake: LakeWriter) -> Iterator[FileChange]:
        """Yield the expansions, with the names that are sure."""
        tables = {name: lake.read_all(name) for name in ("products", "expansions")}
        game = {"params": {"game": SET_FORMATS[self.catalogue].game}}
        found = select("set_names", game, given=as_table(self._given, _GIVEN), **tables).to_pylist()
        sure = {row["id"]: row["sure"][0] for row in found if len(row["sure"]) == 1}
        # Without a time: a name of the marketplace goes before.
        incoming = as_table(((*each, None) for each in sure.items()), EXPANSIONS_FILE.imported_schema)
        catalogue = CatalogueUpdate(lake, expansions=[incoming])
        catalogue.complete()
        self.named = len(sure)
        self.left = len(select("unnamed", expansions=catalogue.expansions.after))
        self.candidates = {row["id"]: row["names"] for row in found if row["id"] not in sure}
        said = ((id_, " or ".join(map(quoted_json, names))) for id_, names in self.candidates.items())
        self.remarks += [f"expansion {id_} stays without a name; it may be {names}" for id_, names in said]
        yield catalogue.expansions.change()


def _listed(source: str) -> Iterator[_Given]:
    """Yield the pairs of a name and the id of an expansion in the source of a program."""
    for _, text, id_ in _PAIR.findall(source):
        if name := _name(_ESCAPED.sub(r"\1", text)):
            yield _BY_LIST, name, parse_id(int(id_), "the id of the marketplace"), None, None


def _name(value: Any) -> str | None:
    name = parse_text(value, "name")
    if name:
        check_length("expansions", "name", name)
    return name
