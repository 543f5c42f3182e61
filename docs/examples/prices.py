import os
import sys

import requests

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['KEY']}"


def get(path, **params):
    answer = session.get(f"{os.environ['CARDS']}/api/v1/{path}", params=params, timeout=30)
    answer.raise_for_status()
    return answer.json()


ids = []
for start in range(1, len(sys.argv), 100):
    named = get("cards/named", names="\n".join(sys.argv[start : start + 100]))
    for entry in named["data"]:
        ids += map(str, entry["ids"])
        if entry["products"] > len(entry["ids"]):
            print(f"the cheapest {len(entry['ids'])} of {entry['products']} with the name {entry['name']}")
    for name in named["not_found"]:
        print(f"there is no card {name}")
for start in range(0, len(ids), 100):
    for card in get("cards", ids=",".join(ids[start : start + 100]))["data"]:
        print(card["name"], card["set"]["name"], (card["price_guide"] or {}).get("trend"))
