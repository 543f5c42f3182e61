"""A store with small builds, written with the contract's own modules from products made up here."""

import json
import random
from hashlib import sha256

import pyarrow as pa

from edge_auth.contract import layout, names, pages
from edge_auth.contract.builds import FORMAT, Pointer
from edge_auth.contract.card_lines import DIGEST_BYTES
from edge_auth.contract.catalogue import KindCounts
from edge_auth.contract.codec import compress
from edge_auth.contract.index import IndexRows, LayerFile, index_table, to_bytes
from edge_auth.contract.splice import encode_fragments
from edge_auth.contract.store.folder import FolderStore
from edge_auth.contract.text import composed, fold, number_filter_key, number_sort_key, words
from edge_auth.contract.vocabulary import substring_table, suffix_table

AS_OF = "2026-08-22"
FRESHNESS = {
    "watchlist": {"last_checked": None},
    "catalogue": {"price_guide_day": "2026-08-21", "listing_scraped_at": "2026-08-20T06:00:00Z"},
    "filtered_price": {"latest_checked_at": "2026-08-22T12:00:00Z"},
}
SETS = {1: "Base Set", 2: "151", 151: "Pokémon EX", 7: "Twins", 8: "Twins", 30: None}
_WORDS = ("Pikachu", "Dragon", "Flabébé", "EX", "ex-Machina", "a", "Straße", "Charizard", "Mr. Mime", "ﬁre")


def products(count: int = 230, seed: int = 1) -> list[dict]:
    """Products with ties, nulls and awkward text; prices in a narrow range so that many are equal."""
    rng = random.Random(seed)
    made = []
    for id_ in rng.sample(range(-5, 5000), count):
        price = lambda: rng.choice([None, 0.0, 1.5, 2, rng.randint(1, 40) / 4])  # noqa: E731
        made.append(
            {
                "id_product": id_,
                "name": " ".join(rng.sample(_WORDS, rng.randint(1, 4))),
                "kind": rng.choice(["single", "single", "sealed"]),
                "set": rng.choice([*SETS, None]),
                "number": rng.choice([None, "", "4", "004", "TG04", "tg4", "10", "١", "4a", "000"]),
                "rarity": rng.choice([None, "Rare", "RARE", "Ultra Rare", "Râre", "Common"]),
                "added": rng.choice([None, "2020-01-01", "2021-01-01", "2022-02-02"]),
                **{sort: price() for sort in ("trend", "low", "avg", "filtered")},
            }
        )
    return made


def card(product: dict) -> bytes:
    """A stand-in for the Card's JSON: enough to tell which product it is."""
    shown = {name: product[name] for name in ("id_product", "name", "kind", "number", "rarity")}
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()


def sort_key(product: dict, sort: str):
    """What a product is sorted by, or None."""
    if sort == "name":
        return fold(product["name"])
    if sort == "number":
        return number_sort_key(product["number"]) if product["number"] else None
    return product["added"] if sort == "newest" else product[sort]


def ranked(listed: list[dict], sort: str, descending: bool) -> list[dict]:
    """The contract's order of /cards, in the plainest way."""
    keyed = [p for p in listed if sort_key(p, sort) is not None]
    rest = sorted((p for p in listed if sort_key(p, sort) is None), key=lambda p: p["id_product"])
    default_descending = not names.SORTS[sort].ascending
    keyed.sort(key=lambda p: p["id_product"])
    keyed.sort(key=lambda p: sort_key(p, sort), reverse=default_descending)
    return (keyed if descending == default_descending else keyed[::-1]) + rest


def write_layer(store: FolderStore, name: str, objects: dict, pattern: str = "", files: dict | None = None) -> str:
    """Write a layer of one pack, of objects given as JSON or as JSON and gzip member; returns its digest."""
    rows, pack = IndexRows(), b""
    for key, made in objects.items():
        data, stored = (made, compress(made)) if isinstance(made, bytes) else made
        prefix, _, suffix = pattern.partition("{}")
        rows.keys.append(int(key.removeprefix(prefix).removesuffix(suffix)) if pattern else key)
        rows.packs.append(0)
        rows.offsets.append(len(pack))
        rows.lengths.append(len(stored))
        rows.stored.append(sha256(stored).digest())
        rows.json.append(sha256(data).digest())
        rows.sizes.append(len(data))
        pack += stored
    listed = [LayerFile(file, len(data), sha256(data).hexdigest()) for file, data in (files or {}).items()]
    packs = [LayerFile("pack-1.jsonl.gz", len(pack), sha256(pack).hexdigest())]
    index = index_table(rows.unsorted_table(pattern), pattern, packs, listed)
    digest = sha256(to_bytes(index) + pack).hexdigest()[:16]
    for file, data in {"pack-1.jsonl.gz": pack, **(files or {}), "index.arrow": to_bytes(index)}.items():
        store.put(f"layers/{name}/{digest}/{file}", data)
    return digest


def columns_files(listed: list[dict]) -> dict[str, bytes]:
    """The files of the search index."""
    ordered = sorted(listed, key=lambda p: (p["set"] or 0, p["number"] or "", p["id_product"]))
    ordinal = {p["id_product"]: place for place, p in enumerate(ordered)}
    set_ids = sorted(SETS)
    table = {
        "id": pa.array([p["id_product"] for p in ordered], pa.int64()),
        "single": pa.array([p["kind"] == "single" for p in ordered], pa.bool_()),
        "set": pa.array([len(set_ids) if p["set"] is None else set_ids.index(p["set"]) for p in ordered], pa.int32()),
        "rarity": pa.array([fold(p["rarity"] or "") for p in ordered]).dictionary_encode(),
        "number": pa.array([number_filter_key(p["number"] or "") for p in ordered]).dictionary_encode(),
    }
    kinds = {kind: [p for p in listed if kind in ("all", p["kind"])] for kind in names.KINDS}
    keyed = {
        kind: {s: sum(sort_key(p, s) is not None for p in of_kind) for s in names.SORTS}
        for kind, of_kind in kinds.items()
    }
    for sort in names.SORTS:
        order = [ordinal[p["id_product"]] for p in ranked(listed, sort, not names.SORTS[sort].ascending)]
        table[f"order_{sort}"] = pa.array(order, pa.uint32())
        rank = sorted(range(len(order)), key=order.__getitem__)
        table[f"rank_{sort}"] = pa.array(rank, pa.uint32())
    postings: dict[str, set[int]] = {}
    for product in listed:
        for word in words(product["name"]):
            postings.setdefault(word, set()).add(ordinal[product["id_product"]])
    counts = KindCounts({kind: len(of_kind) for kind, of_kind in kinds.items()}, keyed)
    lines = [card(product) + b"\n" for product in ordered]
    table["size"] = pa.array(map(len, lines), pa.uint32())
    table["digest"] = pa.array([sha256(line).digest()[:DIGEST_BYTES] for line in lines], pa.binary(DIGEST_BYTES))
    noted = {"counts": counts.to_json(), "rows": sha256(b"".join(lines)).hexdigest()}
    columns = pa.table(table).replace_schema_metadata(noted)
    found = sorted(postings)
    word_table = pa.table(
        {"word": pa.array(found), "products": pa.array([sorted(postings[w]) for w in found], pa.list_(pa.uint32()))}
    )
    suffixes = suffix_table(word_table["word"])
    names_ = [SETS[id_] and composed(SETS[id_]) for id_ in set_ids]
    set_table = pa.table({"id": pa.array(set_ids, pa.int64()), "name": pa.array(names_, pa.string())})
    return {
        "columns-1.arrow": to_bytes(columns),
        "words-1.arrow": to_bytes(word_table),
        "suffixes-1.arrow": to_bytes(suffixes),
        "pieces-1.arrow": to_bytes(substring_table(word_table, suffixes, len(ordered))),
        "rows-1.gz": b"".join(map(compress, lines)),
        "sets-1.arrow": to_bytes(set_table),
    }


def write_build(store: FolderStore, listed: list[dict], slugs: dict[str, str] | None = None, live: bool = True) -> str:
    """Write a whole build and make it live; returns its id."""
    layers = {}
    lists: dict[str, bytes] = {}
    for kind in names.KINDS:
        for sort in names.SORTS:
            order = ranked([p for p in listed if kind in ("all", p["kind"])], sort, sort not in ("name", "number"))
            for n in range(0, len(order), 100):
                lists[names.list_page(kind, sort, n // 100)] = pages.join_page(card(p) for p in order[n : n + 100])
    layers[names.LISTS] = write_layer(store, names.LISTS, lists)
    layers[names.CATALOGUE] = write_layer(store, names.CATALOGUE, {}, files=columns_files(listed))
    row = '{{"day":"{}","low":1}}'.format
    opening = {names.CARD_PATTERN.format(p["id_product"]): _detail(p, [row(AS_OF)]) for p in listed}
    layers[names.CARDS] = write_layer(store, names.CARDS, opening, names.CARD_PATTERN)
    rows = ",\n".join([row("2025-01-01"), row("2025-12-31")]).encode()
    closed = encode_fragments(b"", [rows, b"", b""], pages.PERIOD_TAIL)
    pattern = names.history_pattern("2025")
    layers[names.history_layer("2025")] = write_layer(
        store, "history-2025", {pattern.format(p["id_product"]): closed for p in listed[::2]}, pattern
    )
    sets = sorted(((fold(n or ""), i, n) for i, n in SETS.items() if n))
    lines = [json.dumps({"id": i, "name": n}, ensure_ascii=False).encode() for _, i, n in sets]
    layers[names.SETS] = write_layer(store, names.SETS, {names.sets_page(0): pages.join_page(lines)})
    layers[names.WATCHLIST] = write_layer(store, names.WATCHLIST, _watchlist(slugs or {}))
    for name, key, value in (
        (names.FINGERPRINTS, names.FINGERPRINTS_KEY, {"version": "none", "count": 0}),
        (names.STATUS, names.STATUS_KEY, {"catalogue": {"products": len(listed)}}),
        (names.SITE, names.OPENAPI_KEY, {"openapi": "3.1.0"}),
    ):
        layers[name] = write_layer(store, name, {key: json.dumps(value).encode() + b"\n"})
    build = layout.build_id(AS_OF, layers)
    record = {"format": FORMAT, "id": build, "as_of": AS_OF, "layers": {n: {"digest": d} for n, d in layers.items()}}
    record["freshness"] = FRESHNESS
    store.put(f"builds/{build}.json", json.dumps(record).encode())
    if live:
        store.put("current.json", Pointer(build).to_bytes())
    return build


def _detail(product: dict, rows: list[str]) -> tuple[bytes, bytes]:
    head = card(product)[:-1] + b',"history":'
    return encode_fragments(head, [",\n".join(rows).encode(), b"", b""], pages.CARD_TAIL)


def _watchlist(slugs: dict[str, str]) -> dict[str, bytes]:
    objects, items = {}, []
    for slug in sorted(slugs, key=fold):
        url = slugs[slug] + "?sellerCountry=23&language=1"
        items.append(json.dumps({"slug": slug, "cardmarket_url": url}, ensure_ascii=False).encode())
        objects[names.watchlist_item(slug)] = items[-1] + b"\n"
        objects[names.watchlist_offers(slug)] = json.dumps({"slug": slug, "offers": []}).encode()
        for view in names.VIEWS:
            for range_ in names.RANGES:
                echo = json.dumps({"slug": slug, "view": view, "range": range_}).encode()
                objects[names.watchlist_history(slug, view, range_)] = echo
    return objects | {names.watchlist_page(0): pages.join_page(items)}
