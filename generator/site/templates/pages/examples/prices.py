"""The prices of a list of names: python prices.py "Emberfox ex" "Box 1"

The names file tells which names there are. The ids of a name are searched once and kept. 100 prices cost one request.
"""

import json
import os
import sys
import unicodedata
from pathlib import Path

import requests

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['KEY']}"


def get(path, **params):
    answer = session.get(f"{os.environ['CARDS']}/api/v1/{path}", params=params, timeout=30)
    answer.raise_for_status()
    return answer.json()


def fold(text):
    """Return a text without accents, whatever its case: so the API compares names."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Mn").casefold()


file = Path("ids.json")
ids = json.loads(file.read_text()) if file.exists() else {}
products = {fold(entry["name"]): entry["products"] for entry in get("names")["names"]}
wanted = [fold(name) for name in sys.argv[1:]]
for name in wanted:
    if name not in products:
        print(f"there is no card {name}")
    elif name not in ids:  # the best matches are the products of this name
        found = get("cards", q=name, sort="match", limit=min(products[name], 100))
        ids[name] = [card["id_product"] for card in found["data"]]
file.write_text(json.dumps(ids))

asked = [str(id_) for name in wanted for id_ in ids.get(name, [])]
for start in range(0, len(asked), 100):
    for card in get("cards", ids=",".join(asked[start : start + 100]))["data"]:
        print(card["name"], card["set"]["name"], (card["price_guide"] or {}).get("trend"))
