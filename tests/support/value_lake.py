"""A lake for the page that values a list: more than a year of prices, shared names, hostile names."""

from datetime import date, timedelta

from tests.support.lakes.rows import Row, Rows

AS_OF = date(2026, 8, 22)
DAYS = sorted({AS_OF - timedelta(days=7 * week + late) for week in range(54) for late in (0, 2 * (week < 3))})
MARKUP = "<img src=x onerror=alert(1)>"
FORMULA = '=HYPERLINK("https://evil.example")'
YOUNG, OLD, UNPRICED, SHINY = 9, 10, 11, 12
FILLERS = range(100, 620)
TRIO = (14, 15, 16)

NAMES: dict[int, tuple[str, int, str | None]] = {
    1: ("Pikachu [Gnaw | Thunder Jolt]", 10, "058"),
    2: ("Pikachu [Gnaw | Thunder Jolt]", 11, "60"),
    3: ("Lightning Bolt", 20, "149"),
    4: ("Lightning Bolt", 21, "161"),
    5: ("Lim-Dûl the Necromancer", 20, "1"),
    6: ("Fire // Ice", 22, "128"),
    7: (MARKUP, 22, None),
    8: (FORMULA, 22, "9"),
    YOUNG: ("Young, in quotes", 22, "10"),
    OLD: ("Omnimon (BT5-086)", 22, "BT5-086"),
    UNPRICED: ("No Price Yet", 22, "12"),
    SHINY: ("Shiny Otter", 22, "13"),
    17: ("Mewtwo", 20, "54"),
    18: ("Mewtwo EX", 20, "55"),
    19: ("Basic Fire Energy", 20, "2"),
    20: ("Torkoal", 20, "29"),
    21: ("Torkoal", 21, None),
    22: ("Metal Energy", 20, None),
    23: ("Metal Energy [Special]", 20, "94"),
    **dict.fromkeys(TRIO, ("Trio [Sing]", 40, None)),
    **{id_product: (f"Filler {id_product}", 30, str(id_product)) for id_product in FILLERS},
}
SETS = {10: "Base Set", 11: "Jungle", 20: "Magic 2011", 21: "Beta", 22: "Apocalypse", 30: "Fillers", 40: "Trios"}


def _price(id_product: int, at: int) -> Row:
    trend = round(1 + id_product * 37 % 500 / 10 + at * (id_product % 5 - 1) / 100, 2)
    row: Row = {"id_product": id_product, "trend": trend, "low": round(trend * 0.7, 2)}
    return row | ({"trend_holo": trend * 3, "low_holo": trend * 2} if id_product == SHINY else {})


def _has_price(id_product: int, day: date) -> bool:
    age = (AS_OF - day).days
    if id_product in (YOUNG, OLD):
        return age < 100 if id_product == YOUNG else age > 30
    return id_product != UNPRICED and (id_product % 3 > 0 or age % 21 == 0)  # every third one has gaps


def _guide(day: date) -> list[Row]:
    return [_price(id_product, DAYS.index(day)) for id_product in NAMES if _has_price(id_product, day)]


LAKE = Rows(
    products=[
        {"id_product": id_product, "name": name, "kind": "single", "id_expansion": set_, "number": number}
        for id_product, (name, set_, number) in NAMES.items()
    ]
    + [{"id_product": 50, "name": "Base Set Booster Box", "kind": "sealed", "id_expansion": 10}],
    identifiers=[
        {"id_product": id_product, "scheme": scheme, "value": value}
        for id_product, scheme, value in (
            *((3, "set_number", "m11/149"), (4, "set_number", "lea/161"), (1, "set_number", "base1/58")),
            *((3, "set_number", "mix/1"), (4, "set_number", "mix/2"), (TRIO[0], "set_number", "trs/016")),
            *((19, "set_number", "sve/2"), (23, "set_number", "m11/94")),
            *((id_product, "set_number", "trs/TG02") for id_product in TRIO[1:]),
            *(
                (1, "tcgdex", "base1-58"),
                (3, "tcgplayer", "33470"),
                (6, "scryfall", "5b1f8a3e-0c55-4f5e-9e0a-0d2d2a2b7c11"),
            ),
        )
    ],
    expansions=[{"id": id_, "name": name, "game": "Mythgrove"} for id_, name in SETS.items()],
    price_guide={str(day): _guide(day) for day in DAYS},
    filtered_checks={
        str(AS_OF): [
            {
                "id_product": 3,
                "checked_at": f"{AS_OF}T03:00:00",
                "offers": 1,
                "offer_list": [{"price": 7.5, "condition": "NM", "quantity": 1, "seller": "dune-cards"}],
            }
        ]
    },
)
