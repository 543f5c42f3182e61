"""The differences between two exported builds, computed in plain Python: the reference for `cardpress diff`."""

import json
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

PRICES = {"trend": ("price_guide", "trend"), "low": ("price_guide", "low"), "filtered": ("filtered_price", "lowest")}
_TOP = ("index.html", "index.json", "404.html", "favicon.ico", "llms.txt", "robots.txt")


class Tree:
    """An exported tree. `objects` has the bytes of its documents by their keys in a diff."""

    def __init__(self, folder: Path):
        self.objects = {
            path.relative_to(folder).as_posix().removeprefix("api/v1/"): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and path.name != ".cardpress-export.json"
        }

    def json(self, key: str) -> dict:
        return json.loads(self.objects[key], parse_float=Decimal)

    def products(self) -> dict[int, dict]:
        details = [self.json(key) for key in self.objects if resource(key) == "cards"]
        return {d["id_product"]: {name: value for name, value in d.items() if name != "history"} for d in details}

    def items(self, pages: str) -> list[dict]:
        return [item for key in self.objects if key.startswith(pages) for item in self.json(key).get("data", ())]

    def sets(self) -> dict[int, dict]:
        return {item["id"]: item for item in self.items("sets/")}

    def watchlist(self) -> dict[str, dict]:
        return {item["slug"]: item for item in self.items("watchlist/pages/")}

    def identifiers(self) -> set[tuple]:
        """The rows of the bulk file: id, scheme, value."""
        [file] = [body for key, body in self.objects.items() if key.startswith("bulk/identifiers-")]
        return {tuple(row.values()) for row in pq.read_table(pa.BufferReader(file)).to_pylist()}

    def fingerprints(self) -> dict[str, dict]:
        return {entry["key"]: entry for entry in self.json("fingerprints.json")["entries"]}


def resource(key: str) -> str:
    first, *rest = key.split("/")
    if first == "cards":
        return "lists" if len(rest) > 1 else "cards"
    if key.startswith("explore/drawn/"):
        return "drawings"
    if first in (*_TOP, "openapi.json", "docs", "explore"):
        return "site"
    return {"prices.csv": "bulk"}.get(first, first.removesuffix(".json"))


def changes(old: dict, new: dict) -> dict:
    """Return the keys of two dicts that were added, removed, changed or are equal, each list sorted."""
    both = old.keys() & new.keys()
    return {
        "added": sorted(new.keys() - old.keys()),
        "removed": sorted(old.keys() - new.keys()),
        "changed": sorted(key for key in both if old[key] != new[key]),
        "unchanged": sorted(key for key in both if old[key] == new[key]),
    }


def leaves(body: dict, known: dict | None = None, path: str = "") -> dict:
    """Return the fields by dotted path. Arrays, and the offers by condition, count as one value."""
    found = {} if known is None else known
    for name, value in body.items():
        if isinstance(value, dict) and name != "cheapest_offers_by_condition":
            leaves(value, found, f"{path}{name}.")
        else:
            found[path + name] = value
    return found


def fields(old: dict, new: dict) -> dict:
    """Return the fields that differ with both values; a value is null if the object around it is null."""
    before, after = leaves(old), leaves(new)
    names = before.keys() | after.keys()
    pairs = {name: [before.get(name), after.get(name)] for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def price(card: dict, name: str) -> Decimal | None:
    around, field = PRICES[name]
    return (card[around] or {}).get(field)


def percent(old: Decimal, new: Decimal) -> Decimal | None:
    """Return (new - old) / old x 100 with 2 decimals, rounded half away from zero."""
    return ((new - old) / old * 100).quantize(Decimal("0.01"), ROUND_HALF_UP) if old else None


def price_changes(old: dict[int, dict], new: dict[int, dict]) -> dict[str, list[dict]]:
    """Return the prices that changed, appeared or disappeared, ordered by name (trend first) and id."""
    reported: dict[str, list[dict]] = {"moves": [], "appeared": [], "went": []}
    for name in PRICES:
        for id_ in sorted(old.keys() & new.keys()):
            before, after = price(old[id_], name), price(new[id_], name)
            if before == after:
                continue
            row = {"price": name, "id_product": id_, "old": before, "new": after, "change": None, "change_pct": None}
            if before is None or after is None:
                reported["appeared" if before is None else "went"].append(row)
            else:
                row |= {"change": after - before, "change_pct": percent(before, after)}
                reported["moves"].append(row)
    return reported
