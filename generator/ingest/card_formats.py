"""The formats from which ids of other catalogues are imported (docs/ingest.md).

A format of cards says where the cards stand in a file, and what each card says: the ids of the marketplace, and its own
ids by scheme. Lines name a product, a scheme and a value. Values are texts, or integers, which become texts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from generator.ingest.streams import JsonStream
from generator.ingest.values import InvalidValue, is_missing, parse_id, quoted_json
from generator.lake.tables import LONGEST_TEXTS

SET_NUMBER = "set_number"  # `2xm/141`: the set's code in lower case, and the number as the catalogue has it
_MTGJSON_SCHEMES = {
    "scryfallId": "scryfall",
    "scryfallOracleId": "scryfall_oracle",
    "tcgplayerProductId": "tcgplayer",
    "tcgplayerEtchedProductId": "tcgplayer",
    "tcgplayerAlternativeFoilProductId": "tcgplayer",
}
_SCRYFALL_TCGPLAYER = ("tcgplayer_id", "tcgplayer_etched_id")
_MTGJSON_LISTS = ("cards", "tokens")  # of a set
_VALUE = re.compile(r"[^,\s\x00-\x1f\x7f-\x9f]+")
_MAX_VALUE = 200
# A card has some of these members.
_SCRYFALL_MEMBERS = {"cardmarket_id", "oracle_id", "card_faces", "tcgplayer_id"}
_TCGDEX_MEMBERS = {"localId", "thirdParty", "variants_detailed", "pricing"}
# A card with one of these members is printed, and sold, under another name.
_REPRINTED = {"flavor_name", "flavorName", "faceFlavorName"}

Card = dict[str, Any]


class Identified(NamedTuple):
    """The products of a card or line, its ids (pairs of a scheme and a value), and the name of a card."""

    products: list[int]
    ids: list[tuple[str, str]]
    name: str | None = None


class CardFormat(NamedTuple):
    """A format of files of cards."""

    name: str
    schemes: tuple[str, ...]  # those of its ids, its own first
    cards: Callable[[JsonStream], Iterator[Any]]  # yields also what is no card, or no object
    identify: Callable[[Card], Identified]  # raises InvalidValue for what is no card, and for a wrong value
    # Of a set, the codes that are printed on its cards, in lower case, by that of the catalogue itself.
    codes: Callable[[Card], dict[str, list[str]]] = lambda card: {}


def identify_line(line: Card) -> Identified:
    """Return what a line says. Raise InvalidValue if a value is wrong or absent."""
    product = _product(line.get("id_product"), "id_product")
    scheme, value = (_text(line.get(name), name) for name in ("scheme", "value"))
    if product is None or scheme is None or value is None:
        missing = [name for name in ("id_product", "scheme", "value") if line.get(name) in (None, "")]
        raise InvalidValue(f"it has no {', '.join(missing) or 'value'}")
    return Identified([product], [(scheme, value)])


def _documents(stream: JsonStream, objects: Callable[[JsonStream], Iterator[Any]] | None = None) -> Iterator[Any]:
    """Yield the items of each array, and each document that is none; of an object what `objects` yields."""
    while first := stream.peek():
        if first == "[":
            yield from (stream.value() for _ in stream.items())
        elif first == "{" and objects:
            yield from objects(stream)
        else:
            yield stream.value()


def _scryfall_page_or_card(stream: JsonStream) -> Iterator[Any]:
    """Yield the cards of a page of a search, an object with the list `data`, or the card that an object is."""
    members, is_page = {}, False
    for name in stream.members():
        if name == "data" and stream.peek() == "[":
            is_page = True
            yield from (stream.value() for _ in stream.items())
        else:
            members[name] = stream.value()
    if not is_page:
        yield members


def _mtgjson_file(stream: JsonStream) -> Iterator[Any]:
    """Yield the cards of a file of sets (AllPrintings), of one set, or of cards by their ids (AllIdentifiers)."""
    for name in stream.members():
        if name == "data" and stream.peek() == "{":
            yield from _mtgjson_cards(stream, is_data=True)
        else:
            stream.value()


def _mtgjson_cards(stream: JsonStream, *, is_data: bool = False) -> Iterator[Any]:
    """Yield the cards of a set, or the card that an object is, whose tokens are a list of uuids. A set has no uuid."""
    members = {}
    for name in stream.members():
        first = stream.peek()
        if first == "[" and name in _MTGJSON_LISTS:
            items = (stream.value() for _ in stream.items())
            yield from (item for item in items if isinstance(item, dict))
        elif first == "{" and is_data:
            yield from _mtgjson_cards(stream)
        else:
            members[name] = stream.value()
    if "uuid" in members and not is_data:
        yield members


def _scryfall(card: Card) -> Identified:
    own = _text(card.get("id"), "id")
    if own is None or card.get("object", "card") != "card" or not _SCRYFALL_MEMBERS & card.keys():
        raise InvalidValue(f"no card of Scryfall: it needs id, and one of {', '.join(sorted(_SCRYFALL_MEMBERS))}")
    parts = [card] if card.get("oracle_id") else _objects(card.get("card_faces"))
    oracles = [_text(part.get("oracle_id"), "oracle_id") for part in parts]
    ids = [("scryfall", own), *(("scryfall_oracle", oracle) for oracle in oracles)]
    ids += [("tcgplayer", _text(card.get(key), key)) for key in _SCRYFALL_TCGPLAYER]
    ids += set_number(card.get("set"), card.get("collector_number"))
    return _identified(card, [card.get("cardmarket_id")], ids)


def _mtgjson(card: Card) -> Identified:
    own, others = _text(card.get("uuid"), "uuid"), card.get("identifiers")
    if own is None or not isinstance(others, dict):
        raise InvalidValue("no card of MTGJSON: it needs uuid and identifiers")
    ids = [("mtgjson", own), *((scheme, _text(others.get(key), key)) for key, scheme in _MTGJSON_SCHEMES.items())]
    ids += set_number(card.get("setCode"), card.get("number"))
    return _identified(card, [others.get("mcmId")], ids)


def _tcgdex(card: Card) -> Identified:
    own = _text(card.get("id"), "id")
    if own is None or not _TCGDEX_MEMBERS & card.keys():
        raise InvalidValue(f"no card of TCGdex: it needs id, and one of {', '.join(sorted(_TCGDEX_MEMBERS))}")
    # The ids of the marketplace stand at the card and at each variant, in one of two places or in both.
    printings = [card, *_objects(card.get("variants_detailed"))]
    places = [("thirdParty", "cardmarket"), ("pricing", "cardmarket", "idProduct")]
    products = [member(one, *place) for one in printings for place in places]
    number = card.get("localId")
    set_code = member(card, "set", "id")
    return _identified(card, products, [("tcgdex", own), *set_number(set_code, number)])


def _tcgdex_codes(set_: Card) -> dict[str, list[str]]:
    own = set_.get("id")
    if not isinstance(own, str) or not isinstance(set_.get("cards"), list):
        return {}
    found = (member(set_, "abbreviation", "official"), set_.get("tcgOnline"))
    printed = (code.lower() for code in found if isinstance(code, str) and is_value(code) and "/" not in code)
    return {own: list(dict.fromkeys(printed))}


def set_number(code: Any, number: Any) -> list[tuple[str, str | None]]:
    """Return the id of a card by its set and number, as a list: empty if one is missing or breaks the rule of ids."""
    texts = [str(part) if type(part) is int else part for part in (code, number)]
    if not all(isinstance(text, str) and text for text in texts):
        return []
    value = f"{texts[0].lower()}/{texts[1]}"
    return [(SET_NUMBER, value)] if is_value(value) else []


def is_value(text: str) -> bool:
    """Return whether a text may be an id."""
    return len(text) <= _MAX_VALUE and _VALUE.fullmatch(text) is not None


CARD_FORMATS: Mapping[str, CardFormat] = {
    "scryfall": CardFormat(
        "Scryfall",
        ("scryfall", "scryfall_oracle", "tcgplayer", SET_NUMBER),
        partial(_documents, objects=_scryfall_page_or_card),
        _scryfall,
    ),
    "mtgjson": CardFormat(
        "MTGJSON",
        ("mtgjson", *dict.fromkeys(_MTGJSON_SCHEMES.values()), SET_NUMBER),
        partial(_documents, objects=_mtgjson_file),
        _mtgjson,
    ),
    "tcgdex": CardFormat("TCGdex", ("tcgdex", SET_NUMBER), _documents, _tcgdex, _tcgdex_codes),
}


def _identified(card: Card, products: Iterable[Any], ids: Iterable[tuple[str, str | None]]) -> Identified:
    name = None if any(map(card.get, _REPRINTED)) else card.get("name")
    values = (one for value in products for one in (value if isinstance(value, list) else [value]))
    found = [_product(value, "the id of the marketplace") for value in values]
    return Identified(
        list(dict.fromkeys(product for product in found if product is not None)),
        [(scheme, value) for scheme, value in ids if value is not None],
        name[: LONGEST_TEXTS["name"]].encode("utf-8", "replace").decode() if isinstance(name, str) else None,
    )


def member(value: Any, *names: str) -> Any:
    """Return a member of a member of an object, None where one of the objects is no object."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _objects(value: Any) -> list[Card]:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [member for member in members if isinstance(member, dict)]


def _product(value: Any, name: str) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:20])
    return parse_id(value if value != "" else None, name)


def _text(value: Any, name: str) -> str | None:
    if is_missing(value):
        return None
    if type(value) is int:
        return str(value)
    if not isinstance(value, str):
        raise InvalidValue(f"{name} must be text or an integer, not {quoted_json(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidValue(f"{name} holds half of a surrogate pair") from None
    return value
