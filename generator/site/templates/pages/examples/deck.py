import os
import re
import sys
from pathlib import Path

import requests

PLACE = r"(?:\([\w-]{2,6}\)|[A-Z0-9-]{2,6})\s+\S*\d\S*(?:\s+[*[^].*)?"  # set and number, then what apps note
LINE = re.compile(rf"\s*(\d+)x?\s+(.+?)(?:\s+{PLACE})?\s*")
session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['KEY']}"


def get(path, **params):
    answer = session.get(f"{os.environ['CARDS']}/api/v1/{path}", params=params, timeout=30)
    answer.raise_for_status()
    return answer.json()


lines = map(LINE.fullmatch, Path(sys.argv[1]).read_text("utf-8-sig").splitlines())
deck = [(int(line[1]), line[2]) for line in lines if line]
names, found = list(dict.fromkeys(name for _, name in deck)), {}
for start in range(0, len(names), 100):
    some = get("cards/named", names="\n".join(names[start : start + 100]), kind="single")["data"]
    found |= {entry["name"]: entry["cheapest"] for entry in some}

total = 0
for quantity, name in deck:
    cheapest = found.get(name)
    says = f"{cheapest['price']:.2f} each" if cheapest else "has no price" if name in found else "is no card"
    print(quantity, name, says)
    total += quantity * cheapest["price"] if cheapest else 0
print(f"together {total:.2f}")
