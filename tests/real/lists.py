"""`make real-lists`: how many lines of apps "My cards" matches, made from the real cards in DATA.

    python -m tests.real.lists DATA

A line is the name of a real card, the code that is printed on it, and its number, as an address of the marketplace has
them: a thousand of those that TCGdex knows, too, and a hundred of the others. The lake has the marketplace's names,
which hold no number. It gets the numbers that TCGdex knows, as the only help; then, instead, TCGdex's cards, first
without its sets, then with them. A product is wrong if neither the addresses nor TCGdex name it for the line; the two
disagree on about one card in seventy. With all of TCGdex each format must have 98 % of its thousand, and no wrong one.
"""

import csv
import gzip
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from playwright.sync_api import Browser, expect, sync_playwright

from tests.support.programs import BROWSERS, path_of
from tests.support.service import Service, issue, run

LINES = {"that TCGdex knows": 1_000, "that it does not know": 100}
LEAST_MATCHED = 0.98
PATIENCE = 300_000  # milliseconds
AS_OF = "2026-08-22"
CATALOGUE = f"pokemon-cmprices/pokemon_catalogue_{AS_OF}.csv.gz"
GUIDE = f"pokemon-cmprices/pokemon_guide_{AS_OF}_full.csv.gz"
LAKE = """
create view catalogue as from read_csv('{catalogue}', all_varchar = true);
copy (
    select idProduct::bigint as id_product, name, 'single' as kind, idExpansion::bigint as id_expansion, known.number
    from catalogue
    left join read_json('{numbers}', columns = {{idProduct: 'varchar', number: 'varchar'}}) as known using (idProduct)
) to '{lake}/products.parquet';
copy (
    select idExpansion::bigint as id, min(expansion) as name, 'Pokémon' as game
    from catalogue
    where expansion is not null
    group by id
) to '{lake}/expansions.parquet';
copy (
    select idProduct::bigint as id_product, trend::double as trend
    from read_csv('{guide}', all_varchar = true)
) to '{lake}/price_guide/day={day}/guide.parquet';
"""
FORMATS = {  # by name: the header, and a line
    "PTCG Live": ("", "1 {name} {code} {number}"),
    "Moxfield and Arena": ("", "1 {name} ({code}) {number}"),
    "Archidekt": ("", "1x {name} ({code}) {number} [Deck{{top}}] ^Have,#37d67a^"),
    "ManaBox": ("Name,Set code,Collector number,Foil,Quantity,ManaBox ID", '"{name}",{code},{number},normal,1,7'),
}
PRODUCT, WHY = 10, 12  # the places in a line that the page keeps


class Line(NamedTuple):
    name: str
    code: str
    number: str


class Sources(NamedTuple):
    """What the marketplace's addresses and TCGdex say: products by code and number."""

    names: dict[int, str]
    addresses: dict[tuple[str, str], int]
    cards: dict[tuple[str, str], list[int]]  # by TCGdex's own code
    printed: dict[str, str]  # the printed code of TCGdex's own


def main(data: Path) -> None:
    """Match the lines without and with TCGdex's sets."""
    if not data.is_dir():
        print(f"skipped: there is no real data at {data}")
        return
    sources = read(data)
    samples = samples_of(sources)
    with tempfile.TemporaryDirectory(prefix="cardpress-lists-") as folder, sync_playwright() as playwright:
        work, chromium = Path(folder), next(filter(None, map(path_of, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=chromium, chromium_sandbox=False)
        day = work / "lake" / "price_guide" / f"day={AS_OF}"
        day.mkdir(parents=True)
        files = {"catalogue": data / CATALOGUE, "guide": data / GUIDE, "lake": work / "lake", "day": AS_OF}
        for name, documents in {"numbers": numbers(sources), **tcgdex(sources)}.items():
            (work / f"{name}.json").write_text(json.dumps(documents))
            known = work / "numbers.json" if name == "numbers" else work / "none.json"
            (work / "none.json").write_text("[]")
            duckdb.connect().execute(LAKE.format(numbers=known, **files))
            if name != "numbers":
                run("ingest", "identifiers", "--from", "tcgdex", "--lake", work / "lake", work / f"{name}.json")
            run("build", "--lake", work / "lake", "--store", work / "store", "--publish")
            for kind, lines in samples.items():
                print(f"after TCGdex's {name}, lines {kind}: {tried(browser, work, lines, *FORMATS['PTCG Live'])}")
        known_lines = samples["that TCGdex knows"]
        results = {name: tried(browser, work, known_lines, *form) for name, form in FORMATS.items()}
        results["ids of TCGdex"] = tried(browser, work, ids(sources), "", "{name}")
    for name, one in results.items():
        print(f"{name}: {one}")
    judge(results)


def read(data: Path) -> Sources:
    with gzip.open(data / "pokemon-derived/pokemon_products_tcgdex.json.gz") as file:
        cards = [one for one in json.load(file)["products"] if one["tcgdexSet"] and one["number"]]
    names = {int(row["idProduct"]): row["name"] for row in rows(data / CATALOGUE)}
    of_sets, codes = defaultdict[tuple[str, str], list[int]](list), defaultdict[str, Counter[str]](Counter)
    set_of = {one["idProduct"]: one["tcgdexSet"] for one in cards}
    addresses = {}
    for row in rows(data / "pokemon-derived/pokemon_urls.csv.gz"):
        if row["idProduct"] and (product := int(row["idProduct"])) in names:
            addresses[row["set"], row["number"]] = product
            codes[set_of.get(product, "")][row["set"]] += 1
    for one in cards:
        of_sets[one["tcgdexSet"], one["number"]].append(one["idProduct"])
    printed = {own: found.most_common(1)[0][0] for own, found in codes.items() if own}
    return Sources(names, addresses, of_sets, printed)


def rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8-sig") as file:
        yield from csv.DictReader(file)


def samples_of(sources: Sources) -> dict[str, dict[Line, set[int]]]:
    """Return lines with the products that one of the sources names for each, by whether TCGdex knows them."""
    known = defaultdict[tuple[str, str], set[int]](set)
    for (own, number), products in sources.cards.items():
        known[sources.printed.get(own, own), number.lstrip("0")] |= set(products)
    kinds: dict[str, dict[Line, set[int]]] = {kind: {} for kind in LINES}
    for code, number in random.Random(1).sample(sorted(sources.addresses), len(sources.addresses)):
        of_tcgdex, product = known[code, number.lstrip("0")], sources.addresses[code, number]
        lines = kinds["that TCGdex knows" if of_tcgdex else "that it does not know"]
        lines[Line(base_name(sources.names[product]), code, number)] = {product, *of_tcgdex}
    return {kind: dict(islice(lines.items(), LINES[kind])) for kind, lines in kinds.items()}


def ids(sources: Sources) -> dict[Line, set[int]]:
    """Return a thousand of TCGdex's ids, as names of lines."""
    some = random.Random(2).sample(sorted(sources.cards), LINES["that TCGdex knows"])
    return {Line(f"{own}-{number}", "", ""): set(sources.cards[own, number]) for own, number in some}


def base_name(name: str) -> str:
    return name.partition(" [")[0].partition(" (")[0]


def tcgdex(sources: Sources) -> dict[str, list[dict[str, Any]]]:
    """Return TCGdex's cards and sets in the form of its API."""
    cards = [
        {"id": f"{own}-{number}", "localId": number, "set": {"id": own}, "thirdParty": {"cardmarket": products}}
        for (own, number), products in sources.cards.items()
    ]
    sets = [{"id": own, "cards": [], "abbreviation": {"official": code}} for own, code in sources.printed.items()]
    return {"cards": cards, "sets": sets}


def numbers(sources: Sources) -> list[dict[str, str]]:
    """Return the numbers of products that TCGdex knows."""
    of_products = {str(one): number for (_, number), products in sources.cards.items() for one in products}
    return [{"idProduct": product, "number": number} for product, number in of_products.items()]


def tried(browser: Browser, work: Path, lines: dict[Line, set[int]], header: str, form: str) -> "MatchedLines":
    texts = {form.format(**line._asdict()): products for line, products in lines.items()}
    return result(texts, matched(browser, work, header, list(texts)))


def matched(browser: Browser, work: Path, header: str, lines: list[str]) -> list[list[Any]]:
    """Return the lines as the page keeps them."""
    key = issue(work / "store", name="lists", rate_limit=1_000_000)
    with Service(work / "store", work / "state") as service:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{service.port}/explore/value#key={key}")
        page.get_by_label("Or type or paste a list").fill("\n".join([header, *lines]).strip())
        page.get_by_role("button", name="Value this list").click()
        expect(page.locator("#status")).to_contain_text(f"{len(lines):,} lines.", timeout=PATIENCE)
        kept: list[list[Any]] = page.evaluate("JSON.parse(localStorage.getItem('cardpress-list'))")
        page.close()
    return kept


class MatchedLines(NamedTuple):
    """How many of some lines are matched, which of them wrongly, and why the others are not."""

    lines: int
    matched: int
    wrong: list[str]
    why: Counter[str]

    def __str__(self) -> str:
        wrong = f"{len(self.wrong)} wrongly {self.wrong[:5]}"
        return f"{self.matched:,} of {self.lines:,} matched, {wrong}; others: {self.why.most_common(4)}"


def result(lines: dict[str, set[int]], kept: list[list[Any]]) -> MatchedLines:
    """Compare the products of lines with the right ones."""
    pairs = list(zip(lines.items(), kept, strict=True))
    found = [(text, line[PRODUCT] in products) for (text, products), line in pairs if line[PRODUCT]]
    wrong = [text for text, is_right in found if not is_right]
    return MatchedLines(len(lines), len(found), wrong, Counter(line[WHY] for _, line in pairs if not line[PRODUCT]))


def judge(results: dict[str, MatchedLines]) -> None:
    """Raise SystemExit if too few lines of a format are matched, or one wrongly."""
    bad = [name for name, one in results.items() if one.matched < LEAST_MATCHED * one.lines or one.wrong]
    if bad:
        raise SystemExit(f"less than {LEAST_MATCHED:.0%} of the lines are matched, or some wrongly: {', '.join(bad)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
