"""`make real-finds`: is a card on the first page of what people type into one box? Asks `find` of real cards in DATA.

    python -m tests.real.finds DATA

A query has two of three: the words of a real card's base name, the words of its set's name, and its number; in any
order, in capitals or not, with accents or not. Signs between words are left out: `find` looks for them in names alone.
Then it measures the CPU of `find` against that of `q` with the same words, and of the worst texts. With a second
argument it measures a catalogue that has each product so many times.
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
from edge_auth.builds import builds
from edge_auth.builds.pointer import live_build_id
from edge_auth.live.open_build import OpenBuild
from edge_auth.store.folder import FolderStore
from edge_auth.text import base_name, words
from tests.real import pokemon_lake
from tests.support.service import API, run

QUERIES = 1_000
LEAST_FOUND = 0.98
MOST_OF_Q = 1.3
MOST_MS = 5
ROUNDS = 3
PRODUCTS = """
select p.id_product, p.name, e.name, p.number
from '{lake}/products*.parquet' as p join '{lake}/expansions*.parquet' as e on p.id_expansion = e.id
where p.number <> '' order by all
"""
COPIES = """
copy (
    select * replace (id_product + 10000000 * copy as id_product)
    from '{lake}/{table}' cross join (select unnest(range({copies})) as copy)
) to '{other}/{table}'
"""
Product = tuple[int, str, str, str]  # id, name, name of the set, number


def main(data: Path, copies: int = 1) -> int:
    """Print the figures; 1 if one is out of its bounds."""
    if not data.is_dir():
        print(f"skipped: there is no real data at {data}")
        return 0
    with tempfile.TemporaryDirectory(prefix="cardpress-finds-") as folder:
        lake, store = Path(folder) / "lake", Path(folder) / "store"
        pokemon_lake.main(str(data), str(lake))
        products = duckdb.sql(PRODUCTS.format(lake=lake)).fetchall()
        run("build", "--lake", multiplied(lake, copies), "--store", store, "--publish")
        build = opened(store)
        found = found_share(build, products) if copies == 1 else 1
        ratio, slowest = of_q(build, products), slowest_of(build)
    return int(found < LEAST_FOUND or ratio > MOST_OF_Q or slowest > MOST_MS)


def multiplied(lake: Path, copies: int) -> Path:
    """Return a lake that has each product of another one so many times, with the newest guide."""
    if copies == 1:
        return lake
    other, day = lake.parent / "copies", max(path.name for path in (lake / "price_guide").iterdir())
    for table in ("products.parquet", *(f"price_guide/{day}/{p.name}" for p in (lake / "price_guide" / day).iterdir())):
        (other / table).parent.mkdir(parents=True, exist_ok=True)
        duckdb.sql(COPIES.format(lake=lake, other=other, table=table, copies=copies))
    (other / "expansions.parquet").write_bytes((lake / "expansions.parquet").read_bytes())
    return other


def opened(store: Path) -> OpenBuild:
    """Open the live build, without a cache of answers."""
    folder = FolderStore(str(store))
    build = OpenBuild(builds.open_build(folder, live_build_id(folder)))
    build.prepare()
    return build


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
    text = " ".join(part for part in " ".join(parts).split() if words(part))
    if rng.random() < 0.5:
        text = "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
    return rng.choice((str.lower, str.lower, str.upper, str.title, str))(text)[:100]


def of_q(build: OpenBuild, products: Sequence[Product]) -> float:
    """Return how much CPU `find` takes of what `q` takes for the same words of names."""
    rng, ratios = random.Random(2), []
    for path in ("cards?sort=match&", "cards?", "facets?"):
        texts = [" ".join(words(base_name(name))) for _, name, _, _ in rng.sample(products, 200)]
        texts += (
            [text[:3] for text in texts[:50]] + [text[:1] for text in texts[:20]] + [text[:2] for text in texts[:20]]
        )
        spent = {name: sum(cpu(build, f"{path}{name}={quote(text)}") for text in texts) for name in ("q", "find")}
        ratios.append(spent["find"] / spent["q"])
        print(f"{path}find: {ratios[-1]:.2f} of q, which takes {spent['q'] / len(texts):.3f} ms of CPU")
    return max(ratios)


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
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
