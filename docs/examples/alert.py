import json
import os
import sys
from pathlib import Path

import requests

FALL = 0.1
url, headers = f"{os.environ['CARDS']}/api/v1/cards", {"Authorization": f"Bearer {os.environ['KEY']}"}
file = Path("noted.json")
noted = json.loads(file.read_text()) if file.exists() else {}
fallen = 0
for start in range(1, len(sys.argv), 100):
    answer = requests.get(url, params={"ids": ",".join(sys.argv[start : start + 100])}, headers=headers, timeout=30)
    answer.raise_for_status()
    for card in answer.json()["data"]:
        price, before = (card["price_guide"] or {}).get("trend"), noted.get(str(card["id_product"]))
        if price is not None and before and price <= before * (1 - FALL):
            print(f"{card['name']} fell from {before:.2f} to {price:.2f}: {card['cardmarket_url']}")
            fallen += 1
        if price is not None and (before is None or price > before or price <= before * (1 - FALL)):
            noted[str(card["id_product"])] = price  # the highest price since the last alert
file.write_text(json.dumps(noted))
print(f"{fallen} of {len(sys.argv) - 1} prices fell")
