import csv
import os
import sys
from collections import Counter
from pathlib import Path

import requests

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['KEY']}"


def get(path, ids):
    url = f"{os.environ['CARDS']}/api/v1/{path}"
    answer = session.get(url, params={"ids": ",".join(ids)}, timeout=30)
    answer.raise_for_status()
    return answer.json()


quantity, now, weeks = Counter(), Counter(), Counter()
with Path(sys.argv[1]).open(encoding="utf-8-sig", newline="") as file:
    for row in csv.DictReader(file):
        quantity[row["idProduct"]] += int(row["quantity"])
ids = list(quantity)
for start in range(0, len(ids), 100):
    asked = ids[start : start + 100]
    for card in get("cards", asked)["data"]:
        for price in ("trend", "low"):
            now[price] += ((card["price_guide"] or {}).get(price) or 0) * quantity[str(card["id_product"])]
    answer = get("series", asked)
    for product in answer["data"]:
        last = 0
        for week, price in zip(answer["weeks"], product["trend"], strict=True):
            last = last if price is None else price  # a week without a price keeps the last one
            weeks[week] += last * quantity[str(product["id_product"])]
print(f"now {now['trend']:.2f}, at the lowest offers {now['low']:.2f}")
for week, value in sorted(weeks.items()):
    print(week, f"{value:.2f}")
