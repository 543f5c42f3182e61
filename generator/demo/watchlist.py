"""The tables `watchlist` and `watch_checks`: tracked products with slugs that are hard for routes, and their checks."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo.draw import (
    SECONDS_A_DAY,
    Flags,
    Integers,
    Words,
    below,
    chance,
    choose,
    draw,
    field,
    recurs,
    timestamps,
    url_words,
)
from generator.demo.prices import OfferLists, PriceWalk, list_keys, make_offers
from generator.demo.products import DemoCatalogue
from generator.demo.words import COMMENTS, GAMES, QUANTITIES

# The table `watchlist`: 24 tracked products, mostly expensive ones, with slugs that are hard for routes.

_EXPENSIVE, _ACCENTED, _SEALED = 18, 2, 3  # how many of each kind
# Rows with something special:
_SIGNED = 3  # the product of the row before, tracked again for signed copies
_NO_GAME = 9
_UPPER_CASE, _WITH_SLASH, _WITH_PERCENT = 1, 4, 6


class Watchlist(NamedTuple):
    """The table, and the price level of each of its rows."""

    table: pa.Table
    cents: Integers


def make_watchlist(catalogue: DemoCatalogue) -> Watchlist:
    """Track the most expensive singles with a URL, some with accents, and some sealed products."""
    rows = _rows(catalogue)
    products = catalogue.table.take(pa.array(rows))
    names, urls = products["name"].to_pylist(), products["url"].to_pylist()
    games = [None if at == _NO_GAME else _game(url) for at, url in enumerate(urls)]
    columns = {
        "slug": pa.array(_slugs(names, urls, catalogue.ids[rows]), pa.string()),
        "name": pa.array(names, pa.string()),
        "game": pa.array(games, pa.string()),
        "url": pa.array(urls, pa.string()),
    }
    return Watchlist(pa.table(columns), catalogue.cents[rows])


def _rows(catalogue: DemoCatalogue) -> Integers:
    table, known = catalogue.table, catalogue.known
    has_url = pc.is_valid(table["url"]).to_numpy()
    sealed = catalogue.is_sealed[:known]
    accented = pc.match_substring_regex(table["name"], "^[A-Za-z ]*[À-ž][A-Za-zÀ-ž ]*$").to_numpy()
    expensive_first = np.argsort(-catalogue.cents[:known], kind="stable")
    kinds = [
        (has_url & ~sealed & ~accented, _EXPENSIVE),
        (has_url & ~sealed & accented, _ACCENTED),
        (has_url & sealed, _SEALED),
    ]
    rows = np.concatenate([expensive_first[kind[expensive_first]][:most] for kind, most in kinds])
    return np.insert(rows, _SIGNED, rows[_SIGNED - 1]) if len(rows) > _SIGNED else rows


def _game(url: str) -> str:
    words = url_words(pa.array(GAMES)).to_pylist()
    place: int = words.index(url.split("/")[4])
    return GAMES[place]


def _slugs(names: list[str], urls: list[str], ids: Integers) -> list[str]:
    """Return the last part of each URL in lower case, some made awkward, all unique regardless of case."""
    slugs: list[str] = []
    for at, (name, url, number) in enumerate(zip(names, urls, ids.tolist(), strict=True)):
        slug = _slug(at, name, url, slugs)
        taken = {other.casefold() for other in slugs}
        slugs.append(f"{slug}-{number}" if slug.casefold() in taken else slug)
    return slugs


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
_GONE_SLUG = "no-longer-watched"
_SLOTS, _MAX_LISTED = 6, 12
_GAP_OF, _GAP_EVERY, _GAP_DAYS = 5, 20, range(5, 9)


class WatchChecks:
    """Makes the table day by day. `day` must be called for every day from 0 on."""

    def __init__(self, seed: int, watchlist: Watchlist) -> None:
        self._seed = seed
        self._slugs = pa.array([*watchlist.table["slug"].to_pylist(), _GONE_SLUG], pa.string())
        self._walk = PriceWalk(seed, "watch_checks", np.append(watchlist.cents, 500))

    def day(self, day: int) -> pa.Table | None:
        """Return the checks of one day, or None if there were none."""
        self._walk.step(day)
        words = draw(self._seed, "watch_times", len(self._slugs) * _SLOTS, day)
        rows = np.flatnonzero(self._is_checked(day, words))
        if recurs(day, _MISSING) or not len(rows):
            return None
        return self._table(day, rows, words[rows])

    def _is_checked(self, day: int, words: Words) -> Flags:
        """Return which of a product's six time slots of a day have a check."""
        product, slot = np.divmod(np.arange(len(words)), _SLOTS)
        often = 3 + field(words[product * _SLOTS], 0, 2)
        gap = (product == _GAP_OF) & (day % _GAP_EVERY in _GAP_DAYS)
        gone = (product == len(self._slugs) - 1) & ((slot > 0) | (not recurs(day, _GONE)))
        never = product == len(self._slugs) - 2
        skipped = chance(words[product * _SLOTS], 2, 0.04)
        is_checked: Flags = (slot < often) & ~(gap | gone | never | skipped)
        return is_checked

    def _table(self, day: int, rows: Integers, words: Words) -> pa.Table:
        product, slot = np.divmod(rows, _SLOTS)
        jitter = np.where(field(words, 18, 1) == 1, below(words, 20, 31) - 15, 0)
        lowest = self._walk.cents[product] * (1000 + jitter) // 1000
        fate = field(words, 36, 6)  # 0-1: no offers, 2-4: no number, 5-7: no price, 8-9: no list, 10: none of them
        count = np.where(fate < 2, 0, 1 + field(words, 42, 4))
        no_list = (fate >= 8) & (fate <= 10)
        keys = list_keys(self._seed, product, self._walk.version[product], np.where(jitter == 0, 15, slot))
        offers = make_offers(keys, lowest, np.where(no_list, 0, np.minimum(count, _MAX_LISTED)))
        no_count = ((fate >= 2) & (fate <= 4)) | (fate == 10)
        no_price = ((fate >= 5) & (fate <= 7)) | (fate == 10) | (count == 0)
        return pa.table(
            {
                "slug": self._slugs.take(pa.array(product)),
                "checked_at": self._checked_at(day, slot, words),
                "num_offers": pa.array(count.astype(np.int32), mask=no_count),
                "lowest_price": pa.array(lowest / 100, mask=no_price),
                "offer_list": offers.lists(_columns(offers), no_list),
            }
        )

    def _checked_at(self, day: int, slot: Integers, words: Words) -> pa.Array:
        slot_seconds = SECONDS_A_DAY // _SLOTS
        second = slot * slot_seconds + below(words, 46, slot_seconds)
        late = (np.arange(len(slot)) == 0) & recurs(day, _LATE)
        return timestamps(day, np.where(late, SECONDS_A_DAY + 60, second), field(words, 20, 9))


def _columns(offers: OfferLists) -> dict[str, pa.Array]:
    words = offers.words
    return {
        "seller": offers.sellers,
        "condition": offers.conditions,
        "quantity": choose(QUANTITIES, below(words, 28, len(QUANTITIES)), field(words, 20, 5) == 0),
        "price": offers.prices,
        "comment": choose(COMMENTS, below(words, 24, len(COMMENTS)), field(words, 4, 2) != 0),
    }
