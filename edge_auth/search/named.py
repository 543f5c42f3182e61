"""Which products a text means: a name of a list in /cards/named, and a slug of the watchlist in a path.

A name means the products that have it as their whole name, else those that have it as their base name, else as their
short name, else as their front face (`storage/text.py`). A build stores what the answer says of each name. It is made
here for answers with filters or printings.

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

MATCHES = ("name", "base", "short", "face")  # the values of `matched`
_MOST_IDS = 100  # of a name
_MAX_SLUG_CHARACTERS = 500
_NAMED_SLUGS = 3  # in a message
# Of a Card, whose members have one order. JSON escapes quotation marks, so no text in it holds these.
_PRINTED = re.compile(rb'{"id_product":(.*?),"name":.*?,"set":(.*?),"rarity":.*?,"number":(.*?),"image":')
_QUERY = re.compile("[?#]")
_NO_SLUG = "no watchlist product has this slug, nor this in its URL"


def find_named(
    catalogue: Catalogue, names: Sequence[str], mask: np.ndarray | None, printings: bool = False
) -> list[bytes]:
    """Return what the answer says of each name, as JSON; b"" if no product has it.

    Args:
        mask: Which products filters leave: bool, by ordinal. None: all.
        printings: Whether the answer also has the set and the prices of each product.
    """
    rows = catalogue.names.rows(name_keys(names))
    if mask is None and not printings:
        found = iter(catalogue.names.entries(rows))
    else:
        found = _entries(catalogue, rows, np.ones(len(catalogue.ids), bool) if mask is None else mask, printings)
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


def _entries(catalogue: Catalogue, rows: Sequence[int | None], mask: np.ndarray, printings: bool) -> Iterator[bytes]:
    """Yield what the answer says of each row, as far as a mask leaves products, without the opening brace; else b""."""
    known = np.array([row for row in rows if row is not None], np.intp)
    lists = [way.kept(known, mask) for way in catalogue.names.ways]
    bounds = zip(*(pairwise(ends.tolist()) for _, ends in lists), strict=True)
    for row in rows:
        ways = enumerate(next(bounds)) if row is not None else ()
        way, (start, end) = next(((way, ends) for way, ends in ways if ends[0] < ends[1]), (0, (0, 0)))
        yield _entry(catalogue, MATCHES[way], lists[way][0][start:end], printings) if start < end else b""


def _entry(catalogue: Catalogue, matched: str, ordinals: np.ndarray, printings: bool) -> bytes:
    listed = ordinals[:_MOST_IDS]
    ids, [cents] = catalogue.ids.take(listed).tolist(), catalogue.cents_of(ordinals[:1], MARKET_SORT)
    cheapest = "null" if cents is None else f'{{"id_product":{ids[0]},"price":{cents / 100}}}'
    texts = ",".join(map(str, ids))  # a list by `dumps` takes as long as all of the rest
    entry = f'"matched":"{matched}","products":{len(ordinals)},"ids":[{texts}],"cheapest":{cheapest}'
    more = b',"printings":[%b]' % b",".join(_printings(catalogue, listed)) if printings else b""
    return b"%b%b}" % (entry.encode(), more)


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
