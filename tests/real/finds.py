"""`make real-finds`: is a card on the first page of what people type into one box? Asks `find` of real cards in DATA.

    python -m tests.real.finds DATA

First it types base name and set of every single, as shown. Then a query has two of three: a real card's base name, its
set's name, and its number; in any order, in capitals or not, with accents or not. Then it measures the CPU of the worst
texts.
"""

import random
import sys
import tempfile
import time
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from urllib.parse import quote

import duckdb

from edge_auth.api.blueprints import client_of
from edge_auth.live.open_build import LruCache, OpenBuild
from generator.storage import builds
from generator.storage.builds import live_build_id
from generator.storage.stores.folder import FolderStore
from generator.storage.text import base_name, word_text
from tests.real import pokemon_lake
from tests.support.service import API, run

QUERIES = 1_000
LEAST_FOUND = 0.98
LEAST_SINGLES_FOUND = 0.995
MOST_CHARACTERS = 100  # of a find
MOST_MS = 5
ROUNDS = 3
PRODUCTS = """
select p.id_product, p.name, e.name, p.number
from '{lake}/products*.parquet' as p join '{lake}/expansions*.parquet' as e on p.id_expansion = e.id
where p.number <> '' order by all
"""
SINGLES = """
select p.name, e.name, list(p.id_product)
from '{lake}/products*.parquet' as p join '{lake}/expansions*.parquet' as e on p.id_expansion = e.id
where p.kind = 'single' and e.name <> '' group by all order by all
"""
Product = tuple[int, str, str, str]  # id, name, name of the set, number


def main(data: Path) -> int:
    """Print the figures; 1 if one is out of its bounds."""
    if not data.is_dir():
        print(f"skipped: there is no real data at {data}")
        return 0
    with tempfile.TemporaryDirectory(prefix="cardpress-finds-") as folder:
        lake, store = Path(folder) / "lake", Path(folder) / "store"
        pokemon_lake.main(str(data), str(lake))
        products = duckdb.sql(PRODUCTS.format(lake=lake)).fetchall()
        run("build", "--lake", lake, "--store", store, "--publish")
        build = opened(store)
        singles = found_singles(build, duckdb.sql(SINGLES.format(lake=lake)).fetchall())
        found, slowest = found_share(build, products), slowest_of(build)
    return int(singles < LEAST_SINGLES_FOUND or found < LEAST_FOUND or slowest > MOST_MS)


def opened(store: Path) -> OpenBuild:
    """Open the live build, without a cache of answers."""
    folder = FolderStore(str(store))
    build = OpenBuild(builds.open_build(folder, live_build_id(folder)), LruCache(0))
    build.prepare()
    return build


def found_singles(build: OpenBuild, singles: Sequence[tuple[str, str, list[int]]]) -> float:
    """Return the share of all singles that base name and set find. Print how many stand before all of other names."""
    client = client_of(build)
    count = found = first = 0
    for name, set_, ids in singles:
        missing, is_first, offset = {*ids}, True, 0
        text = f"{base_name(name)} {set_}"
        while missing and len(text) <= MOST_CHARACTERS and offset is not None:
            answer = client.get(f"{API}/cards?sort=match&limit=100&find={quote(text)}&offset={offset}").json
            for card in answer["data"]:
                is_first &= word_text(base_name(card["name"])) == word_text(base_name(name))
                if card["id_product"] in missing:
                    missing.remove(card["id_product"])
                    found, first = found + 1, first + is_first
            offset = answer["pagination"]["next_offset"]
        count += len(ids)
    print(f"base name and set find {found:,} of {count:,} singles, {first:,} of them before all of other names")
    return found / count


def found_share(build: OpenBuild, products: Sequence[Product]) -> float:
    """Return the share of queries that have their card on the first page."""
    rng, client = random.Random(1), client_of(build)
    asked = [(product, typed(product, rng)) for product in rng.sample(products, QUERIES)]
    missed = []
    for product, text in asked:
        cards = client.get(f"{API}/cards?sort=match&find={quote(text)}").json["data"]
        if product[0] not in [card["id_product"] for card in cards]:
            missed.append((text, product))
    share = 1 - len(missed) / len(asked)
    print(f"{share:.1%} of {len(asked):,} cards are on the first page; not there are, for example:")
    for text, product in missed[:10]:
        print(f"  {text!r}: {product}")
    return share


def typed(product: Product, rng: random.Random) -> str:
    """Return two of a card's base name, set and number as people type them."""
    _, name, set_, number = product
    parts = rng.sample([base_name(name), set_, number], 2)
    text = " ".join(parts)
    if rng.random() < 0.5:
        text = "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
    return rng.choice((str.lower, str.lower, str.upper, str.title, str))(text)[:100]


def slowest_of(build: OpenBuild) -> float:
    """Return the CPU of the slowest of some awkward texts, in milliseconds."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    texts = [
        *(
            "e",
            "ex",
            "ex e",
            "pokemon",
            "base set",
            "charizard base set",
            "the of",
            "promo 1",
            "v 1",
            "1",
            "energy",
            "- e",
        ),
        *("pokemon ex 1", " ".join(letters), " ".join(map(str, range(1, 40)))[:100], "-".join(letters), "e " * 50),
        *(
            " ".join(f"{one}e" for one in letters)[:100],
            " ".join(f"{n}/{n}" for n in range(1, 30))[:100],
            "team rocket",
        ),
    ]
    paths = (
        "cards?sort=match&",
        "cards?sort=name&order=desc&",
        "cards?sort=match&min_price=0.02&kind=single&",
        "facets?",
    )
    took = {(path, text): cpu(build, f"{path}find={quote(text)}") for path in paths for text in texts}
    slowest = sorted(took, key=took.__getitem__, reverse=True)[:4]
    print("the slowest, in ms of CPU:", *(f"{took[one]:.2f} {one}" for one in slowest), sep="\n  ")
    return max(took.values())


def cpu(build: OpenBuild, target: str) -> float:
    """Return the CPU of an answer that is new, in milliseconds: the median of some."""
    client, times = client_of(build), []
    for _ in range(ROUNDS):
        began = time.process_time()
        answer = client.get(f"{API}/{target}")
        times.append((time.process_time() - began) * 1000)
        assert answer.status_code == 200, target
    return median(times)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
