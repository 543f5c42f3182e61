"""A small store for the shim's tests: a generated lake, and builds of it by the product."""

import random
from functools import cache
from pathlib import Path
from typing import Any

from generator.releases.publish import publish
from generator.storage.builds import open_build
from generator.storage.catalogue import Catalogue
from generator.storage.layout import BUILDS, id_of
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.interface import Store
from tests.support.copies import copy_objects
from tests.support.lakes import Rows, write
from tests.support.nights import make
from tests.support.oracle import Oracle
from tests.support.shared import shared_folder

AS_OF = "2026-08-22"  # the day of the newest check
PRICE_DAY = "2026-08-21"
LISTING_TIME = "2026-08-20T06:00:00"
CHECK_TIME = f"{AS_OF}T12:00:00"
CLOSED_DAYS = ("2025-01-01", "2025-12-31")  # days with prices in a closed year, for every second product
ALL = 230
SETS = {1: "Base Set", 2: "151", 151: "Pokémon EX", 7: "Twins", 8: "Twins", 30: None}  # products alone know 30
GAMES = {1: "Pokémon", 2: "POKÉMON", 7: "Magic"}
SLUGS = {
    "pikachu": "https://www.cardmarket.com/en/Pokemon/Products/Singles/Base/Pikachu",
    "Éclair/x": "https://www.cardmarket.com/en/Pokemon/Products/Singles/Base/Eclair",
    "raichu": "https://www.cardmarket.com/en/Pokemon/Products/Singles/Jungle/Raichu-V1",
}
_WORDS = ("Pikachu", "Dragon", "Flabébé", "EX", "ex-Machina", "a", "Straße", "Charizard", "Mr. Mime", "ﬁre")


def products(count: int = ALL, seed: int = 1) -> list[dict[str, Any]]:
    """Return products with ties, nulls and awkward text; prices in a narrow range, so that many are equal."""
    rng = random.Random(seed)
    drawn = []
    for id_ in rng.sample(range(-5, 5000), ALL):
        price = lambda: rng.choice([None, 0.0, 1.5, 2.0, rng.randint(1, 40) / 4])  # noqa: E731
        drawn.append(
            {
                "id_product": id_,
                "name": " ".join(rng.sample(_WORDS, rng.randint(1, 4))),
                "kind": rng.choice(["single", "single", "sealed"]),
                "set": rng.choice([*SETS, None]),
                "number": rng.choice([None, "", "4", "004", "TG04", "tg4", "10", "١", "4a", "000"]),
                "rarity": rng.choice([None, "Rare", "RARE", "Ultra Rare", "Râre", "Common", ""]),
                "added": rng.choice([None, "2020-01-01", "2021-01-01", "2022-02-02"]),
                **{sort: price() for sort in ("trend", "low", "avg", "filtered")},
            }
        )
    return drawn[:count]


def rows(listed: list[dict[str, Any]]) -> Rows:
    guide = [{"id_product": p["id_product"], **{name: p[name] for name in ("trend", "low", "avg")}} for p in listed]
    checked = [p for p in listed if p["filtered"] is not None]
    return Rows(
        products=[
            {
                **{name: p[name] for name in ("id_product", "name", "kind", "number", "rarity")},
                "category": ("Alpha Single", "Beta Booster", None)[p["id_product"] % 3],
                "id_expansion": p["set"],
                "date_added": p["added"],
            }
            for p in listed
        ],
        expansions=[
            {"id": id_, "name": name, "game": GAMES.get(id_), "url": f"https://www.cardmarket.com/en/Expansions/{id_}"}
            for id_, name in SETS.items()
            if name
        ],
        watchlist=[{"slug": slug, "name": slug, "url": url} for slug, url in SLUGS.items()],
        identifiers=[
            {"id_product": p["id_product"], "scheme": scheme, "value": str(p["id_product"] // shared)}
            for p in listed
            for scheme, shared in (("tcgplayer", 1), ("tcgdex", 3))
        ],
        price_guide={PRICE_DAY: guide} | dict.fromkeys(CLOSED_DAYS, guide[::2]),
        listings={LISTING_TIME[:10]: [{"id_product": listed[0]["id_product"], "scraped_at": LISTING_TIME}]},
        filtered_checks={AS_OF: [_check(p["id_product"], p["filtered"]) for p in checked]},
    )


def _check(id_product: int, price: float) -> dict[str, Any]:
    offer = {"price": price, "condition": "NM", "quantity": 1, "seller": "a seller"}
    return {"id_product": id_product, "checked_at": CHECK_TIME, "offers": 1, "lowest": price, "offer_list": [offer]}


@cache
def oracle() -> Oracle:
    """Return what the API must say about the build of all products."""
    return Oracle(_folder(ALL) / "lake")


def catalogue() -> Catalogue:
    """Return the search index of the build of all products."""
    store = FolderStore(str(_folder(ALL) / "store"))
    [id_] = map(id_of, store.list(BUILDS))
    return open_build(store, id_).catalogue


def _folder(count: int) -> Path:
    """Write the lake of the first products and build it, once in a run of the tests. Nothing is published."""

    def fill(folder: Path) -> None:
        make(write(rows(products(count)), folder / "lake"), FolderStore(str(folder / "store")))

    return shared_folder(f"small-store-{count}", fill)


def add_build(store: Store, count: int = ALL, *, live: bool = True) -> str:
    """Copy a build of the first products into a store and publish it. Return its id."""
    source = FolderStore(str(_folder(count) / "store"))
    [build] = map(id_of, source.list(BUILDS))
    copy_objects(source, store)
    if live:
        publish(store, build, by_hand=True)
    return build
