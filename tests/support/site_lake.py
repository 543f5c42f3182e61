"""A lake in which every example of the description exists, with enough cards to scroll through."""

from tests.support.lakes.rows import Row, Rows

MARKET = "https://market.example/en"
IMAGES = "https://images.example.com"
DAYS = [f"2026-08-{day:02}" for day in range(1, 23)]
EMBERFOX = 10002
SLUG = "emberfox-ex-asp012"


def _product(id_product: int, name: str, kind: str = "single", **more: object) -> Row:
    return {"id_product": id_product, "name": name, "kind": kind, "id_expansion": 6204, **more}


PRODUCTS = [
    _product(
        EMBERFOX,
        "Emberfox ex [Blazing Tail]",
        rarity="Ultra Rare",
        number="012",
        image=f"{IMAGES}/asp/012.png",
        image_large=f"{IMAGES}/asp/012_large.png",
        url=f"{MARKET}/Singles/Ashen-Peaks/Emberfox",
    ),
    _product(1, '<b>Bold</b> & "quoted"', image=f"{IMAGES}/missing.png", rarity="Rare", number="1"),
    _product(2, "No picture", url="javascript:alert(1)"),
    _product(3, "Insecure picture", image="http://images.example.com/3.png"),
    *(_product(100 + n, f"Filler {n:03}", id_expansion=7, number=str(n)) for n in range(130)),
    *(_product(500 + n, f"Box {n}", "sealed") for n in range(3)),
]
OFFERS = [
    {"price": 18.5, "condition": "NM", "quantity": 2, "seller": "kaartenhoek"},
    {"price": 19.0, "condition": "EX", "quantity": None, "seller": "dune-cards"},
]


def _guide(at: int) -> list[Row]:
    rows = [{"id_product": EMBERFOX, "low": 16.9, "avg": 21.0 + at / 10, "trend": 20.0 + at / 10}]
    return rows + [{"id_product": 100 + n, "trend": 1.0 + n / 100} for n in range(130)] * (at == len(DAYS) - 1)


def _check(day: str, at: int) -> Row:
    check = {"id_product": EMBERFOX, "checked_at": f"{day}T03:14:05", "offers": 2, "offer_list": OFFERS}
    return check if at != 5 else {**check, "offers": 0, "offer_list": []}


def _watched(day: str, at: int) -> Row:
    offer = {"seller": "kaartenhoek", "condition": "NM", "quantity": "2", "price": 18.5, "comment": "<i>sleeved</i>"}
    return {"slug": SLUG, "checked_at": f"{day}T18:00:04", "lowest_price": 17.0 + at / 10, "offer_list": [offer]}


LAKE = Rows(
    products=PRODUCTS,
    expansions=[
        {"id": 6204, "name": "Ashen Peaks", "game": "Mythgrove", "url": f"{MARKET}/Expansions/Ashen-Peaks"},
        {"id": 7, "name": "Filler Set"},
    ],
    watchlist=[
        {"slug": SLUG, "name": "Emberfox ex", "game": "Mythgrove", "url": f"{MARKET}/Singles/Ashen-Peaks/Emberfox"},
        {"slug": "a/slash", "name": "Zebra with a slash", "url": f"{MARKET}/Singles/Zebra"},
    ],
    fingerprints=[
        {
            "key": "asp-012",
            "art_p": "0" * 16,
            "art_d": "1" * 16,
            "card_p": "2" * 16,
            "colour": "0a" * 48,
            "products": [EMBERFOX],
        }
    ],
    identifiers=[
        {"id_product": EMBERFOX, "scheme": scheme, "value": value}
        for scheme, value in (("tcgdex", "asp-012"), ("tcgplayer", "516713"), ("tcgplayer", "<b>&amp;</b>"))
    ],
    recipe={"version": "phash-2", "image_url": f"{IMAGES}/{{key}}.png"},
    price_guide={day: _guide(at) for at, day in enumerate(DAYS)},
    listings={
        day: [{"id_product": EMBERFOX, "scraped_at": f"{day}T03:00:00", "available": 400 + at, "from_price": 16.9}]
        for at, day in enumerate(DAYS)
    },
    filtered_checks={day: [_check(day, at)] for at, day in enumerate(DAYS)},
    watch_checks={day: [_watched(day, at)] for at, day in enumerate(DAYS)},
)
