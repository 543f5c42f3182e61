"""Which products a text means: a name of a list in /cards/named, and a slug of the watchlist in a path.

A name means the products that have it as their whole name, else those that have it as their base name, else as their
short name, else as their front face (`storage/text.py`). A build stores what the answer says of each name. It is made
here only where filters leave out some of the products of a name.

A text in a path means the product of the watchlist that has it as its slug, else the one that has it in its URL.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from edge_auth.errors import AmbiguousSlug, NotFound
from generator.storage.bodies import dumps
from generator.storage.catalogue import MARKET_SORT, OFFERS_SORT, Catalogue
from generator.storage.text import fold, name_keys
from generator.storage.vocabulary import Names

MATCHES = ("name", "base", "short", "face")  # the values of `matched`
_MOST_IDS = 100  # of a name
_A_PART, _ALL = 1, 2  # what a filter leaves of a name; 0 is nothing
_MAX_SLUG_CHARACTERS = 500
_NAMED_SLUGS = 3  # in a message
# Of a Card, whose members have one order. JSON escapes quotation marks, so no text in it holds these.
_PRINTED = re.compile(rb'{"id_product":(.*?),"name":.*?,"set":(.*?),"rarity":.*?,"number":(.*?),"image":')
_QUERY = re.compile("[?#]")
_NO_SLUG = "no watchlist product has this slug, nor this in its URL"


class Narrowing:
    """Which products filters leave by ordinal (bool), and what they leave of each row of the index of names."""

    def __init__(self, index: Names, mask: np.ndarray):
        rows = np.arange(len(index))
        found = sum(lists.lengths(rows) for lists in index.ways)
        kept = sum(np.diff(lists.kept(rows, mask)[1]) for lists in index.ways)
        self.mask = mask
        # A row may have no products, of which filters leave none.
        self.left = np.asarray((kept > 0) * (1 + (kept == found)), np.uint8).data

    @property
    def size(self) -> int:
        return self.mask.nbytes + self.left.nbytes


def find_named(
    catalogue: Catalogue, names: Sequence[str], narrowing: Narrowing | None, printings: bool = False
) -> list[bytes]:
    """Return what the answer says of each name, as JSON; b"" if no product has it. `printings` has set and prices."""
    rows = catalogue.names.rows(name_keys(names))
    if narrowing is None:
        mask, left = np.ones(len(catalogue.ids), bool) if printings else None, [_ALL] * len(rows)
    else:
        mask, left = narrowing.mask, [0 if row is None else narrowing.left[row] for row in rows]
    found = catalogue.names.entries([row if share == _ALL else None for row, share in zip(rows, left, strict=True)])
    making = [place for place, share in enumerate(left) if share == _A_PART or (printings and found[place])]
    if making and mask is not None:
        made = _entries(catalogue, np.array([rows[place] for place in making]), mask)
        for place, (entry, listed) in zip(making, made, strict=True):
            more = b',"printings":[%b]' % b",".join(_printings(catalogue, listed)) if printings else b""
            found[place] = b"%b%b}" % (entry, more)
    said = zip(map(dumps, names), found, strict=True)
    return [b"".join((b'{"name":', name, b",", entry)) if entry else b"" for name, entry in said]


def _printings(catalogue: Catalogue, ordinals: np.ndarray) -> Iterator[bytes]:
    """Yield id, set, number and prices of some products as JSON, the first three as their Cards have them."""
    cents = (catalogue.cents_of(ordinals, sort) for sort in (MARKET_SORT, OFFERS_SORT))
    prices = ([b"null" if one is None else dumps(one / 100) for one in column] for column in cents)
    for line, *of_prices in zip(catalogue.card_lines.lines(ordinals), *prices, strict=True):
        printed = _PRINTED.match(line)
        assert printed is not None, "a Card has these members in this order"
        yield b'{"id_product":%b,"set":%b,"number":%b,"price":%b,"low":%b}' % (*printed.groups(), *of_prices)


def _entries(catalogue: Catalogue, rows: np.ndarray, mask: np.ndarray) -> Iterator[tuple[bytes, np.ndarray]]:
    """Yield what the answer says of each row that a mask narrows, without its closing brace; and its ordinals."""
    lists = [way.kept(rows, mask) for way in catalogue.names.ways]
    ids = [catalogue.ids.take(ordinals).tolist() for ordinals, _ in lists]
    prices = [catalogue.cents_of(ordinals, MARKET_SORT) for ordinals, _ in lists]
    for bounds in zip(*(pairwise(ends.tolist()) for _, ends in lists), strict=True):
        way, start, end = next((way, start, end) for way, (start, end) in enumerate(bounds) if end > start)
        listed, cents = slice(start, min(end, start + _MOST_IDS)), prices[way][start]
        cheapest = "null" if cents is None else f'{{"id_product":{ids[way][start]},"price":{cents / 100}}}'
        texts = ",".join(map(str, ids[way][listed]))  # a list by `dumps` takes as long as all of the rest
        entry = f'"matched":"{MATCHES[way]}","products":{end - start},"ids":[{texts}],"cheapest":{cheapest}'
        yield entry.encode(), lists[way][0][listed]


class Slugs:
    """The folded slugs and product URLs of a build's watchlist, by its WatchlistItems as JSON."""

    def __init__(self, lines: Sequence[bytes]):
        items = [json.loads(line) for line in lines]
        self._slugs: dict[str, str] = {fold(item["slug"]): item["slug"] for item in items}
        urls = ((item["cardmarket_url"], item["slug"]) for item in items)
        self._urls: list[tuple[str, str]] = [
            (fold(url.partition("?")[0]), slug) for url, slug in urls if url is not None
        ]

    def resolve(self, text: str) -> str:
        """Return the slug that a text in a path means. Raise NotFound, or AmbiguousSlug if several URLs hold it."""
        if len(text) > _MAX_SLUG_CHARACTERS:
            raise NotFound(_NO_SLUG)
        if (folded := fold(text)) in self._slugs:
            return self._slugs[folded]
        if before := _QUERY.split(text, 1)[0]:  # a whole cardmarket_url has the query of the seller filter
            folded = fold(before)
        matching = [slug for url, slug in self._urls if folded in url]
        if not matching:
            raise NotFound(_NO_SLUG)
        if len(matching) > 1:
            named = ", ".join(matching[:_NAMED_SLUGS]) + (", …" if len(matching) > _NAMED_SLUGS else "")
            raise AmbiguousSlug(f"{len(matching)} watchlist products have this in their URL: use a slug ({named})")
        return matching[0]
