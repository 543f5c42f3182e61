"""The tables of prices: the marketplace's guide, its list pages, and the checks under the seller filter."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from generator.demo.draw import (
    SECONDS_A_DAY,
    Flags,
    Integers,
    Words,
    below,
    by_quantile,
    by_weight,
    chance,
    choose,
    draw,
    draw_rows,
    field,
    millionths,
    mix,
    recurs,
    timestamps,
)
from generator.demo.products import DemoCatalogue
from generator.demo.words import CONDITION_CODES, CONDITION_WEIGHTS, CONDITIONS, SELLERS
from generator.lake.files import PRICE_FIGURES

# How prices move: a random walk around each product's own level. About 30 % of the prices move each day.

_MOVED_SHARE = 0.36  # 30 % in effect, because the cheapest prices have no room to move
_PULL_THOUSANDTHS = 30  # thousandths of the way back to the product's own level
_MIN_CENTS = 2


def _thousandths() -> Integers:
    """Return by how many thousandths a price moves, for each of 256 draws: mostly one, sometimes up to 35 %."""
    draws = np.arange(-128, 128, dtype=np.int64)
    thousandths: Integers = np.sign(draws) * (5 + abs(draws) ** 6 // 12_700_000_000)
    return thousandths


_MOVES = _thousandths()


class PriceWalk:
    """The prices of one table, from day to day. A day without a `step` leaves them unchanged.

    Attributes:
        cents: The prices now.
        version: How many times each price has moved.
        moved: Which prices moved today.
    """

    def __init__(self, seed: int, stream: str, cents: Integers) -> None:
        self._seed, self._stream, self._level = seed, stream, np.maximum(cents, _MIN_CENTS)
        self.cents: Integers = self._level.copy()
        self.version = np.zeros(len(cents), dtype=np.int64)
        self.moved = np.zeros(len(cents), dtype=bool)

    def step(self, day: int) -> Words:
        """Move to this day. Return the day's random words, whose upper 24 bits are free for the table."""
        words = draw(self._seed, self._stream, len(self.cents), day)
        self.moved = chance(words, 0, _MOVED_SHARE)
        thousandths = self.cents * _MOVES[field(words, 16, 8)] + (self._level - self.cents) * _PULL_THOUSANDTHS
        # A random remainder: rounding down every day would push cheap prices to the bottom.
        change = (thousandths + ((field(words, 24, 16) * 1000) >> 16)) // 1000
        self.cents = np.where(self.moved, np.maximum(self.cents + change, _MIN_CENTS), self.cents)
        self.version += self.moved
        return words


# Lists of offers as flat arrays. Every value is a hash of its list's key and its place in the list.

# Thousandths between an offer and the next: 18 of 64 none at all.
_GAPS = np.concatenate([np.zeros(18), np.arange(46) ** 2 // 8]).astype(np.int64)
_JOKE_CENTS = 9_999_99
_QUANTITIES = np.array([1] * 44 + [2] * 8 + [3] * 4 + [4] * 4 + [8, 12, 40, 99], dtype=np.int64)


class OfferLists(NamedTuple):
    """The offers of many lists, one list after the other. List i is from offsets[i] up to offsets[i + 1]."""

    offsets: NDArray[np.int32]
    words: Words  # one hash per offer
    cents: Integers

    @property
    def prices(self) -> pa.Array:
        """Prices in euros. 3 in a thousand are null."""
        return pa.array(self.cents / 100, mask=field(self.words, 44, 16) < 200)

    @property
    def sellers(self) -> pa.Array:
        """Names of sellers. 3 in a thousand are null."""
        return seller_names(self.words, field(self.words, 44, 16) // 200 == 1)

    @property
    def conditions(self) -> pa.Array:
        """Conditions, nearly all of them one of the seven codes."""
        return choose(CONDITIONS, by_weight(CONDITION_WEIGHTS, self.words, 16))

    @property
    def quantities(self) -> pa.Array:
        """Quantities as int32. 3 % are null."""
        count = _QUANTITIES[field(self.words, 38, 6)].astype(np.int32)
        return pa.array(count, mask=field(self.words, 44, 16) // 2000 == 1)

    def lists(self, columns: dict[str, pa.Array], mask: Flags) -> pa.Array:
        """Return lists of offers with these columns. They are null where `mask` is true; those must be empty."""
        struct = pa.StructArray.from_arrays(list(columns.values()), names=list(columns))
        return pa.ListArray.from_arrays(pa.array(self.offsets), struct, mask=pa.array(mask))


def list_keys(seed: int, rows: Integers, version: Integers, variant: Integers | int = 0) -> Words:
    """Return a key for each list. It changes only with the product's version or the variant (below 16)."""
    key = (rows << 24) | (version << 4) | variant
    return mix(key.astype(np.uint64) ^ (np.uint64(seed) << np.uint64(32)))


def make_offers(keys: Words, lowest: Integers, lengths: Integers) -> OfferLists:
    """Make offers from `lowest` cents upwards, `lengths` of them for each key."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    of_list = np.repeat(np.arange(len(keys)), lengths)
    place = np.arange(offsets[-1]) - offsets[of_list]
    words = mix(keys[of_list] + place.astype(np.uint64))
    cents = _rising(words, lowest[of_list], place, offsets[of_list])
    last = place == lengths[of_list] - 1
    cents = np.where(last & (place > 3) & (field(words, 60, 4) == 0), _JOKE_CENTS, cents)
    backwards = field(keys[of_list], 0, 5) == 0
    order = np.where(backwards, offsets[of_list + 1] - 1, offsets[of_list]) + np.where(backwards, -place, place)
    return OfferLists(offsets.astype(np.int32), words[order], cents[order])


def _rising(words: Words, lowest: Integers, place: Integers, start: Integers) -> Integers:
    gap = _GAPS[field(words, 32, 6)]
    step = np.where(place == 0, 0, lowest * gap // 1000 + (gap > 100))
    total = np.cumsum(step)
    return lowest + total - total[start] if len(total) else lowest


def first_words(keys: Words) -> Words:
    """Return the word of the cheapest offer of each key's list, without making the list."""
    return mix(keys)


def seller_names(words: Words, mask: Flags) -> pa.Array:
    """Return the sellers of these offers. They are null where `mask` is true."""
    return choose(SELLERS, below(words, 0, len(SELLERS)), mask)


def condition_codes(words: Words, mask: Flags) -> pa.Array:
    """Return the condition codes of these offers. They are null where `mask` is true."""
    place = by_weight(CONDITION_WEIGHTS, words, 16)
    return choose(CONDITIONS, np.where(place < len(CONDITION_CODES), place, 0), mask)


# The table `price_guide`: one row per product and day, with the gaps of a real guide; `low` is never above the trend.

_PRICE_GUIDE_MISSING, _STALE = (29, 17), (19, 7)
_ABSENT_SHARE = 0.01
_COLUMNS = (*PRICE_FIGURES, *(f"{figure}_holo" for figure in PRICE_FIGURES))
_TREND, _AVG30 = _COLUMNS.index("trend"), _COLUMNS.index("avg30")
_NULL_SHARES = [0.08, 0.18, 0.12, 0.16, 0.16, 0.16, 0.05, 0.35, 0.03, 0.2, 0.12, 0.08]
_HOLO_SHARE = 0.3


class PriceGuide:
    """Makes the table day by day. `day` must be called for every day from 0 on."""

    def __init__(self, seed: int, catalogue: DemoCatalogue) -> None:
        words = draw_rows(seed, "price_guide", 6, len(catalogue.ids))
        self._ids, self._starts = catalogue.ids, catalogue.starts
        self._walk = PriceWalk(seed, "price_guide", catalogue.cents)
        self._listed = ~chance(words[0], 0, _ABSENT_SHARE)
        self._low_share = 550 + below(words[0], 16, 400)
        self._holo_share = 1100 + below(words[0], 48, 4000)
        self._worthless = chance(words[1], 32, 0.004)
        self._half_cents = chance(words[1], 48, 0.01)
        self._nulls = _null_bits(words[2:5], words[5], catalogue.is_sealed)
        self._low = self._low_now()
        self._avg7, self._avg30 = self._walk.cents.copy(), self._walk.cents.copy()

    def day(self, day: int) -> pa.Table | None:
        """Return the guide of one day, or None if the day is missing."""
        if not recurs(day, _STALE):
            self._move(day)
        if recurs(day, _PRICE_GUIDE_MISSING):
            return None
        rows = np.flatnonzero(self._listed & (self._starts <= day))
        return pa.table({"id_product": self._ids[rows], **self._prices(rows)})

    def _move(self, day: int) -> None:
        words = self._walk.step(day)
        moved, cents = self._walk.moved, self._walk.cents
        self._low = np.where(moved & (field(words, 40, 2) == 0), self._low_now(), self._low)
        self._avg7 += np.where(moved, (cents - self._avg7) // 3, 0)
        self._avg30 += np.where(moved, (cents - self._avg30) // 10, 0)
        flip = moved & (field(words, 42, 9) == 0)  # a price appears or disappears
        self._nulls ^= np.where(flip, 1 << (field(words, 51, 8) * 12 >> 8), 0)

    def _low_now(self) -> Integers:
        cents: Integers = np.maximum(2, self._walk.cents * self._low_share // 1000)
        return cents

    def _prices(self, rows: Integers) -> dict[str, pa.Array]:
        trend = self._walk.cents[rows]
        low = np.minimum(self._low[rows], trend)
        avg7, avg30 = self._avg7[rows], self._avg30[rows]
        holo = self._holo_share[rows]
        avg1 = np.maximum(1, trend * (900 + self._walk.version[rows] * 37 % 200) // 1000)
        plain = [low, (avg7 + avg1 + 1) // 2, trend, avg1, avg7, avg30]
        tenths = [price * 10 for price in plain + [price * holo // 1000 for price in plain]]  # tenths of a cent
        tenths[_TREND][self._worthless[rows]] = 0
        tenths[_AVG30] += 5 * self._half_cents[rows]
        nulls = self._nulls[rows]
        return {
            name: pa.array(prices / 1000, mask=(nulls >> place) & 1 == 1)
            for place, (name, prices) in enumerate(zip(_COLUMNS, tenths, strict=True))
        }


def _null_bits(words: Words, holo: Words, sealed: Flags) -> Integers:
    """Return twelve bits per product, one per column: which prices are null. Sealed products lack some averages.

    Args:
        words: (3, products), each row for four columns.
    """
    bits = np.zeros(len(sealed), dtype=np.int64)
    for place, share in enumerate(_NULL_SHARES):
        bits |= chance(words[place // 4], 16 * (place % 4), share) << np.int64(place)
    bits |= np.where(chance(holo, 0, _HOLO_SHARE) & ~sealed, 0, 0b111111_000000)
    bits |= np.where(chance(holo, 16, 0.02), 0b111111_111111, 0)
    bits |= np.where(sealed, 0b000000_111000, 0)
    return bits


# The table `listings`: the rows of the expansions' list pages. Each expansion is read every third day.

_LISTINGS_MISSING = (43, 12)
_EVERY_DAYS = 3
_AVAILABLE_CURVE = [(0, 0), (60_000, 1), (500_000, 25), (900_000, 400), (990_000, 2_500), (1_000_000, 40_000)]


class Listings:
    """Makes the table day by day. `day` must be called for every day from 0 on."""

    def __init__(self, seed: int, catalogue: DemoCatalogue) -> None:
        words = draw_rows(seed, "listings", 2, len(catalogue.ids))
        self._catalogue = catalogue
        self._walk = PriceWalk(seed, "listings", catalogue.cents * (300 + below(words[0], 0, 600)) // 1000)
        self._unlisted = chance(words[0], 16, 0.03)
        self._has_foil = chance(words[0], 32, 0.25) & ~catalogue.is_sealed
        self._available = by_quantile(_AVAILABLE_CURVE, millionths(words[1]))

    def day(self, day: int) -> pa.Table | None:
        """Return the rows of the pages read on one day, or None if there were none."""
        words = self._walk.step(day)
        due = (self._catalogue.expansion + day) % _EVERY_DAYS == 0
        rows = np.flatnonzero(due & ~self._unlisted)
        if recurs(day, _LISTINGS_MISSING) or not len(rows):
            return None
        # Some are on a page that is read twice: hours later, or within the same second.
        again = rows[field(words[rows], 56, 8) == 0]
        return self._table(day, np.concatenate([rows, again]), len(rows), words)

    def _table(self, day: int, rows: Integers, first: int, words: Words) -> pa.Table:
        repeated = np.arange(len(rows)) >= first
        words = words[rows]
        count = self._available[rows] * (90 + below(words, 40, 20)) // 100 + repeated
        from_price, foil = self._walk.cents[rows], self._has_foil[rows]
        return pa.table(
            {
                "id_product": self._catalogue.ids[rows],
                "scraped_at": timestamps(day, self._seconds(day, rows, repeated)),
                "available": pa.array(count.astype(np.int32), mask=field(words, 40, 6) == 0),
                "from_price": pa.array(from_price / 100, mask=count == 0),
                "available_foil": pa.array((count // 7).astype(np.int32), mask=~foil),
                "from_price_foil": pa.array(from_price * 3 / 100, mask=~foil | (count < 7)),
            }
        )

    def _seconds(self, day: int, rows: Integers, repeated: Flags) -> Integers:
        """Return when rows were read: an expansion's pages in sequence, thirty products a page, two seconds apart."""
        expansion = self._catalogue.expansion[rows]
        start = below(mix((expansion * 1009 + day).astype(np.uint64)), 0, SECONDS_A_DAY // 2)
        later = repeated * (rows % 2) * SECONDS_A_DAY // 4
        seconds: Integers = start + rows // 30 * 2 % 10_000 + later
        return seconds


# The table `filtered_checks`: the cheapest offers under the seller filter, checked about once a day.

_FILTERED_CHECKS_MISSING, _WITHOUT_LISTS, _LATE = (41, 23), (10, 3), (6, 1)
_NEVER_SHARE, _DAILY_SHARE = 0.06, 0.97
_MAX_LISTED = 20  # offers on the page that is read
_OFFERS_CURVE = [(0, 0), (140_000, 1), (500_000, 4), (800_000, 7), (960_000, 18), (1_000_000, 70)]


class FilteredChecks:
    """Makes the table day by day. `day` must be called for every day from 0 on."""

    def __init__(self, seed: int, catalogue: DemoCatalogue) -> None:
        words = draw_rows(seed, "filtered_checks", 2, len(catalogue.ids))
        self._seed, self._ids = seed, catalogue.ids
        self._walk = PriceWalk(seed, "filtered_checks", catalogue.cents * (750 + below(words[0], 0, 350)) // 1000)
        self._never = chance(words[0], 16, _NEVER_SHARE)
        self._usual = by_quantile(_OFFERS_CURVE, millionths(words[1]))

    def day(self, day: int) -> pa.Table | None:
        """Return the checks of one day, or None if there were none."""
        words = self._walk.step(day)
        rows = np.flatnonzero(~self._never & (field(words, 40, 8) < 256 * _DAILY_SHARE))
        if recurs(day, _FILTERED_CHECKS_MISSING) or not len(rows):
            return None
        # Some are checked twice: hours later, or within the same second.
        again = rows[field(words[rows], 57, 7) == 0]
        return self._table(day, np.concatenate([rows, again]), len(rows), words)

    def _table(self, day: int, rows: Integers, first: int, words: Words) -> pa.Table:
        repeated = (np.arange(len(rows)) >= first).astype(np.int64)
        keys = list_keys(self._seed, rows, self._walk.version[rows], repeated)
        lowest, count = self._walk.cents[rows], self._counts(rows, keys)
        no_list = (field(words[rows], 48, 5) == 0) | recurs(day, _WITHOUT_LISTS)
        offers = make_offers(keys, lowest, np.where(no_list, 0, np.minimum(count, _MAX_LISTED)))
        columns = {
            "price": offers.prices,
            "condition": offers.conditions,
            "quantity": offers.quantities,
            "seller": offers.sellers,
        }
        cheapest, none = first_words(keys), count == 0
        return pa.table(
            {
                "id_product": self._ids[rows],
                "checked_at": self._checked_at(day, rows, repeated, words[rows]),
                "offers": count.astype(np.int32),
                "lowest": pa.array(lowest / 100, mask=none),
                "cheapest_seller": seller_names(cheapest, none),
                "cheapest_condition": condition_codes(cheapest, none),
                "offer_list": offers.lists(columns, no_list),
            }
        )

    def _counts(self, rows: Integers, keys: Words) -> Integers:
        """Return how many offers there are: about the usual number of each product."""
        usual = self._usual[rows]
        change = below(keys, 16, 3) - 1
        counts = np.where(usual == 0, field(keys, 32, 4) == 0, np.maximum(usual + change, 0))
        integers: Integers = counts.astype(np.int64)
        return integers

    def _checked_at(self, day: int, rows: Integers, repeated: Integers, words: Words) -> pa.Array:
        """Return when rows were checked: one round a day from a new start. Sometimes one check is after midnight."""
        second = (rows * SECONDS_A_DAY // len(self._ids) + day * 4_321 + field(words, 24, 4)) % SECONDS_A_DAY
        second = np.minimum(second + repeated * (rows % 2) * 7_200, SECONDS_A_DAY - 1)
        late = (np.arange(len(rows)) == day * 97 % len(rows)) & recurs(day, _LATE)
        milliseconds = field(words, 28, 9) + repeated * (rows % 4 == 0)
        return timestamps(day, np.where(late, SECONDS_A_DAY + 5, second), milliseconds)
