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
from generator.lake.files import GUIDE_PRICES

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

_TREND, _AVG30 = GUIDE_PRICES.index("trend"), GUIDE_PRICES.index("avg30")
_AVERAGES, _HOLO = slice(3, 6), slice(6, 12)  # of sealed products both are null, of most singles the second
_NULL_SHARES = [0.08, 0.18, 0.12, 0.16, 0.16, 0.16, 0.05, 0.35, 0.03, 0.2, 0.12, 0.08]


def _guide_nulls(words: Words, is_sealed: Flags) -> Flags:
    """Return which prices are null on the first day. Each of the rows 2 to 4 of words is for four columns."""
    columns = []
    for at, share in enumerate(_NULL_SHARES):
        row, bits = 2 + at // 4, 16 * (at % 4)
        columns.append(chance(words[row], bits, share))
    nulls = np.array(columns)
    nulls[_AVERAGES] |= is_sealed
    nulls[_HOLO] |= ~chance(words[5], 0, 0.3) | is_sealed
    nulls |= chance(words[5], 16, 0.02)
    return nulls


def price_guide(seed: int, catalogue: DemoCatalogue) -> Days:
    """Yield the guide of each day. Some days say what the day before said."""
    traits = draw.words(seed, "price_guide", 6 * len(catalogue.ids)).reshape(6, -1)
    is_listed = ~chance(traits[0], 0, 0.01)
    low_share = 550 + draw.below(traits[0], 16, 400)  # in thousandths of the trend, as is that of foils
    holo_share = 1100 + draw.below(traits[0], 48, 4000)
    is_worthless = chance(traits[1], 32, 0.004)
    has_half_cents = chance(traits[1], 48, 0.01)
    nulls = _guide_nulls(traits, catalogue.is_sealed)
    walk = PriceWalk(seed, "price_guide", catalogue.cents)
    low = np.maximum(_MIN_CENTS, walk.cents * low_share // 1000)
    avg7 = avg30 = walk.cents
    for day in count():
        if day % 19 != 7:
            words = walk.step(day)
            moved = walk.moved
            lowest = np.maximum(_MIN_CENTS, walk.cents * low_share // 1000)
            low = np.where(moved & (field(words, 40, 2) == 0), lowest, low)
            avg7 = avg7 + np.where(moved, (walk.cents - avg7) // 3, 0)
            avg30 = avg30 + np.where(moved, (walk.cents - avg30) // 10, 0)
            flips = moved & (field(words, 42, 9) == 0)  # a price appears or disappears
            flipped_column = draw.below(words, 51, len(GUIDE_PRICES), 8)
            nulls ^= flips & (flipped_column == np.arange(len(GUIDE_PRICES))[:, None])
        avg1 = np.maximum(1, walk.cents * (900 + walk.version * 37 % 200) // 1000)
        plain = [np.minimum(low, walk.cents), (avg7 + avg1 + 1) // 2, walk.cents, avg1, avg7, avg30]
        holo = [cents * holo_share // 1000 for cents in plain]
        prices = _guide_prices([*plain, *holo], is_worthless, has_half_cents, nulls)
        is_shown = is_listed & (catalogue.starts <= day)
        yield pa.table([catalogue.ids, *prices], ["id_product", *GUIDE_PRICES]).filter(pa.array(is_shown))


def _guide_prices(cents: list[Integers], is_worthless: Flags, has_half_cents: Flags, nulls: Flags) -> list[pa.Array]:
    """Return the columns of prices from the cents of each."""
    tenths = [of_column * 10 for of_column in cents]  # of a cent
    tenths[_TREND][is_worthless] = 0
    tenths[_AVG30] += 5 * has_half_cents
    return [pa.array(of_column / 1000, mask=null) for of_column, null in zip(tenths, nulls, strict=True)]


def _some_twice(rows: Integers, again: Flags) -> tuple[Integers, Flags]:
    """Return rows, those that are read again at the end, and which ones these are."""
    both = np.concatenate([rows, rows[again[rows]]])
    return both, np.arange(len(both)) >= len(rows)


# The table `listings`: the rows of the expansions' list pages. Each expansion is read every third day.


def listings(seed: int, catalogue: DemoCatalogue) -> Days:
    """Yield the rows of each day. Some products are on a page that is read twice: hours later, or in one second."""
    traits = draw.words(seed, "listings", 2 * len(catalogue.ids)).reshape(2, -1)
    walk = PriceWalk(seed, "listings", catalogue.cents * (300 + draw.below(traits[0], 0, 600)) // 1000)
    is_listed = ~chance(traits[0], 16, 0.03)
    has_foil = chance(traits[0], 32, 0.25) & ~catalogue.is_sealed
    usual = draw.heavy_tail(traits[1], 2_000)
    for day in count():
        words = walk.step(day)
        is_read = ((catalogue.expansion + day) % 3 == 0) & is_listed
        rows, again = _some_twice(np.flatnonzero(is_read), field(words, 56, 8) == 0)
        words, cents, foil = words[rows], walk.cents[rows], has_foil[rows]
        available = usual[rows] * (90 + draw.below(words, 40, 20)) // 100 + again
        # The pages of an expansion are read in sequence, thirty products every two seconds.
        start = draw.below(mix(catalogue.expansion[rows] * 1009 + day), 0, SECONDS_A_DAY // 2)
        seconds = start + rows // 30 * 2 % 10_000 + again * (rows % 2) * SECONDS_A_DAY // 4
        yield pa.table(
            {
                "id_product": catalogue.ids[rows],
                "scraped_at": timestamps(day, seconds),
                "available": pa.array(available.astype(np.int32), mask=field(words, 40, 6) == 0),
                "from_price": pa.array(cents / 100, mask=available == 0),
                "available_foil": pa.array((available // 7).astype(np.int32), mask=~foil),
                "from_price_foil": pa.array(cents * 3 / 100, mask=~foil | (available < 7)),
            }
        )


# The table `filtered_checks`: the cheapest offers under the seller filter, checked about once a day.

_MAX_OFFERS = 20


def filtered_checks(seed: int, catalogue: DemoCatalogue) -> Days:
    """Yield the checks of each day. Some products are checked twice: hours later, or within the same second."""
    traits = draw.words(seed, "filtered_checks", 2 * len(catalogue.ids)).reshape(2, -1)
    walk = PriceWalk(seed, "filtered_checks", catalogue.cents * (750 + draw.below(traits[0], 0, 350)) // 1000)
    is_checked = ~chance(traits[0], 16, 0.06)
    usual = draw.below(traits[1], 16, 6) + draw.heavy_tail(traits[1], 40)
    for day in count():
        words = walk.step(day)
        today = is_checked & (field(words, 40, 8) < 249)
        rows, again = _some_twice(np.flatnonzero(today), field(words, 57, 7) == 0)
        words, lowest = words[rows], walk.cents[rows]
        keys = list_keys(seed, rows, walk.version[rows], again.astype(np.int64))
        offers = np.maximum(usual[rows] + draw.below(keys, 16, 3) - 1, 0)
        no_list = (field(words, 48, 5) == 0) | (day % 10 == 3)
        seconds = _check_seconds(day, rows, again, words, len(catalogue.ids))
        milliseconds = field(words, 28, 9) + again * (rows % 4 == 0)
        yield pa.table(
            {
                "id_product": catalogue.ids[rows],
                "checked_at": timestamps(day, seconds, milliseconds),
                "offers": offers.astype(np.int32),
                "lowest": pa.array(lowest / 100, mask=offers == 0),
                **_cheapest(keys, offers == 0),
                "offer_list": offer_lists(keys, lowest, np.minimum(offers, _MAX_OFFERS), no_list),
            }
        )


def _check_seconds(day: int, rows: Integers, again: Flags, words: Words, products: int) -> Integers:
    """Return when each product is checked: one round a day from a new start. Sometimes one check is after midnight."""
    second: Integers = (rows * SECONDS_A_DAY // products + day * 4_321 + field(words, 24, 4)) % SECONDS_A_DAY
    second = np.minimum(second + again * (rows % 2) * 7_200, SECONDS_A_DAY - 1)
    if day % 6 == 1 and len(rows):
        second[day * 97 % len(rows)] = SECONDS_A_DAY + 5
    return second


def _cheapest(keys: Words, has_none: Flags) -> dict[str, pa.Array]:
    words = mix(keys)
    weights = name_parts.CONDITION_WEIGHTS[: len(name_parts.CONDITION_CODES)]
    condition = draw.by_weight(weights, words, 16)
    return {
        "cheapest_seller": pick(name_parts.SELLERS, words, 0, has_none),
        "cheapest_condition": choose(name_parts.CONDITION_CODES, condition, has_none),
    }


# The table `watchlist`: 24 tracked products with slugs that are hard for routes.

_EXPENSIVE = 18
_WITHOUT_GAME = 9
_SIGNED = 3  # the row with the product of the row before, tracked again for signed copies


def make_watchlist(catalogue: DemoCatalogue) -> tuple[pa.Table, Integers]:
    """Return the table `watchlist`, and the usual cents of each row.

    It has the most expensive singles with a URL, some with accents, and some sealed products.
    """
    rows = _tracked_rows(catalogue)
    names, urls = (catalogue.table[name].take(rows) for name in ("name", "url"))
    slugs = _slugs(names.to_pylist(), urls.to_pylist(), catalogue.ids[rows])
    game = pc.fill_null(catalogue.home["game"], name_parts.GAMES[0]).take(pa.array(rows))
    game = pc.if_else(np.arange(len(rows)) == _WITHOUT_GAME, None, game)
    columns = {"slug": pa.array(slugs, pa.string()), "name": names, "game": game, "url": urls}
    return pa.table(columns), catalogue.cents[rows]


def _tracked_rows(catalogue: DemoCatalogue) -> Integers:
    """Return the rows of the tracked products in the catalogue. One product is there twice."""
    table = catalogue.table
    is_sealed = catalogue.is_sealed[: len(table)]
    is_accented = pc.match_substring_regex(table["name"], "^[A-Za-z ]*[À-ž][A-Za-zÀ-ž ]*$").to_numpy()
    expensive_first = np.argsort(-catalogue.cents[: len(table)], kind="stable")
    with_url = expensive_first[table["url"].is_valid().to_numpy()[expensive_first]]
    singles, accented, sealed = ~is_sealed & ~is_accented, ~is_sealed & is_accented, is_sealed
    rows = np.concatenate(
        [
            with_url[singles[with_url]][:_EXPENSIVE],
            with_url[accented[with_url]][:2],
            with_url[sealed[with_url]][:3],
        ]
    )
    return np.concatenate([rows[:_SIGNED], rows[_SIGNED - 1 :]])


def _slugs(names: list[str], urls: list[str], ids: Integers) -> list[str]:
    """Return the slugs: mostly the end of the product's URL, some that are hard for routes, no two equal after fold."""
    slugs: list[str] = []
    for at, (name, url, id_) in enumerate(zip(names, urls, ids, strict=True)):
        slug = _slug(at, name, url, slugs)
        taken = {other.casefold() for other in slugs}
        slugs.append(f"{slug}-{id_}" if slug.casefold() in taken else slug)
    return slugs


def _slug(at: int, name: str, url: str, before: list[str]) -> str:
    *_, expansion, last = re.split("[?#]", url)[0].rstrip("/").split("/")
    if at == 1:
        return last  # with upper case
    if at == _SIGNED:
        return f"{before[-1]}-signed"  # begins with the slug before
    if at == 4:
        return f"{expansion}/{last}".lower()
    if at == 6:
        return f"{last.lower()} (50%)"
    if at > _EXPENSIVE and not name.isascii():
        return name.replace(" ", "-").lower()
    return last.lower()


# The table `watch_checks`: each tracked product is checked three to six times a day, with gaps.

_SLOTS, _MAX_WATCHED = 6, 12
_SLOT_SECONDS = SECONDS_A_DAY // _SLOTS


def watch_checks(seed: int, watchlist: pa.Table, cents: Integers) -> Days:
    """Yield the checks of each day. A slug that is no longer watched is checked too, seldom."""
    slugs = pa.array([*watchlist["slug"].to_pylist(), "no-longer-watched"])
    walk = PriceWalk(seed, "watch_checks", np.append(cents, 500))
    for day in count():
        walk.step(day)
        words = draw.words(seed, "watch_times", len(slugs) * _SLOTS, day)
        rows = _watched_slots(words, len(slugs), day)
        words, watched, slot = words[rows], rows // _SLOTS, rows % _SLOTS
        jitter = np.where(field(words, 18, 1) == 1, draw.below(words, 20, 31) - 15, 0)
        lowest = walk.cents[watched] * (1000 + jitter) // 1000
        fate = field(words, 36, 6)  # 0-1: no offers, 2-4: no number, 5-7: no price, 8-9: no list, 10: none of them
        offers = np.where(fate < 2, 0, 1 + field(words, 42, 4))
        keys = list_keys(seed, watched, walk.version[watched], np.where(jitter == 0, 15, slot))
        listed = np.minimum(offers, _MAX_WATCHED)
        seconds = slot * _SLOT_SECONDS + draw.below(words, 46, _SLOT_SECONDS)
        if day % 7 == 2:
            seconds[:1] = SECONDS_A_DAY + 60
        yield pa.table(
            {
                "slug": slugs.take(pa.array(watched)),
                "checked_at": timestamps(day, seconds, field(words, 20, 9)),
                "num_offers": pa.array(offers.astype(np.int32), mask=np.isin(fate, [2, 3, 4, 10])),
                "lowest_price": pa.array(lowest / 100, mask=np.isin(fate, [5, 6, 7, 10]) | (offers == 0)),
                "offer_list": offer_lists(keys, lowest, listed, np.isin(fate, [8, 9, 10]), watched=True),
            }
        )


def _watched_slots(words: Words, slugs: int, day: int) -> Integers:
    """Return the rows of a day that are checks: of each slug's slots the first three to six, with gaps."""
    product, slot = np.divmod(np.arange(slugs * _SLOTS), _SLOTS)
    gone = slugs - 1
    of_product = words[product * _SLOTS]
    has_gap = (product == 5) & (5 <= day % 20 < 9)
    is_rare = (product == gone) & ((slot > 0) | (day % 30 != 4))
    is_never = (product == gone - 1) | chance(of_product, 2, 0.04)
    is_slot = slot < 3 + field(of_product, 0, 2)
    return np.flatnonzero(is_slot & ~(has_gap | is_rare | is_never))
