"""What may be meant where a search finds nothing: what stands nowhere, and other searches that find something.

Nothing here changes what a search finds.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from edge_auth.errors import InvalidParameter, NotFound
from edge_auth.search.query import ProductsQuery, filter_key, read_search, set_rows
from edge_auth.search.ranking import mask_of
from generator.storage.catalogue import TEXT_FILTERS, Catalogue
from generator.storage.meanings import Meanings
from generator.storage.text import words

_MOST_OFFERS, _MOST_TRIED, _MOST_WORDS = 3, 8, 12
_MAX_BYTES = 1500  # of the header: proxies refuse large ones
_WIDEST = {"set": None, "kind": "all", "min_price": None, "max_price": None, "number": None, "rarity": None}
Change: TypeAlias = dict[str, Any]  # parameters that differ from those of a request; None for absent


def advice(catalogue: Catalogue, meanings: Meanings, query: ProductsQuery, sort: str) -> str | None:
    """Return what is said about a search that finds nothing, as JSON in ASCII; None if nothing can be said."""
    name = "find" if query.find else "q"
    text = query.find or query.q or ""
    parts = [part for part in text.split() if words(part)]
    values = dict(_other_values(catalogue, query))
    unknown = (part for part in parts if not meanings.is_known(part, name == "find"))
    nowhere = list(dict.fromkeys([*(_given(query)[of] for of in values), *unknown]))
    offers: list[Change] = []
    if len(words(text)) <= _MOST_WORDS:  # each search for many words takes long
        stages = _stages(query, values, name, parts, _likely(meanings, name, text, parts))
        offers = next(filter(None, (_offers(catalogue, query, sort, changes) for changes in stages)), [])
    return _fitting(nowhere, offers)


def _likely(meanings: Meanings, name: str, text: str, parts: list[str]) -> list[Change]:
    """Return what is probably meant: the text as given, in `find` instead of `q`, in words that names use."""
    likely: list[Change] = [{}]
    if name == "q" and parts:
        likely.append({"q": None, "find": text})
    for one, rarity in meanings.texts(parts, name == "find"):
        likely.append({name: one, "rarity": rarity} if rarity else {name: one})
    return likely


def _stages(
    query: ProductsQuery, values: Change, name: str, parts: list[str], likely: list[Change]
) -> Iterator[list[Change]]:
    """Yield what to try, nearest first: other values of filters, then no filters, then the text without one part."""
    yield [values | change for change in likely]
    given = _given(query)
    wider = values | {of: widest for of, widest in _WIDEST.items() if given.get(of, widest) != widest}
    if wider != values:
        yield [wider | change for change in likely]
    yield [{**values, name: " ".join([*parts[:at], *parts[at + 1 :]])} for at in reversed(range(len(parts)))]


def _fitting(nowhere: list[str], offers: list[Change]) -> str | None:
    """Return what a header can hold: offers go first where it would be too long."""
    while nowhere or offers:
        said = json.dumps({"nowhere": nowhere, "instead": offers}, separators=(",", ":"))
        if len(said) <= _MAX_BYTES:
            return said
        (offers or nowhere).pop()
    return None


def _given(query: ProductsQuery) -> dict[str, Any]:
    return {**vars(query), **query.texts}


def _other_values(catalogue: Catalogue, query: ProductsQuery) -> Iterator[tuple[str, str | None]]:
    """Yield the filters whose value no product has, with the nearest value that one has."""
    if query.set and not set_rows(catalogue, query.set):
        yield "set", catalogue.nearest_set(query.set)
    for name, text in query.texts.items():
        if text and filter_key(catalogue, name, text) not in catalogue.texts[name].code_of:
            yield name, catalogue.nearest_value(name, text)


def _offers(catalogue: Catalogue, query: ProductsQuery, sort: str, changes: list[Change]) -> list[Change]:
    """Return the first changes that find products, with the number of these, each once."""
    tried: list[Change] = [{}, {"find": query.find}, {"q": query.q}]
    found: list[Change] = []
    for change in changes[:_MOST_TRIED]:
        is_new = change not in tried and "" not in change.values()  # without any word it is no search
        if is_new and (products := _count(catalogue, query, sort, change)):
            found.append({**change, "products": products})
        tried.append(change)
        if len(found) == _MOST_OFFERS:
            break
    return found


def _count(catalogue: Catalogue, query: ProductsQuery, sort: str, change: Change) -> int:
    texts = {**query.texts, **{name: change[name] for name in TEXT_FILTERS if name in change}}
    fields = {name: value for name, value in change.items() if name not in TEXT_FILTERS}
    try:
        search = read_search(catalogue, replace(query, texts=texts, **fields), sort)
    except (NotFound, InvalidParameter):  # such as sort=match where no word is left
        return 0
    return int(np.count_nonzero(mask_of(catalogue, search)))
