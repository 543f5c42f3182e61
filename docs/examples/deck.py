import os
import re
import sys
from pathlib import Path

import requests

HEADS = "about|commander|companion|deck|(?:main|maybe|side)board|pok[eé]mon|trainers?|energy|total cards"
SKIPPED = re.compile(rf"(?:{HEADS})\W*\d*\W*|(?:#|//|--|\*\*).*|", re.I)  # headings, comments, empty lines
LINE = re.compile(r"(?:\* )?(?:SB: ?)?(?:(\d{1,3})(?: ?[x×]|X)? )?(.+?)(?: [#^].*)?")  # no quantity is 1
PIECE = re.compile(r"\([^)]*\)|\[[^]]*\]|\S+")
OF_NAMES = r"EX|GX|VMAX|VSTAR|V-UNION|BREAK|LEGEND|LV\.X|GL|FB"  # these look like sets
# What may follow a name: brackets, signs, a number, the code of a set; but not a quantity such as x2.
PLACE = re.compile(rf"[(\[*].*|(?![xX×]\d+$)\S*\d\S*|(?!(?:{OF_NAMES})$)[A-Z.-]{{2,7}}")
ENERGIES = {"G": "Grass", "R": "Fire", "W": "Water", "L": "Lightning", "P": "Psychic", "F": "Fighting"}
ENERGIES |= {"D": "Darkness", "M": "Metal", "Y": "Fairy"}
session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['KEY']}"


def get(path, **params):
    answer = session.get(f"{os.environ['CARDS']}/api/v1/{path}", params=params, timeout=30)
    answer.raise_for_status()
    return answer.json()


def possible_names(text):
    """The names that a line may mean, the longest first: a card's name may end in what looks like a set or a number."""
    pieces = PIECE.findall(re.sub(r"\{(\w)\}", lambda sign: ENERGIES.get(sign[1], sign[0]), text[:180]))
    while pieces:
        name = " ".join(pieces)
        yield from (name, name.removeprefix("Basic "))  # of some energies the products have no Basic
        if not PLACE.fullmatch(pieces.pop()):
            break


lines = (" ".join(line.split()) for line in Path(sys.argv[1]).read_text("utf-8-sig").splitlines())
matches = [LINE.fullmatch(line) for line in lines if not SKIPPED.fullmatch(line)]
deck = [(int(match[1] or 1), list(possible_names(match[2]))) for match in matches]
names, found = list(dict.fromkeys(name for _, possible in deck for name in possible)), {}
for start in range(0, len(names), 50):
    some = get("cards/named", names="\n".join(names[start : start + 50]), kind="single")["data"]
    found |= {entry["name"]: entry["cheapest"] for entry in some}

total = 0
for quantity, possible in deck:
    name = next((name for name in possible if name in found), possible[0])
    cheapest = found.get(name)
    says = f"{cheapest['price']:.2f} each" if cheapest else "has no price" if name in found else "is no card"
    print(quantity, name, says)
    total += quantity * cheapest["price"] if cheapest else 0
print(f"together {total:.2f}")
