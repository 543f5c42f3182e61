"""`cardpress diff`: against a comparison of the exported builds in plain Python, and what each format promises."""

import copy
import json
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path

import jsonschema
import pytest

from generator.storage import layout
from generator.storage.stores.open import open_store
from generator.terminal import printable
from tests.support import plain_diff as plainly
from tests.support import service
from tests.support.commands import run
from tests.support.lakes import Rows, write
from tests.support.pages import Page
from tests.support.recorded import Recorded
from tests.support.s3_servers import S3Server
from tests.support.selection import mostly_thorough

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("diff")  # one process: the builds are made once


GUIDE = [f"{name}{holo}" for holo in ("", "_holo") for name in ("low", "avg", "trend", "avg1", "avg7", "avg30")]
NAMES = ("Ember Fox", "Déjà Vu", 'Say "hi"', "Tab\tand \x1b[31mred", "<script>alert(1)</script>", "100 %_", "ナッシー")


class NightLake:
    """The rows of a lake: `flat` by table, `daily` by table and day."""

    def __init__(self, seed: int, days: list[date], products: int = 240):
        self.rng = random.Random(seed)
        self.days = days
        self.version = "recipe-1"
        self.flat = {
            "expansions": [self.expansion(id_) for id_ in range(1, 9)],
            "products": [self.product(id_) for id_ in range(100, 100 + products)],
            "watchlist": [self.watched(slug) for slug in ("alpha", "be/ta", "gamma.json", "délta", "pages")],
            "fingerprints": [self.fingerprint(f"img-{n:04}") for n in range(60)],
            "identifiers": [self.identifier(n) for n in range(90)],
        }
        self.daily: dict[str, dict[date, list[dict]]] = {
            "price_guide": {}, "listings": {}, "filtered_checks": {}, "watch_checks": {},
        }  # fmt: skip
        for day in days:
            self.add_day(day)

    def expansion(self, id_: int) -> dict:
        return {"id": id_, "name": f"Set {id_}", "url": f"https://market.example/sets/{id_}?x=1"}

    def product(self, id_: int) -> dict:
        name = f"{self.rng.choice(NAMES)} {id_}"
        kind = "sealed" if id_ % 7 == 0 else "single"
        return {
            "id_product": id_, "name": name, "kind": kind, "rarity": self.rng.choice(["Rare", None]),
            "number": str(id_ % 50), "id_expansion": self.rng.choice([None, *range(1, 10)]),
            "url": self.rng.choice([None, f"https://market.example/p/{id_}"]),
            "image": f"/explore/drawn/{id_:016x}.svg" if id_ % 2 else None,
        }  # fmt: skip

    def watched(self, slug: str) -> dict:
        return {"slug": slug, "name": f"Watched {slug}", "url": f"https://market.example/w/{slug}"}

    def fingerprint(self, key: str) -> dict:
        hashes = {name: f"{self.rng.getrandbits(64):016x}" for name in ("art_p", "art_d", "card_p")}
        return {"key": key, **hashes, "colour": f"{self.rng.getrandbits(384):096x}", "products": [100, 101]}

    def identifier(self, n: int) -> dict:
        return {"id_product": 100 + n // 2, "scheme": ("tcgdex", "mtgjson", "same")[n % 3], "value": f"é-{n % 40}"}

    def price(self) -> float | None:
        return self.rng.choice([None, 0.0, 0.02, 0.08, 1.0, self.rng.randint(1, 99_999) / 100])

    def add_day(self, day: date) -> None:
        """Add rows of one day for some of the products and for all tracked ones."""
        ids = [row["id_product"] for row in self.flat["products"]]
        some = sorted(self.rng.sample(ids, len(ids) // 2))
        noon = f"{day}T12:00:00"
        self.daily["price_guide"][day] = [
            {"id_product": id_, **{name: self.price() for name in GUIDE}} for id_ in some[::2]
        ]
        self.daily["listings"][day] = [
            {"id_product": id_, "scraped_at": noon, "available": self.rng.randint(0, 9), "from_price": self.price()}
            for id_ in some[::3]
        ]
        self.daily["filtered_checks"][day] = [self.check(id_, noon) for id_ in some[::4]]
        self.daily["watch_checks"][day] = [
            {"slug": row["slug"], "checked_at": noon, "num_offers": 3, "lowest_price": self.price()}
            for row in self.flat["watchlist"]
        ]

    def check(self, id_: int, at: str) -> dict:
        offers = [
            {"price": self.rng.randint(1, 9999) / 100, "condition": "NM", "quantity": 1, "seller": f"seller{n}"}
            for n in range(self.rng.randint(0, 7))
        ]
        return {"id_product": id_, "checked_at": at, "offers": len(offers), "offer_list": offers}

    def next(self, day: date | None) -> "NightLake":
        """Return a later night with changes to catalogue, watchlist and fingerprints; with a day, also prices of it."""
        night = copy.deepcopy(self)
        products = night.flat["products"]
        del products[3], products[40]
        products += [night.product(id_) for id_ in (9001, 9002)]
        products[5]["name"] += " (renamed)"
        products[6]["id_expansion"] = 2 if products[6]["id_expansion"] != 2 else 3
        products[7]["kind"] = "sealed" if products[7]["kind"] == "single" else "single"
        night.flat["expansions"][4]["name"] = "Set five"
        del night.flat["expansions"][7]
        night.flat["watchlist"][1:2] = [night.watched("new one")]
        prints = night.flat["fingerprints"]
        del prints[0]
        prints[1]["products"] = [102]
        prints.append(night.fingerprint("img-new"))
        identifiers = night.flat["identifiers"]
        identifiers[9]["id_product"] += 1
        identifiers[12]["value"] = "<b>moved</b>"
        identifiers += [{"id_product": 9001, "scheme": "added", "value": "1"}, identifiers[20]]
        night.version = "recipe-2"
        if day:
            night.days.append(day)
            night.add_day(day)
        return night

    def write(self, folder: Path) -> Path:
        daily = {table: {str(day): rows for day, rows in days.items()} for table, days in self.daily.items()}
        recipe = {"version": self.version, "image_url": "https://img.example/{key}.png"}
        return write(Rows(**self.flat, **daily, recipe=recipe), folder)


def days(first: str, count: int) -> list[date]:
    return [date.fromisoformat(first) + timedelta(n) for n in range(count)]


def cardpress(*arguments: object, code: int = 0) -> str:
    result = run(*arguments, status=code)
    return result.stdout if code == 0 else result.stderr


@dataclass
class Pair:
    """Two builds of one store, and what they look like exported."""

    store: Path
    old: str
    new: str
    reported: dict[tuple, str] = field(default_factory=dict)

    @cached_property
    def trees(self) -> tuple[plainly.Tree, plainly.Tree]:
        return self._exported(self.old), self._exported(self.new)

    def _exported(self, build: str) -> plainly.Tree:
        tree = self.store.with_name(f"tree-{build}")
        cardpress("export", tree, "--build", build, "--store", self.store)
        return plainly.Tree(tree)

    def diff(self, *options: object, back: bool = False) -> str:
        """Return the output of the command, which runs once for each set of options."""
        asked = (back, *options)
        if asked not in self.reported:
            ids = (self.new, self.old) if back else (self.old, self.new)
            self.reported[asked] = cardpress("diff", *ids, "--store", self.store, *options)
        return self.reported[asked]

    def document(self, back: bool = False) -> dict:
        return json.loads(self.diff("--json", back=back), parse_float=Decimal)


# Within a month; over the end of a month, where history moves from the open month to the closed ones; over the end of
# a year; and over the end of a month without a single new row. Seed, days, the later night's day, and the day as of
# which it is built.
NIGHTS = {
    "month": (11, days("2026-06-08", 10), "2026-06-18", None),
    "month closes": (7, days("2026-05-28", 4) + days("2026-06-24", 7), "2026-07-01", None),
    "year closes": (7, days("2025-12-28", 4), "2026-01-01", None),
    "nothing but time": (7, days("2026-04-29", 2) + days("2026-05-30", 2), None, "2026-06-01"),
}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Pair]:
    """The nights of a name, built once."""

    @cache
    def of(name: str) -> Pair:
        seed, earlier, night, as_of = NIGHTS[name]
        before = NightLake(seed, earlier)
        later = before.next(days(night, 1)[0]) if night else before
        return built(tmp_path_factory.mktemp("nights"), before, later, as_of)

    return of


@pytest.fixture(scope="module", params=mostly_thorough(NIGHTS, "month"))
def pair(request: pytest.FixtureRequest, pairs: Callable[[str], Pair]) -> Pair:
    return pairs(request.param)


@pytest.fixture(scope="module")
def month(pairs: Callable[[str], Pair]) -> Pair:
    return pairs("month")


def built(folder: Path, before: NightLake, later: NightLake, as_of: str | None) -> Pair:
    store, ids = folder / "store", []
    for name, night in (("old", before), ("new", later)):
        lake = night.write(folder / name)
        day = ("--as-of", as_of) if as_of and name == "new" else ()
        ids.append(cardpress("build", "--lake", lake, "--store", store, "--publish", *day).splitlines()[-1])
    return Pair(store, *ids)


def changed_fields(rows: list[dict], key: str) -> dict:
    return {row[key]: row["fields"] for row in rows}


@pytest.mark.thorough
class TestAgainstExports:
    """The JSON document equals a brute-force comparison of the exported trees, in both directions."""

    @pytest.mark.parametrize("back", [False, True])
    def test_objects(self, pair: Pair, back: bool) -> None:
        document = pair.document(back=back)
        trees = pair.trees[::-1] if back else pair.trees
        for name in layout.COMPARED:
            found = plainly.changes(
                *({key: body for key, body in tree.objects.items() if plainly.resource(key) == name} for tree in trees)
            )
            [counted] = [row for row in document["resources"] if row["name"] == name]
            assert {how: len(keys) for how, keys in found.items()} == {how: counted[how] for how in found}, name
            assert any(found.values()), name
            for how in ("added", "removed", "changed"):
                reported = [
                    row["key"] for row in document["objects"] if (row["resource"], row["change"]) == (name, how)
                ]
                assert sorted(reported) == found[how]

    def test_products(self, pair: Pair) -> None:
        old, new = (tree.products() for tree in pair.trees)
        found, reported = plainly.changes(old, new), pair.document()["products"]
        for how in ("added", "removed"):
            side = new if how == "added" else old
            shown = [{name: side[id_][name] for name in ("id_product", "name", "kind", "set")} for id_ in found[how]]
            assert reported[how] == shown
        fields = {id_: plainly.fields(old[id_], new[id_]) for id_ in found["changed"]}
        assert [row["id_product"] for row in reported["changed"]] == found["changed"]
        assert changed_fields(reported["changed"], "id_product") == fields
        renamed = [
            {"id_product": id_, "old": f["name"][0], "new": f["name"][1]} for id_, f in fields.items() if "name" in f
        ]
        assert reported["renamed"] == renamed
        moved = [
            {"id_product": id_, "name": new[id_]["name"], "old": old[id_]["set"], "new": new[id_]["set"]}
            for id_, f in fields.items()
            if "set.id" in f
        ]
        assert reported["moved"] == moved

    def test_prices(self, pair: Pair) -> None:
        old, new = (tree.products() for tree in pair.trees)
        found, document = plainly.price_changes(old, new), pair.document()
        assert document["prices"] == found
        for row in document["price_counts"]:
            ids = {id_ for id_, card in new.items() if row["kind"] in ("all", card["kind"])}
            some = {
                how: [r for r in rows if r["price"] == row["price"] and r["id_product"] in ids]
                for how, rows in found.items()
            }
            assert row["up"] == sum(r["change"] > 0 for r in some["moves"])
            assert row["down"] == sum(r["change"] < 0 for r in some["moves"])
            assert (row["appeared"], row["went"]) == (len(some["appeared"]), len(some["went"]))

    def test_distribution(self, pair: Pair) -> None:
        document = pair.document()
        bands = [band for band in document["distribution"] if band["kind"] == "all"]
        for move in document["prices"]["moves"]:
            if move["change_pct"] is not None:
                next(band for band in bands if band["price"] == move["price"] and holds(band, move))["moves"] -= 1
        assert {band["moves"] for band in bands} == {0}

    @pytest.mark.parametrize(("what", "key"), [("sets", "id"), ("watchlist", "slug"), ("fingerprints", "key")])
    def test_other_things(self, pair: Pair, what: str, key: str) -> None:
        old, new = (getattr(tree, what)() for tree in pair.trees)
        found, reported = plainly.changes(old, new), pair.document()[what]
        assert sorted(reported["added"], key=lambda row: row[key]) == [new[name] for name in found["added"]]
        assert sorted(reported["removed"], key=lambda row: row[key]) == [old[name] for name in found["removed"]]
        fields = {name: plainly.fields(old[name], new[name]) for name in found["changed"]}
        assert changed_fields(reported["changed"], key) == fields

    def test_identifiers(self, pair: Pair) -> None:
        old, new = (tree.identifiers() for tree in pair.trees)
        added, lost = ([scheme for _, scheme, _ in rows] for rows in (new - old, old - new))
        expected = [
            {"scheme": scheme, "added": added.count(scheme), "lost": lost.count(scheme)}
            for scheme in sorted({*added, *lost})
        ]
        assert pair.document()["identifiers"] == expected

    def test_counts_of_fields(self, pair: Pair) -> None:
        document = pair.document()
        for row in document["field_counts"]:
            place = {"fingerprint index": "fingerprint_index"}.get(row["resource"])
            changed = document[place] if place else document[row["resource"]]["changed"]
            pairs = [item["fields"][row["field"]] for item in changed if row["field"] in item["fields"]]
            assert row["appeared"] == sum(old is None for old, _ in pairs)
            assert row["went"] == sum(new is None for _, new in pairs)
            assert row["changed"] == len(pairs) - row["appeared"] - row["went"]


def holds(band: dict, move: dict) -> bool:
    """Whether the move lies in the band, whose bound nearer to zero belongs to it."""
    size = abs(move["change_pct"])
    up = band["low"] is not None and band["low"] >= 0
    near, far = (band["low"], band["high"]) if up else (-band["high"], None if band["low"] is None else -band["low"])
    return up == (move["change"] > 0) and size >= near and (far is None or size < far)


def test_what_the_second_night_brought_is_there(month: Pair) -> None:
    """The comparison above compares something: every list has rows in these nights."""
    document = month.document()
    for path in ("products.added", "products.removed", "products.renamed", "products.moved", "prices.moves",
                 "prices.appeared", "prices.went", "sets.removed", "sets.changed", "watchlist.added",
                 "watchlist.removed", "watchlist.changed", "fingerprints.added", "fingerprints.removed",
                 "fingerprints.changed"):  # fmt: skip
        first, second = path.split(".")
        assert document[first][second], path
    assert document["fingerprint_index"] == [{"fields": {"version": ["recipe-1", "recipe-2"]}}]
    assert {row["price"] for row in document["prices"]["moves"]} == {"trend", "low", "filtered"}


@pytest.mark.thorough
def test_history_that_only_changed_its_place_is_no_change(pairs: Callable[[str], Pair]) -> None:
    """A month closes without a new row: stored objects change, card details do not."""
    document = pairs("nothing but time").document()
    layers = {row["name"]: row for row in document["layers"]}
    assert layers["history-open"]["removed"] > 0
    assert layers["history-2026"]["added"] > 0
    [cards] = [row for row in document["resources"] if row["name"] == "cards"]
    assert (cards["added"], cards["removed"], cards["changed"]) == (0, 0, 0)


@pytest.mark.thorough
def test_only_layers_that_differ_are_read(month: Pair, tmp_path: Path) -> None:
    """Packs of equal layers may be missing. A missing pack that is needed gives an error of one line."""
    store = tmp_path / "store"
    shutil.copytree(month.store, store)
    records = [json.loads((store / "builds" / f"{id_}.json").read_text())["layers"] for id_ in (month.old, month.new)]
    for name, layer in records[0].items():
        if layer == records[1][name] or name in ("history-open", "lists", "status"):
            for pack in (store / "layers" / name).glob("*/*.jsonl.gz"):
                pack.unlink()
    assert cardpress("diff", month.old, month.new, "--store", store, "--json") == month.diff("--json")
    for pack in (store / "layers" / "fingerprints").glob("*/*.jsonl.gz"):
        pack.write_bytes(pack.read_bytes()[: pack.stat().st_size // 2])
    error = cardpress("diff", month.old, month.new, "--store", store, code=1)
    assert re.search(r"^cardpress: \S+\.jsonl\.gz in .*$", error, re.MULTILINE)
    assert "Traceback" not in error


class TestCommand:
    @pytest.mark.parametrize("format_", ["text", "json", "html"])
    @pytest.mark.thorough
    def test_a_build_does_not_differ_from_itself(self, month: Pair, format_: str) -> None:
        reported = cardpress("diff", month.new, month.new, "--store", month.store, "--format", format_)
        if format_ == "json":
            document = json.loads(reported)
            assert all(row["changed"] == 0 for row in document["layers"] + document["resources"])
            assert document["objects"] == document["products"]["changed"] == []
        else:
            assert "nothing differs" in reported.lower()

    def test_names_of_builds(self, month: Pair) -> None:
        named = cardpress("diff", "previous", "live", "--store", month.store, "--json")
        assert named == month.diff("--json")

    @pytest.mark.parametrize("name", ["2026-01-01-000000000000", "../../etc/passwd", "latest"])
    def test_unknown_build(self, month: Pair, name: str) -> None:
        for ids in ((name, "live"), ("live", name)):
            error = cardpress("diff", *ids, "--store", month.store, code=1)
            assert error.startswith("cardpress: ") and name in error and error.count("\n") == 1

    def test_no_previous_build(self, month: Pair, tmp_path: Path) -> None:
        for name in ("previous", "live"):
            error = cardpress("diff", name, month.old, "--store", tmp_path / "empty", code=1)
            assert error.count("\n") == 1

    def test_wrong_usage(self, month: Pair) -> None:
        cardpress("diff", month.old, "--store", month.store, code=2)
        cardpress("diff", month.old, month.new, "--store", month.store, "--format", "xml", code=2)
        cardpress("diff", month.old, month.new, "--store", month.store, "--top", "0", code=2)

    def test_exit_code_says_whether_builds_differ(self, month: Pair) -> None:
        to_old = ("diff", month.old, "--store", month.store, "--exit-code")
        run(*to_old, month.old)
        assert month.new in run(*to_old, month.new, status=1).stdout
        assert cardpress(*to_old, "2026-01-01-000000000000", code=2).startswith("cardpress: build 2026-01-01-")

    def test_builds_of_two_stores(self, month: Pair, server: S3Server) -> None:
        bucket = f"s3://{server.bucket()}/out"
        there = open_store(bucket)
        for file in (file for file in month.store.rglob("*.*") if file.is_file()):
            there.put(file.relative_to(month.store).as_posix(), file.read_bytes())
        assert cardpress("diff", f"{month.store}@{month.old}", f"{bucket}@live", "--json") == month.diff("--json")
        assert cardpress("diff", f"{bucket}@previous", month.new, "--store", month.store) == month.diff()

    def test_trees(self, month: Pair, server: S3Server, tmp_path: Path) -> None:
        """Two trees differ in what two builds do, and those of one build in nothing, however they are stored."""
        trees = [tmp_path / "old", tmp_path / "new@live", f"s3://{server.bucket()}/tree"]
        export = ("export", "--store", month.store, "--build")
        cardpress(*export, month.old, trees[0])
        cardpress(*export, month.new, trees[1], "--gzip")
        cardpress(*export, month.new, trees[2])
        found = json.loads(run("diff", *trees[:2], "--json", "--exit-code", status=1).stdout)
        expected = month.document()
        assert (found["objects"], found["resources"]) == (expected["objects"], expected["resources"])
        assert "Nothing differs" in cardpress("diff", *trees[1:], "--exit-code")
        assert "no export wrote it" in cardpress("diff", trees[0], month.store, "--exit-code", code=2)

    @pytest.mark.parametrize("format_", mostly_thorough(["text", "json", "html"], "html"))
    @pytest.mark.thorough
    def test_same_bytes_every_time(self, month: Pair, format_: str) -> None:
        """With other numbers of threads, and in another process, whose sets have another order."""
        command = ("diff", month.old, month.new, "--store", month.store, "--format", format_, "--threads", 4)
        assert service.run(*command).stdout == month.diff("--format", format_, "--threads", 1)


class TestJson:
    def test_keeps_its_schema(self, month: Pair) -> None:
        schema = json.loads((ROOT / "docs" / "diff.schema.json").read_text("utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        page = (ROOT / "docs" / "diff.md").read_text("utf-8")
        [example] = re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        for document in (month.document(), month.document(back=True), json.loads(example)):
            jsonschema.validate(json.loads(json.dumps(document, default=float)), schema)

    def test_the_documents_name_every_resource(self, recorded: Recorded) -> None:
        file, page = ROOT / "docs" / "diff.schema.json", ROOT / "docs" / "diff.md"
        schema = json.loads(file.read_text("utf-8"))
        schema["properties"]["objects"]["items"]["properties"]["resource"]["enum"] = list(layout.COMPARED)
        names = ", ".join(f"`{name}`" for name in layout.COMPARED)
        of_bulk = "where `bulk` has the bulk files, `bulk.json` and `prices.csv`"
        row = f"| `resources` | the same counts for the objects of the API, {of_bulk}: {names} |"
        text = re.sub(r"^\| `resources` \|.*", row, page.read_text("utf-8"), flags=re.MULTILINE)
        for path, now in ((file, json.dumps(schema, indent=1, ensure_ascii=False) + "\n"), (page, text)):
            assert recorded.write(path, now) or path.read_text("utf-8") == now, f"{path} is old: run make golden"


class TestText:
    @pytest.mark.thorough
    def test_says_what_the_page_says(self, month: Pair) -> None:
        """Each heading, and the cells of each row on one line, in the order of the page."""
        lines = iter([" ".join(line.split()) for line in month.diff("--top", 50).splitlines()])
        for cells in Page(month.diff("--format", "html", "--top", 50)).rows:
            wanted = [" ".join(printable(cell).split()) for cell in cells]
            assert any(all(cell in line for cell in wanted) for line in lines), wanted

    def test_names_cannot_steer_a_terminal(self, month: Pair) -> None:
        assert "\x1b" not in month.diff("--top", 1000)
        assert "\t" not in month.diff("--top", 1000)


@pytest.mark.thorough
class TestHtml:
    def test_the_page_sends_no_requests(self, month: Pair) -> None:
        page = Page(month.diff("--format", "html", "--top", 1000))
        for tag, attributes in page.tags:
            for name in ("src", "srcset", "href", "xlink:href", "data", "action", "poster", "background"):
                if name in attributes and (tag, name) != ("a", "href"):
                    assert attributes[name] == "data:,", (tag, attributes)
            assert "url(" not in (attributes.get("style") or "")
        assert not re.search(r"@import|url\(|https?:", page.words["style"], re.IGNORECASE)
        assert not re.search(r"https?:|fetch|XMLHttpRequest|import\b|WebSocket|sendBeacon", page.words["script"])
        assert page.links and all(link.startswith("https://market.example/p/") for link in page.links)
        policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
        assert "default-src 'none'" in policy

    def test_shows_the_rows_and_escapes_them(self, month: Pair) -> None:
        page = Page(month.diff("--format", "html", "--top", 1000))
        assert sum(tag == "script" for tag, _ in page.tags) == 1
        rows = [attributes for tag, attributes in page.tags if tag == "tr" and "data-kind" in attributes]
        document = month.document()
        lists = [*document["products"].items(), *document["prices"].items()]
        assert len(rows) == sum(len(some) for name, some in lists if name != "changed")
        assert {row["data-kind"] for row in rows} == {"single", "sealed"}
        assert "<script>alert(1)</script>" in page.words[""]

    def test_the_sentence_comes_first_then_every_field_once(self, month: Pair) -> None:
        html = month.diff("--format", "html")
        text = Page(html).words[""]
        order = ["earlier nights", "products added", "What else is large", "Fields of prices and of the watchlist"]
        places = [text.index(words) for words in order]
        assert places == sorted(places)
        for row in month.document()["field_counts"]:
            assert html.count(f">{row['field']}<small>{row['resource']}</small>") == 1, row

    def test_two_builds_of_one_day_are_told_apart(self, month: Pair) -> None:
        same_day = cardpress("diff", month.new, month.new, "--store", month.store, "--format", "html")
        assert f"<title>{month.new} to {month.new}: " in same_day
        assert re.search(r"<title>[0-9-]{10} to [0-9-]{10}: ", month.diff("--format", "html"))
