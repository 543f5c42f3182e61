"""The tables `watchlist` and `watch_checks`: 24 tracked products with slugs that are hard for routes."""

from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo.catalogue import DemoCatalogue
from generator.demo.draw import (
    SECONDS_A_DAY,
    Flags,
    Integers,
    Words,
    below,
    chance,
    draw,
    field,
    pick,
    recurs,
    timestamps,
    url_words,
)
from generator.demo.prices import Days, PriceWalk, list_keys, offer_columns, offer_lists
from generator.demo.vocabulary import COMMENTS, GAMES, QUANTITIES

_EXPENSIVE, _ACCENTED, _SEALED = 18, 2, 3  # how many of each kind
# Rows with something special:
_SIGNED = 3  # the product of the row before, tracked again for signed copies
_NO_GAME = 9
_UPPER_CASE, _WITH_SLASH, _WITH_PERCENT = 1, 4, 6


def make_watchlist(catalogue: DemoCatalogue) -> tuple[pa.Table, Integers]:
    """Return the table `watchlist`, and the usual cents of each row.

    It has the most expensive singles with a URL, some with accents, and some sealed products.
    """
    rows = _rows(catalogue)
    products = catalogue.table.take(pa.array(rows))
    names, urls = products["name"].to_pylist(), products["url"].to_pylist()
    by_word = dict(zip(url_words(pa.array(GAMES)).to_pylist(), GAMES, strict=True))
    games = [None if at == _NO_GAME else by_word[url.split("/")[4]] for at, url in enumerate(urls)]
    slugs: list[str] = []
    for at, (name, url, id_) in enumerate(zip(names, urls, catalogue.ids[rows], strict=True)):
        slug = _slug(at, name, url, slugs)
        taken = slug.casefold() in (other.casefold() for other in slugs)
        slugs.append(f"{slug}-{id_}" if taken else slug)
    columns = {"slug": slugs, "name": names, "game": games, "url": urls}
    table = pa.table({name: pa.array(texts, pa.string()) for name, texts in columns.items()})
    return table, catalogue.cents[rows]


def _rows(catalogue: DemoCatalogue) -> Integers:
    table = catalogue.table
    has_url, sealed = table["url"].is_valid().to_numpy(), catalogue.is_sealed[: len(table)]
    accented = pc.match_substring_regex(table["name"], "^[A-Za-z ]*[À-ž][A-Za-zÀ-ž ]*$").to_numpy()
    expensive_first = np.argsort(-catalogue.cents[: len(table)], kind="stable")
    kinds = ((~sealed & ~accented, _EXPENSIVE), (~sealed & accented, _ACCENTED), (sealed, _SEALED))
    rows = np.concatenate([expensive_first[(has_url & kind)[expensive_first]][:most] for kind, most in kinds])
    return np.insert(rows, _SIGNED, rows[_SIGNED - 1]) if len(rows) > _SIGNED else rows


def _slug(at: int, name: str, url: str, earlier: list[str]) -> str:
    *_, expansion, last = url.split("?")[0].split("#")[0].rstrip("/").split("/")
    if at == _UPPER_CASE:
        return last
    if at == _SIGNED:
        return earlier[-1] + "-signed"  # begins with the slug before
    if at == _WITH_SLASH:
        return f"{expansion}/{last}".lower()
    if at == _WITH_PERCENT:
        return f"{last.lower()} (50%)"
    if not name.isascii() and at > _EXPENSIVE:
        return name.lower().replace(" ", "-")
    return last.lower()


# The table `watch_checks`: each tracked product is checked three to six times a day, with gaps.

_MISSING, _LATE, _GONE = (53, 30), (7, 2), (30, 4)
_SLOTS, _MAX_LISTED = 6, 12
_GAP_OF, _GAP_EVERY, _GAP_DAYS = 5, 20, range(5, 9)


def watch_checks(seed: int, watchlist: pa.Table, cents: Integers) -> Days:
    """Make the table day by day. It also checks a slug that is no longer watched."""
    slugs = pa.array([*watchlist["slug"].to_pylist(), "no-longer-watched"])
    walk = PriceWalk(seed, "watch_checks", np.append(cents, 500))
    for day in count():
        walk.step(day)
        words = draw(seed, "watch_times", len(slugs) * _SLOTS, day)
        rows = np.flatnonzero(_is_checked(day, words, len(watchlist)))
        if recurs(day, _MISSING) or not len(rows):
            yield None
            continue
        words, (product, slot) = words[rows], np.divmod(rows, _SLOTS)
        jitter = np.where(field(words, 18, 1) == 1, below(words, 20, 31) - 15, 0)
        lowest = walk.cents[product] * (1000 + jitter) // 1000
        fate = field(words, 36, 6)  # 0-1: no offers, 2-4: no number, 5-7: no price, 8-9: no list, 10: none of them
        offers = np.where(fate < 2, 0, 1 + field(words, 42, 4))
        keys = list_keys(seed, product, walk.version[product], np.where(jitter == 0, 15, slot))
        listed = np.minimum(offers, _MAX_LISTED)
        yield pa.table(
            {
                "slug": slugs.take(pa.array(product)),
                "checked_at": _checked_at(day, slot, words),
                "num_offers": pa.array(offers.astype(np.int32), mask=np.isin(fate, [2, 3, 4, 10])),
                "lowest_price": pa.array(lowest / 100, mask=np.isin(fate, [5, 6, 7, 10]) | (offers == 0)),
                "offer_list": offer_lists(keys, lowest, listed, np.isin(fate, [8, 9, 10]), _columns),
            }
        )


def _is_checked(day: int, words: Words, gone: int) -> Flags:
    """Return which of a product's six time slots of a day have a check. The product at `gone` is rarely checked."""
    product, slot = np.divmod(np.arange(len(words)), _SLOTS)
    often = 3 + field(words[product * _SLOTS], 0, 2)
    gap = (product == _GAP_OF) & (day % _GAP_EVERY in _GAP_DAYS)
    rare = (product == gone) & ((slot > 0) | (not recurs(day, _GONE)))
    never = product == gone - 1
    skipped = chance(words[product * _SLOTS], 2, 0.04)
    return np.asarray((slot < often) & ~(gap | rare | never | skipped))


def _checked_at(day: int, slot: Integers, words: Words) -> pa.Array:
    slot_seconds = SECONDS_A_DAY // _SLOTS
    late = (np.arange(len(slot)) == 0) & recurs(day, _LATE)
    second = np.where(late, SECONDS_A_DAY + 60, slot * slot_seconds + below(words, 46, slot_seconds))
    return timestamps(day, second, field(words, 20, 9))


def _columns(words: Words, cents: Integers) -> dict[str, pa.Array]:
    columns = offer_columns(words, cents)
    columns["quantity"] = pick(QUANTITIES, words, 28, field(words, 20, 5) == 0)
    columns["comment"] = pick(COMMENTS, words, 24, field(words, 4, 2) != 0)
    return {name: columns[name] for name in ("seller", "condition", "quantity", "price", "comment")}
