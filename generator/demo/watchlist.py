"""The table `watchlist`: 24 tracked products, mostly expensive ones, with slugs that are hard for routes."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo.columns import url_words
from generator.demo.draw import Integers
from generator.demo.products import DemoCatalogue
from generator.demo.words import GAMES

_EXPENSIVE, _ACCENTED, _SEALED = 18, 2, 3  # how many of each kind
# Rows with something special:
_SIGNED = 3  # the product of the row before, tracked again for signed copies
_NO_GAME = 9
_UPPER_CASE, _WITH_SLASH, _WITH_PERCENT = 1, 4, 6


class Watchlist(NamedTuple):
    """The table, and the price level of each of its rows."""

    table: pa.Table
    cents: Integers


def make_watchlist(catalogue: DemoCatalogue) -> Watchlist:
    """Track the most expensive singles with a URL, some with accents, and some sealed products."""
    rows = _rows(catalogue)
    products = catalogue.table.take(pa.array(rows))
    names, urls = products["name"].to_pylist(), products["url"].to_pylist()
    games = [None if at == _NO_GAME else _game(url) for at, url in enumerate(urls)]
    columns = {
        "slug": pa.array(_slugs(names, urls, catalogue.ids[rows]), pa.string()),
        "name": pa.array(names, pa.string()),
        "game": pa.array(games, pa.string()),
        "url": pa.array(urls, pa.string()),
    }
    return Watchlist(pa.table(columns), catalogue.cents[rows])


def _rows(catalogue: DemoCatalogue) -> Integers:
    table, known = catalogue.table, catalogue.known
    has_url = pc.is_valid(table["url"]).to_numpy()
    sealed = catalogue.is_sealed[:known]
    accented = pc.match_substring_regex(table["name"], "^[A-Za-z ]*[À-ž][A-Za-zÀ-ž ]*$").to_numpy()
    expensive_first = np.argsort(-catalogue.cents[:known], kind="stable")
    kinds = [
        (has_url & ~sealed & ~accented, _EXPENSIVE),
        (has_url & ~sealed & accented, _ACCENTED),
        (has_url & sealed, _SEALED),
    ]
    rows = np.concatenate([expensive_first[kind[expensive_first]][:most] for kind, most in kinds])
    return np.insert(rows, _SIGNED, rows[_SIGNED - 1]) if len(rows) > _SIGNED else rows


def _game(url: str) -> str:
    words = url_words(pa.array(GAMES)).to_pylist()
    place: int = words.index(url.split("/")[4])
    return GAMES[place]


def _slugs(names: list[str], urls: list[str], ids: Integers) -> list[str]:
    """Return the last part of each URL in lower case, some made awkward, all unique regardless of case."""
    slugs: list[str] = []
    for at, (name, url, number) in enumerate(zip(names, urls, ids.tolist(), strict=True)):
        slug = _slug(at, name, url, slugs)
        taken = {other.casefold() for other in slugs}
        slugs.append(f"{slug}-{number}" if slug.casefold() in taken else slug)
    return slugs


def _slug(at: int, name: str, url: str, earlier: list[str]) -> str:
    *_, expansion, last = url.split("?")[0].split("#")[0].rstrip("/").split("/")
    if at == _UPPER_CASE:
        return last
    if at == _SIGNED:
        return earlier[-1] + "-signed"  # begins with the slug before
    if at == _WITH_SLASH:
        return f"{expansion}/{last}".lower()
    if at == _WITH_PERCENT:
        return f"{last.lower()} (50%)"
    if not name.isascii() and at > _EXPENSIVE:
        return name.lower().replace(" ", "-")
    return last.lower()
