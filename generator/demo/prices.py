"""The tables of prices: the marketplace's guide, its list pages, and checks under the seller filter and of a watchlist.

A daily table is a generator: it yields the rows of the first day, the second, and so on.
"""

import re
from collections.abc import Iterator
from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo import draw, name_parts
from generator.demo.draw import SECONDS_A_DAY, Flags, Integers, Words, chance, choose, field, mix, pick, timestamps
from generator.demo.products import DemoCatalogue
from generator.lake.files import PRICE_FIGURES

Days = Iterator[pa.Table]

# The days that a table of the lake lacks, as numbers: every so many, and the first of them.
MISSING_DAYS = {"price_guide": (29, 17), "listings": (43, 12), "filtered_checks": (41, 23), "watch_checks": (53, 30)}


# How prices move: a random walk around each product's own level. About 30 % of the prices move each day.

_MOVED_SHARE = 0.36  # 30 % in effect, because the cheapest prices have no room to move
_PULL_THOUSANDTHS = 30  # thousandths of the way back to the product's own level
_MIN_CENTS = 2
_DRAWS = np.arange(-128, 128)
_MOVES = np.sign(_DRAWS) * (5 + abs(_DRAWS) ** 6 // 12_700_000_000)  # thousandths: mostly one, sometimes up to 35 %


class PriceWalk:
    """The prices of one table, from day to day. A day without a `step` leaves them unchanged."""

    def __init__(self, seed: int, stream: str, cents: Integers) -> None:
        self._seed, self._stream = seed, stream
        self.cents = self._level = np.maximum(cents, _MIN_CENTS)
        self.version = np.zeros(len(cents), dtype=np.int64)  # how many times each price has moved
        self.moved: Flags = np.zeros(len(cents), dtype=bool)  # today

    def step(self, day: int) -> Words:
        """Move to this day. Return the day's random words, whose upper 24 bits are free for the table."""
        words = draw.words(self._seed, self._stream, len(self.cents), day)
        self.moved = chance(words, 0, _MOVED_SHARE)
        thousandths = self.cents * _MOVES[field(words, 16, 8)] + (self._level - self.cents) * _PULL_THOUSANDTHS
        # A random remainder: rounding down every day would push cheap prices to the bottom.
        change = (thousandths + draw.below(words, 24, 1000)) // 1000
        self.cents = np.where(self.moved, np.maximum(self.cents + change, _MIN_CENTS), self.cents)
        self.version += self.moved
        return words


# Lists of offers. Every value is a hash of its list's key and its place in the list.

# Thousandths between an offer and the next: 18 of 64 none at all.
_GAPS = np.concatenate([np.zeros(18), np.arange(46) ** 2 // 8]).astype(np.int64)
_JOKE_CENTS = 9_999_99
_QUANTITIES = np.array([1] * 44 + [2] * 8 + [3] * 4 + [4] * 4 + [8, 12, 40, 99], dtype=np.int32)


def list_keys(seed: int, rows: Integers, version: Integers, variant: Integers) -> Words:
    """Return a key for each list. It changes only with the product's version or the variant (below 16)."""
    return mix(((rows << 24) | (version << 4) | variant).astype(np.uint64) ^ (np.uint64(seed) << np.uint64(32)))


def offer_lists(keys: Words, lowest: Integers, lengths: Integers, no_list: Flags, *, watched: bool = False) -> pa.Array:
    """Return lists of `lengths` offers from `lowest` cents upwards, some backwards. They are null for `no_list`."""
    lengths = np.where(no_list, 0, lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    of_list = np.repeat(np.arange(len(keys)), lengths)
    first = offsets[of_list]
    place = np.arange(offsets[-1]) - first
    words = mix(keys[of_list] + place.astype(np.uint64))
    gap = _GAPS[field(words, 32, 6)]
    rise = np.cumsum(np.where(place == 0, 0, lowest[of_list] * gap // 1000 + (gap > 100)))
    is_joke = (place == lengths[of_list] - 1) & (place > 3) & (field(words, 60, 4) == 0)
    cents = np.where(is_joke, _JOKE_CENTS, lowest[of_list] + rise - rise[first])
    backwards = field(keys[of_list], 0, 5) == 0
    order = np.where(backwards, offsets[of_list + 1] - 1 - place, first + place)
    offers = _offers(words[order], cents[order], watched)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), offers, mask=pa.array(no_list))


def _offers(words: Words, cents: Integers, watched: bool) -> pa.StructArray:
    """Return offers as the table `watch_checks` has them, or `filtered_checks`, from a hash and the cents of each."""
    price = pa.array(cents / 100, mask=field(words, 44) < 200)  # 3 in a thousand are null, and 3 sellers
    condition = choose(name_parts.CONDITIONS, draw.by_weight(name_parts.CONDITION_WEIGHTS, words, 16))
    seller = pick(name_parts.SELLERS, words, 0, field(words, 44) // 200 == 1)
    if watched:
        quantity = pick(name_parts.QUANTITIES, words, 28, field(words, 20, 5) == 0)
        comment = pick(name_parts.COMMENTS, words, 24, field(words, 4, 2) != 0)
        parts = {"seller": seller, "condition": condition, "quantity": quantity, "price": price, "comment": comment}
    else:
        quantity = pa.array(_QUANTITIES[field(words, 38, 6)], mask=field(words, 44) // 2000 == 1)
        parts = {"price": price, "condition": condition, "quantity": quantity, "seller": seller}
    return pa.StructArray.from_arrays(list(parts.values()), list(parts))


# The table `price_guide`: one row per product and day, with the gaps of a real guide; `low` is never above the trend.

_COLUMNS = (*PRICE_FIGURES, *(f"{figure}_holo" for figure in PRICE_FIGURES))
_TREND, _AVG30 = _COLUMNS.index("trend"), _COLUMNS.index("avg30")
_AVERAGES, _HOLO = slice(3, 6), slice(6, 12)  # of sealed products both are null, of most singles the second
_NULL_SHARES = [0.08, 0.18, 0.12, 0.16, 0.16, 0.16, 0.05, 0.35, 0.03, 0.2, 0.12, 0.08]


def price_guide(seed: int, catalogue: DemoCatalogue) -> Days:
    traits = draw.words(seed, "price_guide", 6 * len(catalogue.ids)).reshape(6, -1)
    walk = PriceWalk(seed, "price_guide", catalogue.cents)
    listed = ~chance(traits[0], 0, 0.01)
    low_share, holo_share = 550 + draw.below(traits[0], 16, 400), 1100 + draw.below(traits[0], 48, 4000)
    worthless, half_cents = chance(traits[1], 32, 0.004), chance(traits[1], 48, 0.01)
    # Which prices are null, by column. Each of three rows of traits is for four columns.
    nulls = np.array([chance(traits[2 + at // 4], 16 * (at % 4), share) for at, share in enumerate(_NULL_SHARES)])
    nulls[_AVERAGES] |= catalogue.is_sealed
    nulls[_HOLO] |= ~chance(traits[5], 0, 0.3) | catalogue.is_sealed
    nulls |= chance(traits[5], 16, 0.02)
    low, avg7, avg30 = np.maximum(2, walk.cents * low_share // 1000), walk.cents, walk.cents
    for day in count():
        if day % 19 != 7:  # else the guide says what it said the day before
            words, moved = walk.step(day), walk.moved
            low = np.where(moved & (field(words, 40, 2) == 0), np.maximum(2, walk.cents * low_share // 1000), low)
            avg7 = avg7 + np.where(moved, (walk.cents - avg7) // 3, 0)
            avg30 = avg30 + np.where(moved, (walk.cents - avg30) // 10, 0)
            flip = moved & (field(words, 42, 9) == 0)  # a price appears or disappears
            nulls ^= flip & (draw.below(words, 51, 12, 8) == np.arange(12)[:, None])
        avg1 = np.maximum(1, walk.cents * (900 + walk.version * 37 % 200) // 1000)
        plain = [np.minimum(low, walk.cents), (avg7 + avg1 + 1) // 2, walk.cents, avg1, avg7, avg30]
        tenths = [price * 10 for price in plain + [price * holo_share // 1000 for price in plain]]  # of a cent
        tenths[_TREND][worthless] = 0
        tenths[_AVG30] += 5 * half_cents
        prices = {name: pa.array(tenths[at] / 1000, mask=nulls[at]) for at, name in enumerate(_COLUMNS)}
        yield pa.table({"id_product": catalogue.ids, **prices}).filter(pa.array(listed & (catalogue.starts <= day)))


def _some_twice(rows: Integers, again: Flags) -> tuple[Integers, Flags]:
    """Return rows, those that are read again at the end, and which ones these are."""
    both = np.concatenate([rows, rows[again[rows]]])
    return both, np.arange(len(both)) >= len(rows)


# The table `listings`: the rows of the expansions' list pages. Each expansion is read every third day.


def listings(seed: int, catalogue: DemoCatalogue) -> Days:
    """Some products are on a page that is read twice: hours later, or in the same second."""
    traits = draw.words(seed, "listings", 2 * len(catalogue.ids)).reshape(2, -1)
    walk = PriceWalk(seed, "listings", catalogue.cents * (300 + draw.below(traits[0], 0, 600)) // 1000)
    unlisted, has_foil = chance(traits[0], 16, 0.03), chance(traits[0], 32, 0.25) & ~catalogue.is_sealed
    usual = draw.heavy_tail(traits[1], 2_000)
    for day in count():
        words = walk.step(day)
        read = ((catalogue.expansion + day) % 3 == 0) & ~unlisted
        rows, again = _some_twice(np.flatnonzero(read), field(words, 56, 8) == 0)
        words, foil, euros = words[rows], has_foil[rows], walk.cents[rows] / 100
        available = usual[rows] * (90 + draw.below(words, 40, 20)) // 100 + again
        # An expansion's pages are read in sequence, thirty products a page, two seconds apart.
        start = draw.below(mix(catalogue.expansion[rows] * 1009 + day), 0, SECONDS_A_DAY // 2)
        seconds = start + rows // 30 * 2 % 10_000 + again * (rows % 2) * SECONDS_A_DAY // 4
        yield pa.table(
            {
                "id_product": catalogue.ids[rows],
                "scraped_at": timestamps(day, seconds),
                "available": pa.array(available.astype(np.int32), mask=field(words, 40, 6) == 0),
                "from_price": pa.array(euros, mask=available == 0),
                "available_foil": pa.array((available // 7).astype(np.int32), mask=~foil),
                "from_price_foil": pa.array(walk.cents[rows] * 3 / 100, mask=~foil | (available < 7)),
            }
        )


# The table `filtered_checks`: the cheapest offers under the seller filter, 20 at most, checked about once a day.


def filtered_checks(seed: int, catalogue: DemoCatalogue) -> Days:
    """Some products are checked twice: hours later, or within the same second."""
    traits = draw.words(seed, "filtered_checks", 2 * len(catalogue.ids)).reshape(2, -1)
    walk = PriceWalk(seed, "filtered_checks", catalogue.cents * (750 + draw.below(traits[0], 0, 350)) // 1000)
    never, usual = chance(traits[0], 16, 0.06), draw.below(traits[1], 16, 6) + draw.heavy_tail(traits[1], 40)
    for day in count():
        words = walk.step(day)
        checked = ~never & (field(words, 40, 8) < 249)
        rows, again = _some_twice(np.flatnonzero(checked), field(words, 57, 7) == 0)
        words, lowest = words[rows], walk.cents[rows]
        keys = list_keys(seed, rows, walk.version[rows], again.astype(np.int64))
        offers = np.maximum(usual[rows] + draw.below(keys, 16, 3) - 1, 0)
        # One round a day from a new start. Sometimes one check is after midnight.
        second = (rows * SECONDS_A_DAY // len(catalogue.ids) + day * 4_321 + field(words, 24, 4)) % SECONDS_A_DAY
        second = np.minimum(second + again * (rows % 2) * 7_200, SECONDS_A_DAY - 1)
        if day % 6 == 1 and len(rows):
            second[day * 97 % len(rows)] = SECONDS_A_DAY + 5
        no_list = (field(words, 48, 5) == 0) | (day % 10 == 3)
        cheapest, none = mix(keys), offers == 0
        condition = draw.by_weight(name_parts.CONDITION_WEIGHTS[: len(name_parts.CONDITION_CODES)], cheapest, 16)
        yield pa.table(
            {
                "id_product": catalogue.ids[rows],
                "checked_at": timestamps(day, second, field(words, 28, 9) + again * (rows % 4 == 0)),
                "offers": offers.astype(np.int32),
                "lowest": pa.array(lowest / 100, mask=none),
                "cheapest_seller": pick(name_parts.SELLERS, cheapest, 0, none),
                "cheapest_condition": choose(name_parts.CONDITION_CODES, condition, none),
                "offer_list": offer_lists(keys, lowest, np.minimum(offers, 20), no_list),
            }
        )


# The table `watchlist`: 24 tracked products with slugs that are hard for routes.

_EXPENSIVE = 18
_SIGNED = 3  # the row with the product of the row before, tracked again for signed copies


def make_watchlist(catalogue: DemoCatalogue) -> tuple[pa.Table, Integers]:
    """Return the table `watchlist`, and the usual cents of each row.

    It has the most expensive singles with a URL, some with accents, and some sealed products.
    """
    table = catalogue.table
    has_url, sealed = table["url"].is_valid().to_numpy(), catalogue.is_sealed[: len(table)]
    accented = pc.match_substring_regex(table["name"], "^[A-Za-z ]*[À-ž][A-Za-zÀ-ž ]*$").to_numpy()
    expensive_first = np.argsort(-catalogue.cents[: len(table)], kind="stable")
    kinds = ((_EXPENSIVE, ~sealed & ~accented), (2, ~sealed & accented), (3, sealed))
    rows = np.concatenate([expensive_first[(has_url & kind)[expensive_first]][:most] for most, kind in kinds])
    rows = np.concatenate([rows[:_SIGNED], rows[_SIGNED - 1 :]])
    names, urls = (table[name].take(rows) for name in ("name", "url"))
    game = pc.fill_null(catalogue.home["game"], name_parts.GAMES[0]).take(pa.array(rows))
    game = pc.if_else(np.arange(len(rows)) == 9, None, game)
    slugs: list[str] = []
    for at, (name, url, id_) in enumerate(zip(names.to_pylist(), urls.to_pylist(), catalogue.ids[rows], strict=True)):
        *_, expansion, last = re.split("[?#]", url)[0].rstrip("/").split("/")
        special = {
            1: last,  # with upper case
            _SIGNED: "".join(slugs[-1:]) + "-signed",  # begins with the slug before
            4: f"{expansion}/{last}".lower(),
            6: f"{last.lower()} (50%)",
        }
        plain = name.replace(" ", "-") if at > _EXPENSIVE and not name.isascii() else last
        slug = special.get(at, plain.lower())
        slugs.append(f"{slug}-{id_}" if slug.casefold() in map(str.casefold, slugs) else slug)
    slug = pa.array(slugs, pa.string())
    return pa.table({"slug": slug, "name": names, "game": game, "url": urls}), catalogue.cents[rows]


# The table `watch_checks`: each tracked product is checked three to six times a day, with gaps.

_SLOTS, _MAX_WATCHED = 6, 12
_SLOT_SECONDS = SECONDS_A_DAY // _SLOTS


def watch_checks(seed: int, watchlist: pa.Table, cents: Integers) -> Days:
    """A slug that is no longer watched is checked too, seldom."""
    slugs = pa.array([*watchlist["slug"].to_pylist(), "no-longer-watched"])
    walk, gone = PriceWalk(seed, "watch_checks", np.append(cents, 500)), len(watchlist)
    product, slot = np.divmod(np.arange(len(slugs) * _SLOTS), _SLOTS)
    for day in count():
        walk.step(day)
        words = draw.words(seed, "watch_times", len(slugs) * _SLOTS, day)
        firsts = words[product * _SLOTS]  # of each product
        gap = (product == 5) & (5 <= day % 20 < 9)
        rare = (product == gone) & ((slot > 0) | (day % 30 != 4))
        never = (product == gone - 1) | chance(firsts, 2, 0.04)
        rows = np.flatnonzero((slot < 3 + field(firsts, 0, 2)) & ~(gap | rare | never))
        words, watched, time = words[rows], product[rows], slot[rows]
        jitter = np.where(field(words, 18, 1) == 1, draw.below(words, 20, 31) - 15, 0)
        lowest = walk.cents[watched] * (1000 + jitter) // 1000
        fate = field(words, 36, 6)  # 0-1: no offers, 2-4: no number, 5-7: no price, 8-9: no list, 10: none of them
        offers = np.where(fate < 2, 0, 1 + field(words, 42, 4))
        keys = list_keys(seed, watched, walk.version[watched], np.where(jitter == 0, 15, time))
        listed = np.minimum(offers, _MAX_WATCHED)
        second = time * _SLOT_SECONDS + draw.below(words, 46, _SLOT_SECONDS)
        if day % 7 == 2:
            second[:1] = SECONDS_A_DAY + 60
        yield pa.table(
            {
                "slug": slugs.take(pa.array(watched)),
                "checked_at": timestamps(day, second, field(words, 20, 9)),
                "num_offers": pa.array(offers.astype(np.int32), mask=np.isin(fate, [2, 3, 4, 10])),
                "lowest_price": pa.array(lowest / 100, mask=np.isin(fate, [5, 6, 7, 10]) | (offers == 0)),
                "offer_list": offer_lists(keys, lowest, listed, np.isin(fate, [8, 9, 10]), watched=True),
            }
        )
