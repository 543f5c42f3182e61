"""`make real`: ingest, build, verify and ask real data of two games, and say what it took.

    python -m tests.real.run DATA

Skips with a clear line where DATA is absent. Works in a temporary folder; nothing of the data is kept.
"""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from tests.real import pokemon_lake
from tests.support.service import API, Service, issue, run

FIVE_QUERIES = (
    ("two words", "cards?q=pikachu%20ex&limit=1"),
    ("one letter", "cards?q=x&limit=1"),
    ("a set named like a number", "cards?set=151&limit=1"),
    ("number", "cards?number=4&limit=1"),
    ("deep offset", "cards?offset=70000&limit=1"),
)


def main(data: Path) -> None:
    if not data.is_dir():
        print(f"skipped: there is no real data at {data}")
        return
    with tempfile.TemporaryDirectory(prefix="cardpress-real-") as folder:
        digimon(data / "digimon-hankep", Path(folder) / "digimon")
        pokemon(data, Path(folder) / "pokemon")


def digimon(files: Path, work: Path) -> None:
    """The marketplace's own files of one game, five days of them."""
    arguments = [
        part
        for option, pattern in (
            ("--singles", "products_singles_*"),
            ("--nonsingles", "products_nonsingles_*"),
            ("--price-guide", "price_guide_*"),
        )
        for path in sorted(files.glob(pattern))
        for part in (option, path)
    ]
    measured("ingest", "ingest", "cardmarket", "--lake", work / "lake", *arguments)
    build_and_ask(work, (("a name", f"cards?q={quote('Omnimon BT5')}&limit=1"),))


def pokemon(data: Path, work: Path) -> None:
    """The full catalogue of one game and 36 days of its price guide."""
    pokemon_lake.main(str(data), str(work / "lake"))
    build_and_ask(work, FIVE_QUERIES)


def build_and_ask(work: Path, queries: tuple[tuple[str, str], ...]) -> None:
    store = work / "store"
    build = measured("build", "build", "--lake", work / "lake", "--store", store, "--publish", "--json")
    record = json.loads(build.splitlines()[0])
    objects, size = sum(record["objects"].values()), sum(record["bytes"].values())
    print(f"  {record['id']}: {objects:,} objects, {size / 1e6:,.1f} MB")
    print("  " + measured("verify", "verify", "--store", store).strip())
    key = issue(store)
    with Service(store, work / "state", workers=1) as service:
        client = service.client(key)
        for what, query in queries:
            client.get(f"{API}/{query}&offset=1" if "offset" not in query else f"{API}/{query}")
            began = time.perf_counter()
            answer = client.get(f"{API}/{query}")
            took = (time.perf_counter() - began) * 1000
            card = answer.json["data"][0]
            shown = {name: card[name] for name in ("id_product", "name", "number", "set")}
            print(f"  {what}: GET {API}/{query} -> {answer.status} in {took:.1f} ms: {shown}")
        client.close()


def measured(what: str, *arguments: object) -> str:
    """Run a command; print its wall time, CPU seconds and the largest memory of any so far; its standard output."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    output = run(*arguments).stdout
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{what}: {wall:.1f} s, {cpu:.1f} CPU s, peak {after.ru_maxrss / 1024:,.0f} MB")
    return output


if __name__ == "__main__":
    main(Path(sys.argv[1]))
