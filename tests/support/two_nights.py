"""Lakes of two nights, drawn by seed. Between them everything changes that a diff reports."""

import copy
import random
from datetime import date, timedelta
from pathlib import Path

from tests.support.lakes import Rows, write

GUIDE = [f"{name}{holo}" for holo in ("", "_holo") for name in ("low", "avg", "trend", "avg1", "avg7", "avg30")]
NAMES = ("Ember Fox", "Déjà Vu", 'Say "hi"', "Tab\tand \x1b[31mred", "<script>alert(1)</script>", "100 %_", "ナッシー")


class NightLake:
    """The rows of a lake: `flat` by table, `daily` by table and day."""

    def __init__(self, seed: int, days: list[date], products: int = 240):
        self.rng = random.Random(seed)
        self.days = days
        self.version = "recipe-1"
        self.flat = {
            "expansions": [self.expansion(id_) for id_ in range(1, 9)],
            "products": [self.product(id_) for id_ in range(100, 100 + products)],
            "watchlist": [self.watched(slug) for slug in ("alpha", "be/ta", "gamma.json", "délta", "pages")],
            "fingerprints": [self.fingerprint(f"img-{n:04}") for n in range(60)],
            "identifiers": [self.identifier(n) for n in range(90)],
        }
        self.daily: dict[str, dict[date, list[dict]]] = {
            "price_guide": {}, "listings": {}, "filtered_checks": {}, "watch_checks": {},
        }  # fmt: skip
        for day in days:
            self.add_day(day)

    def expansion(self, id_: int) -> dict:
        return {"id": id_, "name": f"Set {id_}", "url": f"https://market.example/sets/{id_}?x=1"}

    def product(self, id_: int) -> dict:
        name = f"{self.rng.choice(NAMES)} {id_}"
        kind = "sealed" if id_ % 7 == 0 else "single"
        return {
            "id_product": id_, "name": name, "kind": kind, "rarity": self.rng.choice(["Rare", None]),
            "number": str(id_ % 50), "id_expansion": self.rng.choice([None, *range(1, 10)]),
            "url": self.rng.choice([None, f"https://market.example/p/{id_}"]),
            "image": f"/explore/drawn/{id_:016x}.svg" if id_ % 2 else None,
        }  # fmt: skip

    def watched(self, slug: str) -> dict:
        return {"slug": slug, "name": f"Watched {slug}", "url": f"https://market.example/w/{slug}"}

    def fingerprint(self, key: str) -> dict:
        hashes = {name: f"{self.rng.getrandbits(64):016x}" for name in ("art_p", "art_d", "card_p")}
        return {"key": key, **hashes, "colour": f"{self.rng.getrandbits(384):096x}", "products": [100, 101]}

    def identifier(self, n: int) -> dict:
        return {"id_product": 100 + n // 2, "scheme": ("tcgdex", "mtgjson", "same")[n % 3], "value": f"é-{n % 40}"}

    def price(self) -> float | None:
        return self.rng.choice([None, 0.0, 0.02, 0.08, 1.0, self.rng.randint(1, 99_999) / 100])

    def add_day(self, day: date) -> None:
        """Add rows of one day for some of the products and for all tracked ones."""
        ids = [row["id_product"] for row in self.flat["products"]]
        some = sorted(self.rng.sample(ids, len(ids) // 2))
        noon = f"{day}T12:00:00"
        self.daily["price_guide"][day] = [
            {"id_product": id_, **{name: self.price() for name in GUIDE}} for id_ in some[::2]
        ]
        self.daily["listings"][day] = [
            {"id_product": id_, "scraped_at": noon, "available": self.rng.randint(0, 9), "from_price": self.price()}
            for id_ in some[::3]
        ]
        self.daily["filtered_checks"][day] = [self.check(id_, noon) for id_ in some[::4]]
        self.daily["watch_checks"][day] = [
            {"slug": row["slug"], "checked_at": noon, "num_offers": 3, "lowest_price": self.price()}
            for row in self.flat["watchlist"]
        ]

    def check(self, id_: int, at: str) -> dict:
        offers = [
            {"price": self.rng.randint(1, 9999) / 100, "condition": "NM", "quantity": 1, "seller": f"seller{n}"}
            for n in range(self.rng.randint(0, 7))
        ]
        return {"id_product": id_, "checked_at": at, "offers": len(offers), "offer_list": offers}

    def next(self, day: date | None) -> "NightLake":
        """Return a later night with changes to catalogue, watchlist and fingerprints; with a day, also prices of it."""
        night = copy.deepcopy(self)
        products = night.flat["products"]
        del products[3], products[40]
        products += [night.product(id_) for id_ in (9001, 9002)]
        products[5]["name"] += " (renamed)"
        products[6]["id_expansion"] = 2 if products[6]["id_expansion"] != 2 else 3
        products[7]["kind"] = "sealed" if products[7]["kind"] == "single" else "single"
        night.flat["expansions"][4]["name"] = "Set five"
        del night.flat["expansions"][7]
        night.flat["watchlist"][1:2] = [night.watched("new one")]
        prints = night.flat["fingerprints"]
        del prints[0]
        prints[1]["products"] = [102]
        prints.append(night.fingerprint("img-new"))
        identifiers = night.flat["identifiers"]
        identifiers[9]["id_product"] += 1
        identifiers[12]["value"] = "<b>moved</b>"
        identifiers += [{"id_product": 9001, "scheme": "added", "value": "1"}, identifiers[20]]
        night.version = "recipe-2"
        if day:
            night.days.append(day)
            night.add_day(day)
        return night

    def write(self, folder: Path) -> Path:
        daily = {table: {str(day): rows for day, rows in days.items()} for table, days in self.daily.items()}
        recipe = {"version": self.version, "image_url": "https://img.example/{key}.png"}
        return write(Rows(**self.flat, **daily, recipe=recipe), folder)


def days(first: str, count: int) -> list[date]:
    return [date.fromisoformat(first) + timedelta(n) for n in range(count)]
