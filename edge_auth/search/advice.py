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
    name, text, of_find = ("find", query.find, True) if query.find else ("q", query.q or "", False)
    parts = [part for part in text.split() if words(part)]
    values = dict(_other_values(catalogue, query))
    unknown = (part for part in parts if not meanings.is_known(part, of_find))
    nowhere = list(dict.fromkeys([*(_given(query)[of] for of in values), *unknown]))
    likely: list[Change] = [{}] if of_find or not parts else [{}, {"q": None, "find": text}]
    likely += [
        {name: one, "rarity": rarity} if rarity else {name: one} for one, rarity in meanings.texts(parts, of_find)
    ]
    wider = values | {of: widest for of, widest in _WIDEST.items() if _given(query).get(of, widest) != widest}
    less = [{name: " ".join([*parts[:at], *parts[at + 1 :]])} for at in reversed(range(len(parts)))]
    stages = [(values, likely), *([(wider, likely)] if wider != values else []), (values, less)]
    stages = stages if len(words(text)) <= _MOST_WORDS else []  # each search for many words takes long
    found = (_offers(catalogue, query, sort, [base | change for change in changes]) for base, changes in stages)
    offers = next(filter(None, found), [])
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
