"""The price of a deck list: python deck.py deck.txt

The file has lines such as `4 Emberfox ex`. Of each name the cheapest printing counts. A name costs
one request; "The price of a list of names" keeps the ids, after which 100 prices cost one.
"""

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


total = 0
for line in filter(str.strip, Path(sys.argv[1]).read_text("utf-8-sig").splitlines()):
    quantity, _, name = line.strip().partition(" ")
    found = get("cards", q=name, sort="match", kind="single", limit=100)["data"]
    prices = [(card["price_guide"] or {}).get("trend") for card in found if fold(card["name"]) == fold(name)]
    known = [price for price in prices if price is not None]
    print(quantity, name, f"{min(known):.2f} each" if known else "has no price" if prices else "is no card")
    total += int(quantity) * min(known, default=0)
print(f"together {total:.2f}")
