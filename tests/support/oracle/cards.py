"""Cards: their bodies, the search filters and the sort orders of /cards."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any

from tests.support.oracle import games, market_price
from tests.support.oracle.clock import stamp, within_last
from tests.support.oracle.lake import CONDITIONS, GUIDE_PRICES, OracleLake, Row
from tests.support.oracle.rounding import number
from tests.support.oracle.text import base_name, fold, nfc, number_match_key, number_sort_key, words

FILTER = "sellerCountry=23&language=1"


def market_url(url: str | None) -> str | None:
    bare = bare_url(url or "")
    return f"{bare}?{FILTER}" if bare.lower().startswith(("http:", "https:")) else None


def bare_url(url: str) -> str:
    return url.split("?")[0].split("#")[0]


class UnknownSet(Exception):
    """`set` names neither an id nor an expansion."""


class Cards:
    """The catalogue of one lake. Bodies are made once per product; searches look at every product."""

    def __init__(self, lake: OracleLake) -> None:
        self.lake = lake
        self._bodies: dict[int, Row] = {}
        self.names = {id_: fold(row["name"]) for id_, row in lake.products.items()}

    def card(self, id_product: int) -> Row:
        if id_product not in self._bodies:
            self._bodies[id_product] = self._body(id_product)
        return self._bodies[id_product]

    def detail(self, id_product: int, days: int | None) -> Row:
        return self.card(id_product) | {
            "history": {
                "price_guide": self._history(self.lake.guide, id_product, days, _guide_point),
                "filtered": self._history(self.lake.checks, id_product, days, _check_point),
                "listing": self._history(self.lake.listings, id_product, days, _listing_point),
            }
        }

    def search(self, query: dict[str, Any]) -> list[Row]:
        """Every card that passes the filters, in the order asked for; raises UnknownSet."""
        ids = self.matching(query)
        if query["sort"] == "match":
            asked = [query["q"]] if words(query["q"]) else query["find"].split()
            best_first = sorted(self._ordered(ids, "trend", None), key=lambda id_: self.match_class(id_, asked))
            return [self.card(id_) for id_ in best_first]
        return [self.card(id_) for id_ in self._ordered(ids, query["sort"], query["order"])]

    def matching(self, query: dict[str, Any]) -> list[int]:
        """The ids of the products that pass the filters, in any order; raises UnknownSet."""
        tests = self._filters(query)
        return [id_ for id_, row in self.lake.products.items() if all(test(row) for test in tests)]

    def match_class(self, id_product: int, parts: list[str]) -> int:
        """0 where the parts that are in the name are the name or the base name, then by where they stand, last 5."""
        name = self.lake.products[id_product]["name"]
        in_name = [part for part in parts if any(one in word for one in words(part) for word in words(name))]
        query = " ".join(in_name)
        asked, whole, base = (" ".join(words(text)) for text in (query, name, base_name(name)))
        if not asked:
            return 5
        if asked in (whole, base):
            return 0
        if whole.startswith(f"{asked} "):
            return 1
        if f" {asked} " in f" {whole} ":
            return 2
        if whole.startswith(asked):
            return 3
        return 4 if all(any(word.startswith(one) for word in words(name)) for one in words(query)) else 5

    def _body(self, id_product: int) -> Row:
        row = self.lake.products[id_product].get
        expansion = self.lake.expansions.get(row("id_expansion"), {})
        return {
            "id_product": id_product,
            "name": row("name"),
            "kind": row("kind"),
            "category": row("category"),
            "set": {"id": row("id_expansion"), "name": expansion.get("name")},
            "rarity": row("rarity"),
            "number": row("number"),
            "image": row("image"),
            "image_large": row("image_large"),
            "cardmarket_url": market_url(row("url")),
            "filtered_price": _newest(self.lake.checks, id_product, _filtered_price),
            "price_guide": _newest(self.lake.guide, id_product, _price_guide),
            "listing": _newest(self.lake.listings, id_product, _listing),
        }

    def _history(self, table: dict, id_product: int, days: int | None, point: Callable[[Row], Row]) -> list[Row]:
        rows: dict[date, Row] = table.get(id_product, {})
        kept = sorted(day for day in rows if within_last(day, days, self.lake.as_of))
        return [{"day": day.isoformat()} | point(rows[day]) for day in kept]

    def _filters(self, query: dict[str, Any]) -> list[Callable[[Row], bool]]:
        tests: list[Callable[[Row], bool]] = []
        if query["kind"] != "all":
            tests.append(lambda row: row["kind"] == query["kind"])
        if query["q"]:
            tests.append(lambda row: _has_words(row["name"], query["q"]))
        parts = query["find"].split()
        with_words = [part for part in parts if words(part)]
        tests += [self._finds(part) for part in with_words or parts]
        if query["set"]:
            sets = self._sets_meant(query["set"])
            tests.append(lambda row: row.get("id_expansion") in sets)
        tests += [test(self, query[name]) for name, test in TEXT_FILTERS.items() if query[name]]
        if query["min_price"] is not None or query["max_price"] is not None:
            tests.append(lambda row: self._is_priced(row["id_product"], query))
        return tests

    def _finds(self, part: str) -> Callable[[Row], bool]:
        wanted, number = words(part), self.number_meant(part)
        if not wanted:
            return lambda row: fold(part) in fold(row["name"])

        def holds(row: Row) -> bool:
            if row.get("number") is not None and number_match_key(row["number"]) == number:
                return True
            set_name = self.lake.expansions.get(row.get("id_expansion"), {}).get("name") or ""
            return all(any(one in word for word in words(row["name"]) + words(set_name)) for one in wanted)

        return holds

    def number_meant(self, text: str) -> str:
        """The key of a number, or that of its part before a slash if no product has the whole."""
        whole, part = number_match_key(text), text.split("/")[0]
        known = {
            number_match_key(row["number"]) for row in self.lake.products.values() if row.get("number") is not None
        }
        return whole if "/" not in text or whole in known or not part else number_match_key(part)

    def _is_priced(self, id_product: int, query: dict[str, Any]) -> bool:
        """Whether the price of the sort, or the trend, is within the bounds asked for."""
        price = SORT_KEYS[query["sort"] if query["sort"] in PRICES else "trend"](self, id_product)
        if price is None:
            return False
        exact = Decimal(repr(price))
        low, high = query["min_price"], query["max_price"]
        return (low is None or low <= exact) and (high is None or exact <= high)

    @cached_property
    def _known_sets(self) -> set[int]:
        ids = {row.get("id_expansion") for row in self.lake.products.values()}
        return {*self.lake.expansions, *ids} - {None}

    def _sets_meant(self, text: str) -> set[int]:
        if text.isascii() and text.isdigit() and int(text) in self._known_sets:
            return {int(text)}
        named = {id_ for id_, row in self.lake.expansions.items() if nfc(row["name"]) == nfc(text)}
        if not named:
            raise UnknownSet
        return named

    def _ordered(self, ids: list[int], sort: str, order: str | None) -> list[int]:
        """With a key first: by key, ties by ascending id, in the default order; else the exact reverse."""
        default = "desc" if sort in DESCENDING_BY_DEFAULT else "asc"
        keys = {id_: SORT_KEYS[sort](self, id_) for id_ in ids}
        with_key = sorted(id_ for id_ in ids if keys[id_] is not None)
        with_key.sort(key=keys.__getitem__, reverse=default == "desc")  # stable: equal keys stay by id
        if (order or default) != default:
            with_key.reverse()
        return with_key + sorted(id_ for id_ in ids if keys[id_] is None)


def _of_guide(column: str) -> Callable[[Cards, int], float | None]:
    return lambda cards, id_: (cards.card(id_)["price_guide"] or {}).get(column)


# What each sort of /cards compares; a product without it comes last. Prices first, which `min_price` bounds.
PRICES: dict[str, Callable[[Cards, int], Any]] = {
    "trend": _of_guide("trend"),
    "low": _of_guide("low"),
    "avg": _of_guide("avg"),
    "filtered": lambda cards, id_: (cards.card(id_)["filtered_price"] or {}).get("lowest"),
    "market": lambda cards, id_: number(market_price.newest(cards.lake, id_)),
}
SORT_KEYS = PRICES | {
    "name": lambda cards, id_: cards.names[id_],
    "number": lambda cards, id_: number_sort_key(cards.card(id_)["number"]),
    "newest": lambda cards, id_: cards.lake.products[id_].get("date_added"),
}
DESCENDING_BY_DEFAULT = (*PRICES, "newest")
Test = Callable[[Row], bool]


def _same_text(column: str) -> Callable[[Cards, str], Test]:
    return lambda _, text: lambda row: row.get(column) is not None and fold(row[column]) == fold(text)


def _same_number(cards: Cards, text: str) -> Test:
    wanted = cards.number_meant(text)
    return lambda row: row.get("number") is not None and number_match_key(row["number"]) == wanted


# What a product must have, by text filter of /cards.
TEXT_FILTERS: dict[str, Callable[[Cards, str], Test]] = {
    "number": _same_number,
    "rarity": _same_text("rarity"),
    "game": lambda cards, text: lambda row: games.of_product(cards.lake, row["id_product"]) == fold(text),
}


def _has_words(name: str, query: str) -> bool:
    """Whether each word of a query is in a word of the name; of a query without words, each part in the folded name."""
    if wanted := words(query):
        return all(any(one in word for word in words(name)) for one in wanted)
    return all(part in fold(name) for part in fold(query).split())


def _newest(table: dict[int, dict[date, Row]], id_product: int, body: Callable[[Row], Row]) -> Row | None:
    days = table.get(id_product)
    return body(days[max(days)]) if days else None


def _price_guide(row: Row) -> Row:
    base = {name: number(row[name]) for name in GUIDE_PRICES}
    holo = {name: number(row[f"{name}_holo"]) for name in GUIDE_PRICES}
    return {"day": row["day"].isoformat(), **base, "holo": holo}


def _guide_point(row: Row) -> Row:
    return {name: number(row[name]) for name in ("low", "avg", "trend", "low_holo", "avg_holo", "trend_holo")}


def _listing_point(row: Row) -> Row:
    prices = {name: number(row[name]) for name in ("from_price", "from_price_foil")}
    return {"available": row["available"], "available_foil": row["available_foil"], **prices}


def _listing(row: Row) -> Row:
    return _listing_point(row) | {"scraped_at": stamp(row["scraped_at"])}


def _check_point(row: Row) -> Row:
    return {"lowest": _cheapest(row)[0], "offers": row["offers"]}


def _by_price(row: Row) -> list[Row]:
    return sorted(row["offer_list"] or [], key=lambda offer: (offer["price"], offer["seller"]))


def _cheapest(row: Row) -> tuple[float | None, str | None, str | None]:
    """Lowest price, seller, condition: of the first offer, or of the columns where no list was kept."""
    if row["offer_list"] is None:
        lowest = None if row["offers"] == 0 else number(row["lowest"])
        return lowest, row["cheapest_seller"], row["cheapest_condition"]
    for offer in _by_price(row):
        return number(offer["price"]), offer["seller"], offer["condition"]
    return None, None, None


def _filtered_price(row: Row) -> Row:
    lowest, seller, condition = _cheapest(row)
    offers = [offer | {"price": number(offer["price"])} for offer in _by_price(row)]
    return {
        "filter": FILTER,
        "lowest": lowest,
        "offers": row["offers"],
        "cheapest_seller": seller,
        "cheapest_condition": condition,
        "cheapest_offers": offers[:5],
        "cheapest_offers_by_condition": _by_condition(offers),
        "checked_at": stamp(row["checked_at"]),
    }


def _by_condition(offers: list[Row]) -> dict[str, list[Row]]:
    found = {code: [offer for offer in offers if offer["condition"] == code][:5] for code in CONDITIONS}
    shown = ("price", "quantity", "seller")
    return {code: [{name: o[name] for name in shown} for o in some] for code, some in found.items() if some}
