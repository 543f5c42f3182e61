"""One lake written by hand that shows each rule once; the golden bodies are its answers.

As-of day 2024-03-03, a Sunday; 29 February and the turn of the month lie inside the history.
"""

from typing import Any

from tests.support.lakes.rows import Row, Rows

SITE = "https://market.example/en"


def product(id_product: int, name: str, kind: str = "single", **more: Any) -> Row:
    return {"id_product": id_product, "name": name, "kind": kind, **more}


def guide(id_product: int, low: float | None, avg: float | None, trend: float | None, **more: Any) -> Row:
    return {"id_product": id_product, "low": low, "avg": avg, "trend": trend, **more}


def listing(id_product: int, at: str, available: int | None, from_price: float | None, **more: Any) -> Row:
    return {"id_product": id_product, "scraped_at": at, "available": available, "from_price": from_price, **more}


def check(id_product: int, at: str, offers: int, **more: Any) -> Row:
    return {"id_product": id_product, "checked_at": at, "offers": offers, **more}


def offer(price: float | None, seller: str | None, condition: str | None = "NM", quantity: int | None = 1) -> Row:
    return {"price": price, "condition": condition, "quantity": quantity, "seller": seller}


def seen(slug: str, at: str, lowest_price: float | None = None, **more: Any) -> Row:
    return {"slug": slug, "checked_at": at, "lowest_price": lowest_price, **more}


def wanted(seller: str | None, price: float | None, **more: Any) -> Row:
    return {"seller": seller, "price": price, **more}


EXPANSIONS = [
    {"id": 1, "name": "Base Set", "game": "Pokémon", "url": f"{SITE}/Expansions/Base-Set?language=1#top"},
    {"id": 3, "name": "Base Set", "game": "Other"},  # a name twice
    {"id": 151, "name": "Jungle", "url": f"{SITE}/Expansions/Jungle"},  # the number 151 is an id ...
    {"id": 5402, "name": "151", "url": f"{SITE}/Expansions/151"},  # ... and a name
    {"id": 7, "name": "404", "url": f"{SITE}/Expansions/404#x"},  # a name that is no id
    {"id": 8, "name": "E\u0301pe\u0301e et Bouclier"},  # written with combining accents
    {"id": 9, "name": "Empty & Unused"},  # no products
    {"id": 10, "name": 'HS—Unleashed "Quoted"'},
]

PRODUCTS = [
    product(
        100,
        "Charizard ex",
        category="Pokémon Single",
        id_expansion=1,
        rarity="Ultra Rare",
        number="4",
        image="https://img.example/100.jpg",
        image_large="https://img.example/100-large.jpg",
        url=f"{SITE}/Singles/Base-Set/Charizard-ex?utm_source=x&a=b#offers",
        date_added="2024-02-28T10:00:00.999999",
    ),
    product(101, "charizard EX", id_expansion=3, rarity="ultra rare", number="004", date_added="2024-02-28T10:00:00"),
    product(102, "Pokémon Flabébé", id_expansion=8, rarity="Rare Holo", number="TG04", url=f"{SITE}/S/Flabebe"),
    product(103, "Pokémon Straße", id_expansion=8, rarity="Rare Holo", number="tg4"),
    product(104, "İstanbul Δ 25Å", id_expansion=151, number="4a"),
    product(105, 'Live☆Twin 🐉 ""Quoted"" \\ back', id_expansion=5402, number="0"),
    product(106, "ナッシー[Exeggutor]", id_expansion=5402, number="000"),
    product(107, "Double  Space ", id_expansion=7, number=""),  # an empty number is none
    product(108, "Tab\tand\u2028separator", number="10"),
    product(109, "Full width 151", id_expansion=999, number="BS 4"),  # an expansion that the lake does not hold
    product(110, "100% _Wild_ *", id_expansion=1, rarity="", number="!"),
    product(111, "Booster Box", "sealed", category="Booster", id_expansion=1, url=f"{SITE}/Boosters/Base-Set"),
    product(112, "Booster", "sealed", id_expansion=1, date_added="1999-12-31T23:59:59"),
    product(113, "Never priced"),
    product(114, "Tie one", number="7"),
    product(115, "Tie two", number="7"),
    product(116, "Tie three", number="07"),
    product(117, "Rounding up", number="SWSH050"),
    product(118, "Joke price", number="12345678901"),
    product(119, "Free of charge"),
    product(120, "Counted only", rarity="Common"),
    product(121, "No offers"),
    product(122, "Many offers", rarity="Common"),
    product(123, "Checked twice a day"),
    product(9007199254740993, "Beyond a double", number="9"),
]

FULL = {
    "avg1": 3200.004,
    "avg7": 3199.995,
    "avg30": 3000.0,
    "low_holo": 1.115,
    "avg_holo": 2.0,
    "trend_holo": 3.145,
    "avg1_holo": 4.0,
    "avg7_holo": 5.25,
    "avg30_holo": 6.005,
}
PRICE_GUIDE = {
    "2024-02-28": [guide(100, 3000.0, 3100.0, 3150.0), guide(102, 0.5, 0.6, 0.7)],
    "2024-02-29": [guide(100, 3050.0, None, 3155.5, low_holo=1.0)],
    "2024-03-02": [guide(102, 0.02, 0.05, 0.04), guide(122, 0.02, None, None)],
    "2024-03-03": [
        guide(100, 2900.0, 3200.0, 3200.0, **FULL),
        guide(101, 2900.0, 3200.0, 3200.0),
        guide(103, None, None, None),  # a row without prices is a row
        guide(111, 120.125, 130.375, 125.005),
        guide(114, 0.02, 1.0, 5.0),
        guide(115, 0.02, 1.0, 5.0),
        guide(116, 0.021, 1.0, 5.001),  # equal once rounded
        guide(117, 1.005, 2.675, 0.125),
        guide(118, 999999.99, 234567.89, 0.01),
        guide(119, 0.0, 0.0, 0.0),
        guide(4040404, 1.0, 1.0, 1.0),  # a product that the lake does not hold
    ],
}
LISTINGS = {
    "2024-03-01": [listing(100, "2024-03-01T03:00:00", 5, 2999.0)],
    "2024-03-02": [
        listing(100, "2024-03-02T03:00:00.1", 4, 2950.0),
        listing(100, "2024-03-02T03:00:00.9", 4, 2951.0, available_foil=1),  # the greater of one second
        listing(123, "2024-03-02T05:00:00", 2, 0.4),
        listing(123, "2024-03-02T04:00:00", 3, 0.3),  # the earlier of one day
    ],
    "2024-03-03": [
        listing(100, "2024-03-03T03:00:00", 3, 2900.005, available_foil=0, from_price_foil=3000.0),
        listing(111, "2024-03-04T00:30:00", None, None),  # a time outside its day
        listing(4040404, "2024-03-03T23:00:00", 1, 1.0),
    ],
}
CHARIZARD_OFFERS = [
    offer(2901.0, "zoe", "EX"),
    offer(2900.0, "zoe", "NM", 2),
    offer(2900.0, "Adam", "NM", None),
    offer(2900.0, "adam", "MT", 3),
    offer(2900.0, "Adam", "LP", 4),  # same price and seller: the lake's order
    offer(2950.0, "émile", "PO", 1),
    offer(2899.995, "zoe", "GD", 1),  # 2900 once rounded
    offer(1.0, None, "NM"),
    offer(None, "bob", "NM"),
    offer(1.0, "bob", "near mint"),
]
FILTERED_CHECKS = {
    "2024-02-29": [check(100, "2024-02-29T06:00:00", 8, lowest=3050.0, cheapest_seller="old")],
    "2024-03-02": [
        check(100, "2024-03-02T06:00:00", 7, lowest=2999.999, cheapest_seller="x", cheapest_condition="NM"),
        check(123, "2024-03-02T06:00:00", 1, lowest=9.0),
        check(123, "2024-03-02T18:00:00", 2, lowest=8.0),
        check(121, "2024-03-02T05:59:59", 0, offer_list=[]),
    ],
    "2024-03-03": [
        check(100, "2024-03-03T06:00:00", 42, lowest=1.0, cheapest_seller="no", offer_list=CHARIZARD_OFFERS),
        check(119, "2024-03-03T06:00:00", 1, offer_list=[offer(0.0, "giver", "PL", None)]),
        check(120, "2024-03-03T06:00:00", 3, lowest=2.345, cheapest_seller="s", cheapest_condition="EX"),
        check(122, "2024-03-03T06:00:00", 12, offer_list=[offer(i / 8, f"s{i}", "NM") for i in range(12, 0, -1)]),
        check(4040404, "2024-03-03T06:00:00", 1, lowest=1.0),
    ],
}
WATCHLIST = [
    {"slug": "Charizard-Base", "name": "Charizard", "game": "Pokémon", "url": f"{SITE}/Singles/Base/Charizard-ex?a=b"},
    {"slug": "charizard-base-2", "name": "Charizard 2", "url": f"{SITE}/Singles/Base-2/Charizard-ex-V2"},
    {"slug": "sealed/Booster-Box", "name": "Booster Box", "url": f"{SITE}/Sealed/Booster-Box#top"},
    {"slug": "Épée", "name": "Sword", "url": f"{SITE}/Sealed/Épée-Bouclier"},
    {"slug": "never", "name": "Never checked", "url": f"{SITE}/Sealed/Never"},
    {"slug": "zero", "name": "Worth nothing once", "url": f"{SITE}/Sealed/Zero"},
]
WATCH_CHECKS = {
    "2024-01-31": [seen("Charizard-Base", "2024-01-31T06:00:00", 2000.0)],
    "2024-02-24": [seen("zero", "2024-02-24T06:00:00", 0.0)],
    "2024-02-25": [seen("Charizard-Base", "2024-02-25T06:00:00", 2500.0)],
    "2024-02-26": [
        seen("Charizard-Base", "2024-02-26T06:00:00", 2600.0),
        seen("Charizard-Base", "2024-02-26T18:00:00", 2600.01),
    ],
    "2024-02-29": [seen("Charizard-Base", "2024-02-29T06:00:00")],
    "2024-03-02": [
        seen("Charizard-Base", "2024-03-02T05:00:00", 3000.0),
        seen("Charizard-Base", "2024-03-02T07:00:00", 2000.0),  # as near, but later
        seen("charizard-base-2", "2024-03-01T18:00:00", 50.0),  # 12 hours off; a time outside its day
    ],
    "2024-03-03": [
        seen(
            "Charizard-Base",
            "2024-03-03T06:00:00.5",
            num_offers=9,
            offer_list=[
                wanted("b", 3300.0, condition="NM", quantity="2", comment='first\nline "two"'),
                wanted("c", None),
                wanted(None, 3200.0, quantity="1+"),
                wanted("a", 3300.0),
            ],
        ),
        seen("charizard-base-2", "2024-03-03T06:00:00", 55.0, offer_list=[]),
        seen("Épée", "2024-03-03T06:00:00"),
        seen("zero", "2024-03-03T06:00:00", 1.0, num_offers=1),
        seen("unheard-of", "2024-03-03T06:00:00", 1.0),
    ],
}
FINGERPRINTS = [
    {
        "key": key,
        "art_p": f"{n:016x}",
        "art_d": "0123456789abcdef",
        "card_p": "ffffffffffffffff",
        "colour": "0a" * 48,
        "products": products,
    }
    for n, (key, products) in enumerate([("base/4", [100, 101]), ("base/10", []), ("sv/é", [102])])
]
IDENTIFIERS = [
    {"id_product": id_product, "scheme": scheme, "value": value}
    for id_product, scheme, value in [
        (100, "tcgplayer", "42382"),
        (100, "tcgplayer", "42382"),  # twice
        (100, "tcgplayer", "9"),  # texts: after 42382
        (101, "tcgplayer", "42382"),
        (9007199254740993, "tcgplayer", "42382"),
        (100, "tcgdex", "base1-4"),
        (102, "tcgdex", "Épée/é+%26"),
        (102, "tcgdex", "\U0001f409"),  # after \uffee by code point, before it in UTF-16
        (111, "tcgdex", "\uffee"),
        (100, "0_9", "null"),
        (4040404, "unseen", "1"),  # a product that the lake does not hold
        (4040404, "tcgdex", "base1-5"),
    ]
]
FIXED = Rows(
    products=PRODUCTS,
    expansions=EXPANSIONS,
    watchlist=WATCHLIST,
    fingerprints=FINGERPRINTS,
    recipe={"version": "art-1", "image_url": "https://img.example/{key}.jpg"},
    identifiers=IDENTIFIERS,
    price_guide=PRICE_GUIDE,
    listings=LISTINGS,
    filtered_checks=FILTERED_CHECKS,
    watch_checks=WATCH_CHECKS,
)
