"""Hypothesis strategies for small lakes in which readings of the contract would show.

The sizes and features are drawn by hypothesis, so that they shrink; the content comes from a drawn seed, so
that a lake costs milliseconds.
"""

import random
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from hypothesis import strategies as st

from tests.support.lakes import pools
from tests.support.lakes.rows import HOLO, Daily, Row, Rows

UNKNOWN = 77_777
IDS = (0, 1, 2, 7, 4, 10, 151, 404, 2**31 - 1, 2**31, 2**53, 2**53 + 1, 10**18 - 1)
DAILY = ["price_guide", "listings", "filtered_checks", "watch_checks"]
FIELDS = {
    "products": st.integers(12, 30) | st.integers(0, 30),
    "expansions": st.integers(4, 8) | st.integers(0, 8),
    "watched": st.integers(4, 8) | st.integers(0, 8),
    "days": st.integers(4, 7) | st.integers(1, 7),
    "null_share": st.sampled_from([0.05, 0.3, 0.6]),
    "repeats": st.integers(0, 12),
    "fingerprints": st.integers(0, 5),
    "identifiers": st.integers(0, 60),
    "absent": st.just(set()) | st.sets(st.sampled_from(DAILY), max_size=2),
}


@dataclass
class Shape:
    """The size and the habits of a lake to make."""

    products: int
    expansions: int
    watched: int
    days: int
    null_share: float
    repeats: int
    fingerprints: int
    identifiers: int
    absent: set[str]


@st.composite
def lakes(draw: st.DrawFn) -> Rows:
    """A lake that keeps every rule of section 1 and is as awkward as these allow."""
    shape = Shape(**{name: draw(strategy) for name, strategy in FIELDS.items()})
    return Maker(shape, random.Random(draw(st.integers(0, 2**32 - 1)))).rows()


class Maker:
    def __init__(self, shape: Shape, rng: random.Random) -> None:
        self.shape = shape
        self.rng = rng
        self.ids = self._some_ids(shape.products)
        self.set_ids = self._some_ids(shape.expansions)
        self.slugs = rng.sample(pools.SLUGS, shape.watched)
        self.days = self._some_days()

    def rows(self) -> Rows:
        rows = Rows(
            products=[self._product(id_) for id_ in self.ids],
            expansions=[self._expansion(id_) for id_ in self.set_ids] or None,
            watchlist=[self._watched(slug) for slug in self.slugs] or None,
            price_guide=self._daily("price_guide", self._guide_rows),
            listings=self._daily("listings", self._listing_rows),
            filtered_checks=self._daily("filtered_checks", self._check_rows),
            watch_checks=self._daily("watch_checks", self._watch_rows),
        )
        if self.rng.random() < 0.5:
            self._delay_game(rows)
        if self.shape.fingerprints:
            rows.fingerprints = [self._fingerprint(n) for n in range(self.shape.fingerprints)]
            rows.recipe = {"version": "v1", "image_url": "https://img.example/{key}?x={key}"}
        if self.shape.identifiers:
            rows.identifiers = [self._identifier() for _ in range(self.shape.identifiers)]
        if not any((rows.price_guide, rows.listings, rows.filtered_checks, rows.watch_checks)):
            rows.price_guide = {self.days[-1].isoformat(): []}  # an as-of day must come from somewhere
        return rows

    def _delay_game(self, rows: Rows) -> None:
        """Take the products of some expansions out of the newest price guides, as if their game were late."""
        late = set(self.rng.sample(self.set_ids, len(self.set_ids) // 2))
        ids = {row["id_product"] for row in rows.products if row["id_expansion"] in late}
        for day in sorted(rows.price_guide)[-self.rng.randint(1, 2) :]:
            rows.price_guide[day] = [row for row in rows.price_guide[day] if row["id_product"] not in ids]

    def _some_ids(self, count: int) -> list[int]:
        ids = {self.rng.choice(IDS) if self.rng.random() < 0.3 else self.rng.randint(1, 60) for _ in range(count)}
        return self.rng.sample(sorted(ids), len(ids))

    def _some_days(self) -> list[date]:
        """A few days, near each other or a month or a year apart, oldest first."""
        last = self.rng.choice([date(2024, 3, 3), date(2024, 1, 1), date(2023, 12, 31), date(2024, 2, 29)])
        ago = [0, 1, 7, 2, 6, 8, 13, 14, 29, 30, 31, 89, 90, 364, 365]
        some = ago[:4] if self.rng.random() < 0.5 else []
        some = [*some, *self.rng.sample(ago, len(ago))]
        return sorted({last - timedelta(days=days) for days in some[: self.shape.days]})

    def _daily(self, table: str, make: Any) -> Daily:
        if table in self.shape.absent:
            return {}
        return {day.isoformat(): make(day) for day in self.days if self.rng.random() < 0.9}

    def _maybe(self, value: Any) -> Any:
        return None if self.rng.random() < self.shape.null_share else value

    def _choose(self, pool: tuple) -> Any:
        return self._maybe(self.rng.choice(pool))

    def _price(self) -> float | None:
        return self._maybe(pools.price(self.rng))

    def _count(self) -> int | None:
        return self._maybe(self.rng.choice((0, 1, 3, 12, 70_000)))

    def _product(self, id_product: int) -> Row:
        return {
            "id_product": id_product,
            "name": pools.phrase(self.rng),
            "kind": self.rng.choice(("single", "single", "sealed")),
            "category": self._choose(pools.CATEGORIES),
            "id_expansion": self._maybe(self.rng.choice([*self.set_ids, *self.set_ids, 404, 5402])),
            "rarity": self._choose(pools.RARITIES),
            "number": self._choose(pools.NUMBERS),
            "image": self._maybe(f"https://img.example/{id_product}.jpg"),
            "image_large": self._maybe('https://img.example/l/"é".jpg'),
            "url": self._maybe(pools.url(self.rng)),
            "date_added": self._maybe(self._moment(self.rng.choice(self.days))),
        }

    def _expansion(self, id_: int) -> Row:
        url = self._maybe(pools.url(self.rng))
        return {"id": id_, "name": self.rng.choice(pools.SET_NAMES), "game": self._choose(pools.GAMES), "url": url}

    def _watched(self, slug: str) -> Row:
        return {"slug": slug, "name": pools.phrase(self.rng), "game": self._maybe("G"), "url": pools.web_url(self.rng)}

    def _moment(self, day: date) -> str:
        """A time of the day from few, so that rows meet; now and then of a neighbouring day."""
        if self.rng.random() < 0.08:
            day += timedelta(days=self.rng.choice((-1, 1)))
        hours = (
            "00:00:00", "06:00:00", "06:00:00.250000", "06:00:00.999999", "12:00:00", "18:00:00", "18:00:01",
            "23:59:59",
        )  # fmt: skip
        return f"{day}T{self.rng.choice(hours)}"

    def _subjects(self, known: list, unknown: Any) -> list:
        """Some of the known ids, some of them several times, and sometimes an unknown one."""
        some = [subject for subject in known if self.rng.random() > self.shape.null_share / 2]
        again = [self.rng.choice(some) for _ in range(self.shape.repeats)] if some else []
        return some + again + ([unknown] if self.rng.random() < 0.3 else [])

    def _guide_rows(self, day: date) -> list[Row]:
        names = [*HOLO, *(f"{name}_holo" for name in HOLO)]
        ids = dict.fromkeys(self._subjects(self.ids, UNKNOWN))  # a product twice on one day is an error here
        return [{"id_product": id_, **{name: self._price() for name in names}} for id_ in ids]

    def _listing_rows(self, day: date) -> list[Row]:
        return [
            {
                "id_product": id_,
                "scraped_at": self._moment(day),
                "available": self._count(),
                "from_price": self._price(),
                "available_foil": self._count(),
                "from_price_foil": self._price(),
            }
            for id_ in self._subjects(self.ids, UNKNOWN)
        ]

    def _check_rows(self, day: date) -> list[Row]:
        return [self._check(id_, day) for id_ in self._subjects(self.ids, UNKNOWN)]

    def _check(self, id_product: int, day: date) -> Row:
        row = {"id_product": id_product, "checked_at": self._moment(day), "offers": self.rng.choice((1, 2, 12, 70_000))}
        if self.rng.random() < 0.2:  # no offers: whatever the form, nothing contradicts it
            return row | {"offers": 0, "offer_list": self.rng.choice((None, []))}
        columns = {"lowest": self._price(), "cheapest_seller": self._choose(pools.SELLERS)}
        prices = [pools.price(self.rng) for _ in range(self.rng.randint(1, 4))]  # few, so that they tie
        offers = self._maybe([self._check_offer(prices) for _ in range(self.rng.randint(0, 9))])
        return row | columns | {"cheapest_condition": self._choose(pools.CONDITIONS), "offer_list": offers}

    def _check_offer(self, prices: list[float]) -> Row:
        """Mostly whole; the others lack what makes them worth listing."""
        row = {
            "price": self.rng.choice(prices),
            "condition": self.rng.choice(pools.CONDITIONS[:3]),
            "quantity": self._count(),
            "seller": self.rng.choice(pools.SELLERS),
        }
        if self.rng.random() < 0.15:
            row |= self.rng.choice(({"price": None}, {"seller": None}, {"condition": None}, {"condition": "nm"}))
        return row

    def _watch_rows(self, day: date) -> list[Row]:
        return [
            {
                "slug": slug,
                "checked_at": self._moment(day),
                "num_offers": self._count(),
                "lowest_price": self._price(),
                "offer_list": self._maybe([self._watch_offer() for _ in range(self.rng.randint(0, 4))]),
            }
            for slug in self._subjects(self.slugs, "unknown/slug")
            for _ in range(self.rng.choice((1, 1, 2, 3)))
        ]

    def _watch_offer(self) -> Row:
        return {
            "seller": self._choose(pools.SELLERS),
            "condition": self._maybe(self.rng.choice((*pools.CONDITIONS, "near mint"))),
            "quantity": self._maybe(self.rng.choice(("1", "2+", "", "٣"))),
            "price": self._price(),
            "comment": self._maybe(pools.phrase(self.rng)),
        }

    def _fingerprint(self, n: int) -> Row:
        return {
            "key": f"{self.rng.choice(('a', 'B', 'é', '/'))}{n}",
            **{name: f"{self.rng.getrandbits(64):016x}" for name in ("art_p", "art_d", "card_p")},
            "colour": f"{self.rng.getrandbits(384):096x}",
            "products": self.rng.sample(self.ids, min(len(self.ids), self.rng.randint(0, 3))),
        }

    def _identifier(self) -> Row:
        """A row of few products, schemes and values, so that they meet in both directions and rows repeat."""
        known = self.ids[:8] if self.ids and self.rng.random() < 0.9 else [UNKNOWN]
        return {
            "id_product": self.rng.choice(known),
            "scheme": self.rng.choice(pools.CATALOGUES[:3] if self.rng.random() < 0.7 else pools.CATALOGUES),
            "value": self.rng.choice(pools.VALUES),
        }
