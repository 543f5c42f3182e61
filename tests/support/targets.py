"""Random requests about a lake: mostly good ones near its content, some that must be refused."""

import random
import re
import unicodedata
from collections.abc import Callable
from functools import partial
from urllib.parse import quote, quote_plus, unquote_to_bytes

from edge_auth.api.blueprints import ENDPOINTS
from generator.storage.catalogue import MATCH_SORT, SORTS, TEXT_FILTERS
from tests.support.lakes import pools
from tests.support.lakes.rows import Rows

API = "/api/v1"
EMPTY_WHEN_FOLDED = "\u0301"
BAD_INTEGERS = (
    "+5", "1_0", "٣", " 5", "5 ", "5.0", "", "x", "0x5", "1e2", "--1", "-", "５", "9" * 19, "-1", "NaN", "5\n",
)  # fmt: skip
# The paths without a variable part, and the lists that take limit and offset alone.
FIXED_PATHS = [endpoint.path for endpoint in ENDPOINTS if endpoint.of_build and not endpoint.subjects]
NOT_IN_THE_ORACLE = (f"{API}/openapi.json", f"{API}/bulk")
PLAIN_LISTS = {
    endpoint.path.removeprefix(f"{API}/"): endpoint.parameters["limit"]
    for endpoint in ENDPOINTS
    if endpoint.of_build and set(endpoint.parameters) == {"limit", "offset"}
}
NOT_UTF8 = ("%FF", "%C3", "%ED%A0%80", "a%80")


class Targets:
    def __init__(self, rows: Rows, rng: random.Random) -> None:
        self.rows = rows
        self.rng = rng

    def some(self, count: int) -> list[str]:
        makers = (
            self.cards, self.cards, self.cards, self.best_matches, self.cards_with_ids, self.facets, self.facets,
            self.names, self.named, self.series, self.card, self.card_identifiers, self.by_identifiers,
            self.by_identifiers, self.sets, self.plain_list, self.movers, self.movers, self.market,
            self.market_history, self.watched, self.watched, self.plain_list,
        )  # fmt: skip
        fixed = [path for path in FIXED_PATHS if path not in NOT_IN_THE_ORACLE]
        return fixed + [self.rng.choice(makers)() for _ in range(count - len(fixed))]

    def cards(self) -> str:
        query = self._paging((1, 2, 3, 5, 50, 100)) | self._filters()
        for name, values, share in (("sort", tuple(SORTS), 0.7), ("order", ("asc", "desc"), 0.5)):
            if self.rng.random() < share:
                query[name] = self._enumerated(*values)
        return self._target("cards", query)

    def facets(self) -> str:
        return self._target("facets", self._filters())

    def names(self) -> str:
        return self._target("names", {"game": self._game()} if self.rng.random() < 0.7 else {})

    def _filters(self) -> dict[str, str]:
        """Any mix of the filters of /cards."""
        filters: dict[str, Callable[[], str]] = {
            "q": self._words,
            "find": self._find,
            "set": self._set,
            **{name: partial(self._text, name) for name in TEXT_FILTERS},
            "number": self._number,
            "game": self._game,
            "kind": lambda: self._enumerated("all", "single", "sealed"),
            "min_price": self._price,
            "max_price": self._price,
        }
        shares = {"q": 0.3, "find": 0.3, "set": 0.2, "kind": 0.3, "min_price": 0.25, "max_price": 0.25}
        return {name: make() for name, make in filters.items() if self.rng.random() < shares.get(name, 0.15)}

    def best_matches(self) -> str:
        """A search for names, the best matches first; now and then with an order, or for no word."""
        name, other = self.rng.choice((("q", "find"), ("find", "q")))
        query = self._paging((1, 2, 3, 5, 50, 100)) | {name: self._words(), "sort": MATCH_SORT}
        if self.rng.random() < 0.3:
            query[name] = self.rng.choice("abeimx2é-")
        elif name == "find":
            query[name] = self._find()
        if self.rng.random() < 0.1:
            query[other] = self.rng.choice("abeimx2é-")
        more = {"kind": "single", "min_price": "1", "game": self._game(), "order": "desc"}
        query |= {name: value for name, value in more.items() if self.rng.random() < 0.1}
        return self._target("cards", query)

    def cards_with_ids(self) -> str:
        """Ids, now and then with something beside them."""
        query = {"ids": self._ids()}
        if self.rng.random() < 0.2:
            beside = {
                "limit": ("50", "050", "5", ""),
                "offset": ("0", "-0", "1"),
                "kind": ("all", "single"),
                "sort": ("trend", "low", "other"),
                "order": ("asc", "desc"),
                "q": ("", "x", " "),
                "game": ("", "x"),
                "min_price": ("0", ""),
            }
            names = self.rng.sample(list(beside), self.rng.choice((1, 1, 2)))
            query |= {name: self.rng.choice(beside[name]) for name in names}
        return self._target("cards", query)

    def named(self) -> str:
        """Names of products, whole and in part, in other spellings, some twice; now and then none, or too many."""
        count = self.rng.choice((1, 2, 3, 7, 20, 99, 100, 101))
        names = [self._listed_name() for _ in range(count)]
        query = {"names": self.rng.choice(("\n", "\r\n", "\n\n")).join(names)} if self.rng.random() < 0.95 else {}
        if self.rng.random() < 0.4:
            query |= {"kind": self._enumerated("all", "single", "sealed")}
        if self.rng.random() < 0.3:
            query |= {"game": self._text("game")}
        if self.rng.random() < 0.5:
            query |= {"printings": self._enumerated("true", "true", "false")}
        return self._target("cards/named", query)

    def _listed_name(self) -> str:
        name = self._of("name", self.rows.products) or "Charizard"
        if self.rng.random() < 0.5:
            name = re.split(self.rng.choice((r" [\[(]", " - ", " ")), name)[0]
        odd = ("nothing-like-it", " ", "", "\u2606", EMPTY_WHEN_FOLDED, "x" * 200, "x" * 201)
        return self.rng.choice(odd) if self.rng.random() < 0.05 else self._twist(name)

    def series(self) -> str:
        """Ids, now and then none, or something beside them that this endpoint does not take."""
        query = {"ids": self._ids()} if self.rng.random() < 0.95 else {}
        more = {"limit": "50", "kind": "all", "weeks": "53"}
        query |= {name: value for name, value in more.items() if self.rng.random() < 0.03}
        return self._target("series", query)

    def _ids(self) -> str:
        known = [str(row["id_product"]) for row in self.rows.products] or ["1"]
        odd = ("77777", "-1", "0", "-0", "9" * 18, "1" + "0" * 17)
        count = self.rng.choice((1, 2, 3, 7, 20, 99, 100, 101))
        ids = [self.rng.choice(known if self.rng.random() < 0.8 else odd) for _ in range(count)]
        ids = [f"00{id_}" if id_[0] != "-" and len(id_) < 16 and self.rng.random() < 0.1 else id_ for id_ in ids]
        if self.rng.random() < 0.1:
            ids[self.rng.randrange(count)] = self.rng.choice((*BAD_INTEGERS[:-3], "9" * 19))
        return ",".join(ids)

    def card_identifiers(self) -> str:
        return self._target(f"cards/{self._product_id()}/identifiers", {})

    def by_identifiers(self) -> str:
        """Values known and unknown, some twice; now and then none, too many, an empty or too long one."""
        rows = self.rows.identifiers or [{"scheme": "tcgplayer", "value": "1"}]
        schemes = (*(row["scheme"] for row in rows), "tcgplayer", "TCGplayer", "z/z", "é", "%", "identifiers")
        scheme = self.rng.choice(schemes[: len(rows)] if self.rng.random() < 0.9 else schemes)
        count = self.rng.choice((1, 2, 3, 7, 20, 99, 100, 101))
        odd = ("77777", " 1", "1 ", "\0", "Base1-4", "\u2028", "\ud7ff", "x" * 199)
        values = [self.rng.choice((self.rng.choice(rows)["value"],) * 4 + odd) for _ in range(count)]
        if self.rng.random() < 0.1:
            values[self.rng.randrange(count)] = self.rng.choice(("", "x" * 201, "é" * 201))
        query = {"values": ",".join(values)} if self.rng.random() < 0.95 else {}
        return self._target(f"identifiers/{quote(scheme, safe='')}", query)

    def card(self) -> str:
        days = self.rng.choice(("1", "2", "7", "8", "14", "30", "31", "365", "366", "3650", "007"))
        if self.rng.random() < 0.08:
            days = self.rng.choice(("0", "3651", *BAD_INTEGERS))
        return self._target(f"cards/{self._product_id()}", {"days": days} if self.rng.random() < 0.6 else {})

    def _product_id(self) -> str:
        """A known id of a product, or another text in its place."""
        known = [str(row["id_product"]) for row in self.rows.products]
        odd = ("-1", "0", "00", "-0", "abc", "1.0", "%2B1", "%D9%A3", "1%202", "9" * 25, "77777", "1%2F2", "1/", "1x")
        id_ = self.rng.choice(known) if known and self.rng.random() < 0.8 else self.rng.choice(odd)
        return f"00{id_}" if self.rng.random() < 0.1 else id_

    def sets(self) -> str:
        query = self._paging((1, 2, 3, 100, 1000))
        if self.rng.random() < 0.7:
            name = self._of("name", self.rows.expansions or []) or "Base"
            query["q"] = self._twist(self._piece(name)) + self.rng.choice(("", "", " ", "\u3000"))
        if self.rng.random() < 0.3:
            query["game"] = self._game()
        return self._target("sets", query)

    def plain_list(self) -> str:
        """A page of a list that takes no parameter but these."""
        path, limit = self.rng.choice(list(PLAIN_LISTS.items()))
        return self._target(path, self._paging((1, 2, 3, limit.default, limit.rule.high)))

    def movers(self) -> str:
        query = self._paging((1, 2, 3, 50, 100))
        options: dict[str, Callable[[], str]] = {
            "window": lambda: self._enumerated("1d", "7d", "30d"),
            "by": lambda: self._enumerated("percent", "euros"),
            "direction": lambda: self._enumerated("up", "down"),
            "kind": lambda: self._enumerated("all", "single", "sealed"),
            "min_price": lambda: self._enumerated("0", "0", "1", "5", "20", "100", "1.0", "00"),
            "confirmed": lambda: self._enumerated("true", "true", "false"),
            "game": self._game,
        }
        shares = {"window": 0.7, "by": 0.5, "direction": 0.5, "kind": 0.4, "min_price": 0.7, "game": 0.3}
        shares["confirmed"] = 0.5
        query |= {name: make() for name, make in options.items() if self.rng.random() < shares[name]}
        return self._target("movers", query)

    def market(self) -> str:
        query = self._paging((1, 2, 3, 100, 500))
        options: dict[str, Callable[[], str]] = {
            "by": lambda: self._enumerated("set", "game"),
            "sort": lambda: self._enumerated("value", "change_7d", "change_30d", "name"),
            "order": lambda: self._enumerated("asc", "desc"),
            "game": self._game,
        }
        query |= {name: make() for name, make in options.items() if self.rng.random() < 0.5}
        return self._target("market", query)

    def market_history(self) -> str:
        """The history of a set or a game; now and then of neither, or of both."""
        ids = [str(row["id"]) for row in self.rows.expansions or []] or ["1"]
        odd = ("404", "77777", "-1", "-0", "9" * 18, "9" * 19, f"{0:019}", *BAD_INTEGERS)
        options: dict[str, Callable[[], str]] = {
            "set": lambda: self.rng.choice(ids if self.rng.random() < 0.8 else odd),
            "game": self._game,
        }
        names = self.rng.choice((("set",), ("set",), ("set",), ("game",), ("game",), (), ("set", "game")))
        query = {name: options[name]() for name in names}
        if self.rng.random() < 0.4:
            query["days"] = self.rng.choice(("1", "2", "8", "31", "366", "3650", "0", "3651", "x"))
        return self._target("market/history", query)

    def watched(self) -> str:
        path = f"watchlist/{self._slug()}"
        kind = self.rng.choice(("", "/history", "/history", "/offers"))
        if kind != "/history":
            return self._target(path + kind, {})
        query = {}
        if self.rng.random() < 0.7:
            query["view"] = self._enumerated("daily", "weekly", "monthly")
        if self.rng.random() < 0.7:
            query["range"] = self._enumerated("all", "30d", "90d", "365d")
        return self._target(path + kind, query)

    def _target(self, path: str, query: dict[str, str]) -> str:
        """Return the query in any order, sometimes with one fault, percent-encoded in either style."""
        encode = self.rng.choice((lambda text: quote(text, safe=""), quote_plus))
        pairs = [f"{name}={encode(value)}" for name, value in query.items()]
        self.rng.shuffle(pairs)
        if self.rng.random() < 0.05:
            faults = ["page=2", "Limit=5", "q", "=", "limits=5", f"q={self.rng.choice(NOT_UTF8)}", *pairs[:1], "%FF=1"]
            pairs.append(self.rng.choice(faults))
        return f"{API}/{path}" + ("?" + "&".join(pairs) if pairs or self.rng.random() < 0.1 else "")

    def _paging(self, limits: tuple[int, ...]) -> dict[str, str]:
        query = {}
        if self.rng.random() < 0.5:
            query["limit"] = str(self.rng.choice(limits))
        if self.rng.random() < 0.3:
            query["offset"] = self.rng.choice(("0", "1", "2", "7", "24", "25", "26", "0010", "-0", "9" * 18))
        if query and self.rng.random() < 0.08:
            query[self.rng.choice(list(query))] = self.rng.choice(("101", "501", "1001", "0", *BAD_INTEGERS))
        return query

    def _enumerated(self, *allowed: str) -> str:
        wrong = ("", allowed[0].upper(), allowed[0] + " ", "none")
        return self.rng.choice(wrong) if self.rng.random() < 0.02 else self.rng.choice(allowed)

    def _of(self, column: str, rows: list[dict]) -> str | None:
        values = [row[column] for row in rows if row.get(column)]
        return self.rng.choice(values) if values else None

    def _words(self) -> str:
        """Words or parts of words of one name, in any order, one letter, or words of the pool; rarely too many."""
        if self.rng.random() < 0.1:
            return self.rng.choice("aeix2é ")
        name = self._of("name", self.rows.products) or "Charizard"
        words = name.split() if self.rng.random() < 0.8 else [self.rng.choice(pools.WORDS)]
        some = self.rng.sample(words, self.rng.randint(0, min(3, len(words))))
        text = self.rng.choice((" ", "  ", "\u00a0", "\u2028")).join(self._piece(word) for word in some)
        return (
            self.rng.choice(("é" * 100, "é" * 101, "\U0001f409" * 100))
            if self.rng.random() < 0.04
            else self._twist(text)
        )

    def _find(self) -> str:
        """Words of the name and the set of one product and its number, some of them in part, in any order."""
        row = self.rng.choice(self.rows.products or [{"name": "Charizard"}])
        sets = {row["id"]: row["name"] for row in self.rows.expansions or []}
        set_words = sets.get(row.get("id_expansion"), "Base Set").split()
        number = row.get("number") or "4"
        numbers = [number, f"{number}/102", f"0{number}", "4", "&", "-", "\u0301", "a-b"]
        words = [*row["name"].split(), *set_words, self.rng.choice(numbers), self.rng.choice(numbers)]
        some = self.rng.sample(words, self.rng.choice((0, 1, 2, 2, 3)))
        text = self.rng.choice((" ", "  ", "\u00a0", "-")).join(self._piece(word) for word in some)
        return self._twist(text if self.rng.random() < 0.96 else "é " * 50 + self.rng.choice(("", "x")))

    def _set(self) -> str:
        expansions = self.rows.expansions or []
        ids = [row["id"] for row in expansions] + [row.get("id_expansion") for row in self.rows.products]
        known = [str(id_) for id_ in ids if id_ is not None] or ["1"]
        name = self._of("name", expansions) or "Base Set"
        form = self.rng.choice(("NFC", "NFD"))
        choices = (self.rng.choice(known), unicodedata.normalize(form, name), name, "151", "404", "", name + " ", "-5")
        return self.rng.choice(choices)

    def _text(self, name: str) -> str:
        text = self._of(name, [*self.rows.products, *(self.rows.expansions or ())]) or "Common"
        return self.rng.choice((*[self._twist(text)] * 7, EMPTY_WHEN_FOLDED))

    def _number(self) -> str:
        number = self._of("number", self.rows.products) or "4"
        return self.rng.choice(
            (number, number.lstrip("0"), f"00{number}", self._twist(number), "4", "004", "", "0", EMPTY_WHEN_FOLDED)
        )

    def _game(self) -> str:
        """A game of the lake in any spelling, an unknown one, none, or one that is too long."""
        game = self._of("game", self.rows.expansions or []) or "Magic"
        long = ("x" * 200, "x" * 201)
        others = ("", "?", f" {game}", EMPTY_WHEN_FOLDED, *long)
        return self._twist(game) if self.rng.random() < 0.8 else self.rng.choice(others)

    def _price(self) -> str:
        """A price of the guide, one near it, or something that is no price."""
        rows = [row for day in self.rows.price_guide.values() for row in day]
        price = self._of("trend", rows) or pools.price(self.rng)
        text = self.rng.choice((f"{price:.2f}", f"{price:.1f}", f"{price:.0f}", f"00{price:.2f}", "0", "9" * 18))
        wrong = ("", "-1", "1.", ".5", "1.234", "1e3", "٣", "+1", " 1", "1,5", "9" * 17 + ".99", "9" * 16 + ".999")
        return self.rng.choice((*wrong, "9" * 16 + ".99")) if self.rng.random() < 0.06 else text

    def _slug(self) -> str:
        """Return a slug or a part of a URL, with varied case and encoding."""
        watchlist = self.rows.watchlist or [{"slug": "a", "url": "https://market.example/a"}]
        row = self.rng.choice(watchlist)
        slug = row["slug"] if self.rng.random() < 0.6 else self._piece(row["url"]).strip("/") or "a"
        if self.rng.random() < 0.1:
            slug = self.rng.choice(("nothing-at-all", "language=1", "a", "charizard-ex", "Booster-Box", "\x00"))
        if self.rng.random() < 0.03:
            return self.rng.choice(NOT_UTF8)
        if self.rng.random() < 0.2:
            slug = self.rng.choice((slug, row["url"])) + self.rng.choice(("?sellerCountry=23&language=1", "?", "#a?b"))
        return quote(self._twist(slug), safe=self.rng.choice(("", "/", "/:=+@,")))

    def _piece(self, text: str) -> str:
        if not text or self.rng.random() < 0.4:
            return text
        start = self.rng.randrange(len(text))
        return text[start : start + self.rng.randint(1, 12)]

    def _twist(self, text: str) -> str:
        """Return another text that mostly folds to the same."""
        forms = (str.upper, str.lower, str.swapcase, str.casefold)
        if self.rng.random() < 0.5:
            return text
        if self.rng.random() < 0.3:
            return unicodedata.normalize(self.rng.choice(("NFC", "NFD", "NFKC", "NFKD")), text)
        return self.rng.choice(forms)(text)


def has_nul(target: str) -> bool:
    """Return whether a target's path holds a NUL byte, which nginx itself refuses with 400."""
    return b"\0" in unquote_to_bytes(target.partition("?")[0])
