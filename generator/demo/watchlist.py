"""The table `watchlist`: about 24 tracked products, mostly dear ones, under slugs that put routes to the
test.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo.draw import Integers
from generator.demo.products import Catalogue

_DEAR, _ACCENTED, _SEALED = 19, 2, 3
_NO_GAME = 9


class Watchlist(NamedTuple):
    """The table, and the price level of each of its rows."""

    table: pa.Table
    cents: Integers


def make_watchlist(catalogue: Catalogue) -> Watchlist:
    """The dearest singles with a url, a few sealed products, a few with accents; fewer where there are no
    more.
    """
    rows = _rows(catalogue)
    products = catalogue.table.take(pa.array(rows))
    names, urls = products["name"].to_pylist(), products["url"].to_pylist()
    columns = {
        "slug": pa.array(_slugs(names, urls, catalogue.ids[rows]), pa.string()),
        "name": pa.array(names, pa.string()),
        "game": pa.array(
            [None if at == _NO_GAME else _game(url) for at, url in enumerate(urls)], pa.string()
        ),
        "url": pa.array(urls, pa.string()),
    }
    return Watchlist(pa.table(columns), catalogue.cents[rows])


def _rows(catalogue: Catalogue) -> Integers:
    table, known = catalogue.table, catalogue.known
    has_url = pc.is_valid(table["url"]).to_numpy()
    sealed = catalogue.is_sealed[:known]
    accented = pc.match_substring_regex(table["name"], "^[A-Za-z ]*[À-ž][A-Za-zÀ-ž ]*$").to_numpy()
    dear_first = np.argsort(-catalogue.cents[:known], kind="stable")
    kinds = [
        (has_url & ~sealed & ~accented, _DEAR),
        (has_url & ~sealed & accented, _ACCENTED),
        (has_url & sealed, _SEALED),
    ]
    return np.concatenate([dear_first[kind[dear_first]][:most] for kind, most in kinds])


def _game(url: str) -> str:
    return url.split("/")[4].replace("-", " ")


def _slugs(names: list[str], urls: list[str], ids: np.ndarray) -> list[str]:
    """The last part of each url in lower case, made awkward for some, unique whatever the case."""
    slugs: list[str] = []
    for at, (name, url, number) in enumerate(zip(names, urls, ids.tolist(), strict=True)):
        slug = _slug(at, name, url, slugs)
        taken = {other.casefold() for other in slugs}
        slugs.append(f"{slug}-{number}" if slug.casefold() in taken else slug)
    return slugs


def _slug(at: int, name: str, url: str, earlier: list[str]) -> str:
    *_, expansion, last = url.split("?")[0].split("#")[0].rstrip("/").split("/")
    if at == 1:
        return last  # upper case
    if at == 3:
        return earlier[2] + "-signed"  # the third's slug is how this one begins
    if at == 4:
        return f"{expansion}/{last}".lower()
    if at == 6:
        return f"{last.lower()} (50%)"
    if not name.isascii() and at >= _DEAR:
        return name.lower().replace(" ", "-")
    return last.lower()
