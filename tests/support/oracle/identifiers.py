"""Identifiers: from products to the ids of other catalogues, and back."""

from collections import defaultdict

from tests.support.oracle.lake import OracleLake, Row


class NoSuchScheme(Exception):
    """404 not_found."""


def schemes(lake: OracleLake) -> list[Row]:
    found = defaultdict(list)
    for id_, scheme, value in lake.identifiers:
        found[scheme].append((id_, value))
    return [
        {"scheme": scheme, "products": len({id_ for id_, _ in pairs}), "values": len({value for _, value in pairs})}
        for scheme, pairs in sorted(found.items())
    ]


def of_product(lake: OracleLake, id_product: int) -> Row:
    found: dict[str, list[str]] = {}
    for id_, scheme, value in sorted(lake.identifiers, key=lambda row: row[1:]):
        if id_ == id_product:
            found.setdefault(scheme, []).append(value)
    return {"id_product": id_product, "identifiers": found}


def find(lake: OracleLake, scheme: str, values: list[str]) -> Row:
    rows = [(id_, value) for id_, of, value in lake.identifiers if of == scheme]
    if not rows:
        raise NoSuchScheme(scheme)
    wanted = list(dict.fromkeys(values))
    products = {value: sorted(id_ for id_, has in rows if has == value) for value in wanted}
    return {
        "data": [{"value": value, "products": ids} for value, ids in products.items() if ids],
        "not_found": [value for value, ids in products.items() if not ids],
    }
