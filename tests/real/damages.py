"""Kinds of damage that a source does to a lake, and of harmless change, each as queries over the rows of its files.

A query calls the rows of tonight's file `rows`, and those of the same table one, three and seven days ago `d1`, `d3`
and `d7`. `products` has each product's kind, set and game.
"""

from dataclasses import dataclass

FIGURES = ("low", "avg", "trend", "avg1", "avg7", "avg30")
FOIL = tuple(f"{name}_holo" for name in FIGURES)
PRICES = (*FIGURES, *FOIL)


@dataclass(frozen=True)
class Edit:
    """A query that replaces the rows of a file."""

    table: str
    query: str
    back: int = 0  # how many days ago the file is of, in a table of days


@dataclass(frozen=True)
class DamageKind:
    edits: tuple[Edit, ...]
    nights: int = 1  # on which the files come damaged; a query calls the number of the night `{night}`


def some(condition: str) -> str:
    """SQL for whether a row is of the products of a condition."""
    return f"id_product in (select id_product from products where {condition})"


MAGIC = some("game = 'Magic'")
HALF_OF_MAGIC = some("game = 'Magic' and hash(id_expansion) % 2 = 0")
SEALED = some("kind = 'sealed'")
_SETS = "select id_expansion from products where kind = 'single' group by all order by count(*) desc, 1"
LARGE_SET = some(f"id_expansion = ({_SETS} limit 1)")
SMALL_SET = some(
    "id_expansion = (select id_expansion from products where kind = 'single' group by all "
    "having count(*) <= 60 order by count(*) desc, 1 limit 1)"
)
TEN_SETS = some(f"id_expansion in ({_SETS} limit 10 offset 3)")
DEAREST = "id_product in (select id_product from rows order by trend desc nulls last, id_product limit {})"


def change(where: str = "true", columns: tuple[str, ...] = PRICES, **named: str) -> str:
    """SQL that changes columns of some rows; `{}` in `to` stands for the column."""
    to = named.pop("to")
    changed = ", ".join(
        f"case when {where} then {to.replace('{}', name)} else {name} end as {name}" for name in columns
    )
    return f"select * replace ({changed}) from rows"


def times(factor: str, where: str = "true", columns: tuple[str, ...] = PRICES) -> str:
    """SQL that multiplies prices of some rows."""
    return change(where, columns, to=f"round({{}} * {factor}, 2)")


def swap(pairs: list[tuple[str, str]], where: str = "true") -> str:
    """SQL that swaps columns of some rows."""
    both = [*pairs, *((b, a) for a, b in pairs)]
    return (
        f"select * replace ({', '.join(f'case when {where} then {b} else {a} end as {a}' for a, b in both)}) from rows"
    )


def shift(where: str, columns: tuple[str, ...] = PRICES, of: str = "id_product") -> str:
    """SQL that gives some rows the values of the row before."""
    moved = ", ".join(f"lag({name}, 1, {name}) over (order by {of}) as {name}" for name in columns)
    return f"select * replace ({moved}) from (from rows where {where}) union all from rows where not ({where})"


def older(table: str, where: str, columns: tuple[str, ...] = PRICES) -> str:
    """SQL that gives some rows the values of an older day."""
    condition = where.replace("id_product in", "r.id_product in")
    moved = ", ".join(f"case when {condition} then o.{name} else r.{name} end as {name}" for name in columns)
    return f"select r.* replace ({moved}) from rows as r left join {table} as o using (id_product)"


def without(where: str) -> str:
    """SQL for the other rows."""
    return f"from rows where not coalesce({where}, false)"


def _part(of: int) -> str:
    """SQL for whether a row is of a part of the products of a game, drawn by their ids."""
    return some(f"game = 'Magic' and hash(id_product) % {of} = 0")


def _shift_part(of: int, column: str) -> str:
    """SQL that gives some rows of a game the value of the row before."""
    before = f"lag({column}, 1, {column}) over (order by id_product)"
    return f"select * replace (case when {_part(of)} then {before} else {column} end as {column}) from rows"


FINISHES = list(zip(FIGURES, FOIL, strict=True))
_GUIDE = {
    # levels
    "all prices x 9": times("9"),
    "all prices x 2": times("2"),
    "all prices x 1.2": times("1.2"),
    "all prices x 1.08": times("1.08"),
    "x 1.05, a night of a drift": times("1.05"),
    "one game x 9": times("9", MAGIC),
    "one game x 1.2 (VAT)": times("1.2", MAGIC),
    "one game x 1.08": times("1.08", MAGIC),
    "half of a game's sets x 1.08": times("1.08", HALF_OF_MAGIC),
    "VAT on low alone": times("1.19", columns=("low", "low_holo")),
    "one game in cents": times("100", MAGIC),
    "trend in dollars (x 1.1)": times("1.1", columns=("trend", "trend_holo")),
    "foil x 100": times("100", columns=FOIL),
    "averages x 100": times("100", columns=("avg1", "avg7", "avg30")),
    "avg7 / 3": times("0.33", columns=("avg7",)),
    "one set x 50": times("50", LARGE_SET),
    "one set x 3": times("3", LARGE_SET),
    "one set x 2": times("2", LARGE_SET),
    "one small set x 3": times("3", SMALL_SET),
    "ten sets x 3": times("3", TEN_SETS),
    "sealed x 2": times("2", SEALED),
    "sealed x 1.2": times("1.2", SEALED),
    "sealed in cents": times("100", SEALED),
    "the 200 dearest x 10": times("10", DEAREST.format(200)),
    "the 200 dearest x 0.01": times("0.01", DEAREST.format(200)),
    "1,500 products at low 9,999": change(
        "id_product in (from (select id_product from rows order by hash(id_product) limit 1500))", ("low",), to="9999"
    ),
    "twelve of the dearest parked at 99,999": change(DEAREST.format(12), ("low", "trend"), to="99999"),
    "prices below 0.10 x 10": change(to="case when {} < 0.1 then {} * 10 else {} end"),
    "whole euros": change(to="ceil({})"),
    "half of the products in cents": times("100", "id_product % 2 = 0"),
    "0.02 for no price": change(columns=("trend", "trend_holo"), to="coalesce(nullif({}, 0), 0.02)"),
    "0 for no price": change(to="coalesce({}, 0)"),
    "no prices under 0.10": change(to="case when {} >= 0.1 then {} end"),
    "noise of 50 %": times("(0.5 + hash(id_product) % 1000 / 1000)"),
    "noise of 50 % in one set": times("(0.5 + hash(id_product) % 1000 / 1000)", LARGE_SET),
    # rows and columns in another's place
    "all rows shifted by one": shift("true"),
    "one set shifted by one product": shift(LARGE_SET),
    "one small set shifted": shift(SMALL_SET),
    "avg7 of the product before": shift("true", ("avg7",)),
    "avg1 and avg7 swapped": swap([("avg1", "avg7")]),
    "avg30 = avg7": change(columns=("avg30",), to="avg7"),
    "low and trend swapped": swap([("low", "trend")]),
    "low = trend": change(columns=("low",), to="trend"),
    "trend = low": change(columns=("trend",), to="low"),
    "foil swapped for ten sets": swap(FINISHES, TEN_SETS),
    "foil swapped in one set": swap(FINISHES, LARGE_SET),
    "foil prices as plain ones": f"select * replace ({', '.join(f'{a} as {b}' for a, b in FINISHES)}) from rows",
    "one set in another order": (
        "with mine as (select *, row_number() over (order by id_product) as place, row_number() over (order by "
        f"hash(id_product)) as other from rows where {LARGE_SET}) select a.* exclude (place, other) "
        "replace (b.id_product as id_product) from mine as a join mine as b on a.place = b.other union all "
        f"by name from rows where not {LARGE_SET}"
    ),
    # days in another's place
    "yesterday's guide": older("d1", "true"),
    "the guide of a week ago": older("d7", "true"),
    "one game's guide of yesterday": older("d1", MAGIC),
    "one game's guide of three days ago": older("d3", MAGIC),
    "one set frozen": older("d1", LARGE_SET),
    "one small set frozen": older("d1", SMALL_SET),
    "ten sets frozen": older("d1", TEN_SETS),
    "half of the products frozen": older("d1", "hash(r.id_product) % 2 = 0"),
    "half of the products of a week ago": older("d7", "hash(r.id_product) % 2 = 0"),
    "avg30 of a week ago": older("d7", "true", ("avg30", "avg30_holo")),
    "trend frozen": older("d1", "true", ("trend", "trend_holo")),
    "sealed of a week ago": older("d7", SEALED),
    # what is missing
    "half of the rows": "from rows where id_product % 2 = 0",
    "9 % of the rows missing": "from rows where id_product % 11 <> 0",
    "rows of one set gone": without(LARGE_SET),
    "rows of sealed gone": without(SEALED),
    "8 % of a game's rows missing": without(f"{MAGIC} and id_product % 12 = 0"),
    "no trends": change(columns=("trend", "trend_holo"), to="null"),
    "one set without prices": change(LARGE_SET, to="null"),
    "one game without foil": change(MAGIC, FOIL, to="null"),
    "no averages": change(columns=("avg1", "avg7", "avg30"), to="null"),
    "no trends for the 200 dearest": change(DEAREST.format(200), ("trend", "trend_holo"), to="null"),
    # how the columns of a row stand to each other, and how values are written
    "low and trend swapped in one set": swap([("low", "trend")], LARGE_SET),
    "prices of 10 and more in whole euros": change(to="case when {} >= 10 then floor({}) else {} end"),
    "low of the dearest x 0.7": times("0.7", DEAREST.format(450), ("low",)),
    "trend rounded to 10 cents": change(columns=("trend",), to="round({}, 1)"),
    "trend 0.50 higher": change(columns=("trend",), to="{} + 0.5"),
    "low twice as high below 1": change(columns=("low",), to="case when {} < 1 then {} * 2 else {} end"),
    # one value
    "one set at one price": change(LARGE_SET, to="4.99"),
    "a tenth of trends at 0.02": change("id_product % 10 = 0", ("trend",), to="0.02"),
}  # fmt: skip

_PRODUCTS = {
    "names N/A": "select * replace ('N/A' as name) from rows",
    "names in a wrong encoding": "select * replace (replace(replace(name, 'e', 'Ã©'), 'a', 'Ã¤') as name) from rows",
    "names with ? for letters": "select * replace (regexp_replace(name, '[aeiou]', '?', 'g') as name) from rows",
    "names of the product before": shift("true", ("name",)),
    "names of one set shifted": shift(LARGE_SET, ("name",)),
    "categories translated": "select * replace (concat('Karte: ', category) as category) from rows",
    "date_added all tonight": "select * replace (timestamp '2026-08-22' as date_added) from rows",
    "singles as sealed": "select * replace ('sealed' as kind) from rows",
    "twice the products": "from rows union all select * replace (id_product + 90000000 as id_product) from rows",
    "one set gone": without(LARGE_SET),
    "one game gone": without(MAGIC),
    "one set moved to another": change(SMALL_SET, ("id_expansion",), to=f"({_SETS} limit 1)"),
    "all sets unknown": "select * replace (id_expansion + 1000000 as id_expansion) from rows",
    "no rarities": "select * replace (null::varchar as rarity) from rows",
    "rarities of the product before": shift("true", ("rarity",)),
    "numbers without leading zeros": "select * replace (ltrim(number, '0') as number) from rows",
    "one picture for all": "select * replace ('https://img.example/none.png' as image) from rows",
    "one picture for one set": change(LARGE_SET, ("image",), to="'https://img.example/none.png'"),
    "pictures of the product before": shift("true", ("image",)),
    "no pages": "select * replace (null::varchar as url) from rows",
    "pages of the product before": shift("true", ("url",)),
}  # fmt: skip
_EXPANSIONS = {
    "two set names exchanged": "select * replace (case id when (select min(id) from rows) then (select arg_max(name, "
    "id) from rows) when (select max(id) from rows) then (select arg_min(name, id) from rows) else name end as name) "
    "from rows",
    "all sets renamed": "select * replace (concat('x', name) as name) from rows",
    "names of sets shifted": shift("true", ("name",), of="id"),
    "no games": "select * replace (null::varchar as game) from rows",
    "the sets of one game as another's": "select * replace ('Pokémon' as game) from rows",
    "all sets gone": "from rows limit 0",
}
_LISTINGS = {
    "listings x 10": "select * replace (from_price * 10 as from_price) from rows",
    "listings in cents": "select * replace (from_price * 100 as from_price) from rows",
    "listings in dollars": "select * replace (round(from_price * 1.1, 2) as from_price) from rows",
    "listings of a price of 1": "select * replace (1.0 as from_price) from rows",
    "no from prices": "select * replace (null::double as from_price) from rows",
    "nothing available": "select * replace (0 as available) from rows",
    "listings of foil as plain": "select * replace (from_price_foil as from_price) from rows",
    "half of the listings": "from rows where id_product % 2 = 0",
    "yesterday's listings under today": "from d1",
    "one listing available of each": "select * replace (1 as available) from rows",
    "listings x 1.08": "select * replace (round(from_price * 1.08, 2) as from_price) from rows",
}
_OFFERS = "list_transform(offer_list, lambda offer: struct_update(offer, price := round(offer.price * {}, 2)))"


def offers_times(factor: str) -> str:
    """SQL that multiplies the prices of offers."""
    lowest = f"round(lowest * {factor}, 2) as lowest"
    return f"select * replace ({lowest}, {_OFFERS.format(factor)} as offer_list) from rows"


_CHECKS = {
    "offers in cents": offers_times("100"),
    "offers x 1.35": offers_times("1.35"),
    "offers x 1.08": offers_times("1.08"),
    "yesterday's offers under today": "from d1",
    "offers of one seller": "select * replace ('one' as cheapest_seller, list_transform(offer_list, "
    "lambda offer: struct_update(offer, seller := 'one')) as offer_list) from rows",
    "offers of one condition": "select * replace ('PO' as cheapest_condition, list_transform(offer_list, "
    "lambda offer: struct_update(offer, condition := 'PO')) as offer_list) from rows",
    "offers in dollars (x 1.1)": offers_times("1.1"),
    "the filter ignored (x 0.7)": offers_times("0.7"),
    "one page of offers for all": "select * replace (max_by(offer_list, id_product) over () as offer_list, "
    "max_by(lowest, id_product) over () as lowest) from rows",
    "no offers": "select * replace (0 as offers, null::double as lowest, [] as offer_list) from rows",
    "offers of the product before": shift("true", ("lowest", "offer_list")),
}
_WATCH = {
    "watch checks of 1 cent": "select * replace (0.01 as lowest_price) from rows",
    "watch checks x 1.35": "select * replace (round(lowest_price * 1.35, 2) as lowest_price) from rows",
    "watch checks in whole euros": "select * replace (ceil(lowest_price) as lowest_price) from rows",
    "watch checks without a price": "select * replace (null::double as lowest_price) from rows",
    "watch checks of the product before": shift("true", ("lowest_price",), of="slug"),
    "half of the watch checks": "from rows where hash(slug) % 2 = 0",
}
_FINGERPRINTS = {
    "half of the fingerprints": "from rows where hash(key) % 2 = 0",
    "ten fingerprints": "from rows limit 10",
    "one hash for all": "select * replace ('0000000000000000' as art_p, '0000000000000000' as art_d) from rows",
    "hashes of the picture before": shift("true", ("art_p", "art_d", "card_p", "colour"), of="key"),
    "products of the picture before": shift("true", ("products",), of="key"),
}  # fmt: skip
_IDENTIFIERS = {
    "ids of the product before": "select * replace (lag(value, 1, value) over (partition by scheme order by "
    "id_product) as value) from rows",
    "one id for all": "select * replace ('x' as value) from rows",
    "half of the ids": "from rows where id_product % 2 = 0",
    "one catalogue's ids gone": "from rows where scheme <> 'shop'",
    "two catalogues swapped": "select * replace (case scheme when 'shop' then 'tcgdex' when 'tcgdex' then 'shop' "
    "else scheme end as scheme) from rows where id_product < 10000000",
}  # fmt: skip
_NOTHING = "from rows limit 0"
_DAYS = {
    "a day came in late, x 9": DamageKind((Edit("price_guide", times("9"), back=10),)),
    "an old day x 9": DamageKind((Edit("price_guide", times("9"), back=12),)),
    "x 1.2 five days ago": DamageKind((Edit("price_guide", times("1.2"), back=5),)),
    "ten sets x 9 five days ago": DamageKind((Edit("price_guide", times("9", TEN_SETS), back=5),)),
    "two past days swapped": DamageKind(
        (Edit("price_guide", older("d1", "true"), back=5), Edit("price_guide", older("d7", "true"), back=6))
    ),
    "half of a past day gone": DamageKind((Edit("price_guide", "from rows where id_product % 2 = 0", back=5),)),
    "one game of a past day gone": DamageKind((Edit("price_guide", without(MAGIC), back=5),)),
    "a drift of 0.55 % for ten nights": DamageKind((Edit("price_guide", times("1.0055 ** {night}")),), 10),
    "the monitor of offers stopped": DamageKind((Edit("filtered_checks", _NOTHING),), 3),
    "the scraper of listings stopped": DamageKind((Edit("listings", _NOTHING),), 3),
    "the watchlist stopped": DamageKind((Edit("watch_checks", _NOTHING),), 3),
    "an empty guide": DamageKind((Edit("price_guide", _NOTHING),), 2),
    "one game's guide stopped": DamageKind((Edit("price_guide", without(MAGIC)),), 3),
    "every scraper but the guide stopped": DamageKind(
        tuple(Edit(table, _NOTHING) for table in ("filtered_checks", "listings", "watch_checks")), 3
    ),
}
# Kinds that were kept apart while the gates were made.
_APART = {
    "one game's ids moved by 1,000": ("price_guide", change(MAGIC, ("id_product",), to="id_product + 1000")),
    "prices from 1,000 on cut at the comma": (
        "price_guide", change(to="case when {} >= 1000 then floor({} / 10) / 100 else {} end"),
    ),
    "prices cut to tenths": ("price_guide", change(to="floor({} * 10) / 10")),
    "one set without foil": ("price_guide", change(LARGE_SET, FOIL, to="null")),
    "avg1 of 0 for all": ("price_guide", change(columns=("avg1",), to="0")),
    "the first half of a game of a week ago": ("price_guide", older("d7", f"{MAGIC} and r.id_product < 10060000")),
    "low above trend for all": ("price_guide", change(columns=("low",), to="round(trend * 1.5, 2)")),
    "half of the sets x 1.1, half x 0.9": (
        "price_guide", times(f"case when {some('hash(id_expansion) % 2 = 0')} then 1.1 else 0.9 end"),
    ),
    "each offer twice": (
        "filtered_checks", "select * replace (offers * 2 as offers, offer_list || offer_list as offer_list) from rows",
    ),
    "all offers in poor condition": (
        "filtered_checks", "select * replace ('PO' as cheapest_condition, list_transform(offer_list, lambda offer: "
        "struct_update(offer, condition := 'PO')) as offer_list) from rows",
    ),
    "ten times as much available": ("listings", "select * replace (available * 10 as available) from rows"),
    "one set all Common": ("products", change(LARGE_SET, ("rarity",), to="'Common'")),
    "numbers of one set shifted": ("products", shift(LARGE_SET, ("number",))),
    "names with HTML entities": (
        "products", "select * replace (replace(replace(name, '&', '&amp;'), chr(39), '&#39;') as name) from rows",
    ),
    "4 % with the trend of another": (
        "price_guide", "select * replace (case when hash(id_product) % 25 = 0 then lag(trend, 1, trend) over (order by "
        "hash(id_product) % 25, id_product) else trend end as trend) from rows",
    ),
    "avg1 of yesterday's avg7": (
        "price_guide", "select r.* replace (coalesce(o.avg7, r.avg1) as avg1) from rows as r "
        "left join d1 as o using (id_product)",
    ),
    "one game x 0.96": ("price_guide", times("0.96", MAGIC)),
    "offers with postage": (
        "filtered_checks", "select * replace (lowest + 1.2 as lowest, list_transform(offer_list, lambda offer: "
        "struct_update(offer, price := offer.price + 1.2)) as offer_list) from rows",
    ),
    "no offers of what is watched": ("watch_checks", "select * replace (0::bigint as num_offers) from rows"),
    "rarities of a game in lower case": ("products", change(MAGIC, ("rarity",), to="lower({})")),
    "pictures of another host": ("products", change(columns=("image",), to="replace({}, 'img.', 'cdn.')")),
    "0.8 % of the products gone": ("products", "from rows where hash(id_product) % 125 <> 0"),
}  # fmt: skip
# Damages of less than a sixth of a game.
_SMALL = {
    "low x 6 for 6 % of a game": ("price_guide", times("6", _part(17), ("low",))),
    "x 0.8 for 8 % of a game": ("price_guide", times("0.8", _part(12))),
    "11 % of a game a day old": ("price_guide", older("d1", _part(9))),
    "4 % of a game's rows missing": ("price_guide", without(_part(24))),
    "1 % of names of a bot page": ("products", change(_part(107), ("name",), to="'Just a moment...'")),
    "3 % of names of the product before": ("products", _shift_part(34, "name")),
    "14 % of pictures of the product before": ("products", _shift_part(7, "image")),
    "14 % of ids of the product before": ("identifiers", "select * replace (case when hash(id_product) % 7 = 0 then "
        "lag(value, 1, value) over (partition by scheme order by id_product) else value end as value) from rows"),
    "trend x 3 for 4 % of a game": ("price_guide", times("3", _part(25), ("trend",))),
    "avg30 missing for 6 % of a game": ("price_guide", change(_part(17), ("avg30",), to="null")),
    "rarities missing for 4 % of a game": ("products", change(_part(25), ("rarity",), to="null")),
    "pages missing for 7 % of a game": ("products", change(_part(14), ("url",), to="null")),
    "prices in whole euros for 8 % of a game": ("price_guide", change(_part(12), to="ceil({})")),
    "listings x 3 for 8 % of a game": (
        "listings", change(_part(12), ("from_price",), to="{} * 3")
    ),
    "6 % of offers in cents": (
        "filtered_checks", change(_part(17), ("lowest",), to="{} * 100")
    ),
    "6 % of hashes of the picture before": (
        "fingerprints", "select * replace (case when hash(key) % 17 = 0 then lag(art_p, 1, art_p) over (order by key) "
        "else art_p end as art_p) from rows",
    ),
    "low and trend swapped for 6 % of a game": ("price_guide", swap([("low", "trend")], _part(17))),
}  # fmt: skip
_OF_TABLES = {
    "price_guide": _GUIDE,
    "products": _PRODUCTS,
    "expansions": _EXPANSIONS,
    "listings": _LISTINGS,
    "filtered_checks": _CHECKS,
    "watch_checks": _WATCH,
    "fingerprints": _FINGERPRINTS,
    "identifiers": _IDENTIFIERS,
}

KINDS: dict[str, DamageKind] = (
    {
        name: DamageKind((Edit(table, query),))
        for table, queries in _OF_TABLES.items()
        for name, query in queries.items()
    }
    | _DAYS
    | {name: DamageKind((Edit(*edit),)) for name, edit in (_APART | _SMALL).items()}
)

_NEW_GAME = 50_000_000  # is added to the ids of its products
_OF_NEW_GAME = some("kind = 'single' order by id_product limit 300")
HARMLESS: dict[str, DamageKind] = {
    "twelve of the dearest x 6": DamageKind((Edit("price_guide", times("6", DEAREST.format(12))),)),
    "one set in nine of a game renamed": DamageKind(
        (
            Edit(
                "expansions",
                "select * replace (if(game = 'Magic' and hash(id) % 9 = 0, concat(name, ' (old)'), name) as name) "
                "from rows",
            ),
        )
    ),
    "a holiday: the guide of the day before, and no checks": DamageKind(
        (Edit("price_guide", "from d1"), Edit("filtered_checks", _NOTHING), Edit("watch_checks", _NOTHING))
    ),
    "a new game, 30 % cheaper on its second day": DamageKind(
        (
            Edit("expansions", "from rows union all by name select 999999 as id, 'First' as name, 'New' as game"),
            Edit(
                "products",
                f"from rows union all by name select * replace (id_product + {_NEW_GAME} as id_product, "
                f"999999 as id_expansion) from rows where {_OF_NEW_GAME}",
            ),
            Edit(
                "price_guide",
                f"from rows union all by name select * replace (id_product + {_NEW_GAME} as id_product) "
                f"from ({times('if({night} = 2, 0.55 + hash(id_product) % 300 / 1000, 1)')}) where {_OF_NEW_GAME}",
            ),
        ),
        nights=2,
    ),
}
