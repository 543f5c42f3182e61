"""The map from a request to its object: an object that it names is the body of the answer."""

import json
import random
import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote

import pytest
from flask.testing import FlaskClient

from edge_auth.api.blueprints import client_of
from edge_auth.live.open_build import OpenBuild
from generator.site import pages
from generator.storage.builds import open_build
from generator.storage.objects import RULES, object_of
from generator.storage.stores.file_cache import FileCache
from generator.storage.stores.folder import FolderStore
from generator.tree.documents import Documents
from tests.support import small_store
from tests.support.lakes import FIXED
from tests.support.programs import needs
from tests.support.service import API
from tests.support.targets import Targets

VALUES = {
    "limit": ("50", "100", "50", "100", "49", "050", "", "-50"),
    "offset": ("0", "50", "100", "150", "5000", "25", "050", "-0", "", "x", "1e2"),
    "sort": ("trend", "low", "name", "number", "newest", "market", "value", "change_7d", "match", "", "TREND"),
    "order": ("asc", "desc", ""),
    "kind": ("all", "single", "sealed", ""),
    "set": ("", "1", "7", "151", "30", "007", "-1", "0", "Base Set", "9" * 19),
    "game": ("", "Pokémon", "x"),
    "by": ("set", "game", "percent", "euros", ""),
    "window": ("1d", "7d", "30d", "2d"),
    "direction": ("up", "down"),
    "min_price": ("0", "1", "5", "20", "100", "1.0", ""),
    "confirmed": ("true", "false", ""),
    "view": ("daily", "weekly", "monthly", ""),
    "range": ("all", "30d", "90d", "365d", ""),
    "ids": ("1,2",),
    "days": ("1", "30"),
    "max_price": ("5",),
}
OTHER_PATHS = (
    "/", "/docs", "/docs/", "/docs/api.md", "/docs/../current.json", "/docs/x", "/explore", "/explore/scan/",
    "/favicon.ico", "/index.html", "/index.json", "/404.html", f"{API}", f"{API}/lists.json", f"{API}/cards/",
    f"{API}/status/",
    f"{API}/cards/named", f"{API}/cards/007", f"{API}/cards/-0", f"{API}/watchlist/", f"{API}/watchlist//offers",
    f"{API}/watchlist/pages/0", f"{API}/watchlist/x/history/history", f"{API}/watchlist/a/../../status",
    f"{API}/market/sets/1", f"{API}/cards/sets/1/0", f"{API}/cards/all/trend/0", f"{API}/names.json",
)  # fmt: skip
WITHOUT_A_PATH = ("api/v1/lists.json", "api/v1/prices.csv", "404.html", "index.json")


class BuiltTree:
    """A build, the objects of its tree and a client of its API."""

    def __init__(self, store: FolderStore, build: str, folder: Path):
        self.opened = OpenBuild(open_build(store, build, FileCache(folder)))
        self.client: FlaskClient = client_of(self.opened)
        documents = Documents(self.opened)
        self.objects = {one.name: documents.body(one).plain for one in documents if not one.bulk_file}


@pytest.fixture(scope="module", params=["fixed", "small"])
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BuiltTree:
    folder = tmp_path_factory.mktemp("objects")
    if request.param == "fixed":
        store = FolderStore(str(request.getfixturevalue("fixed_store")))
        return BuiltTree(store, json.loads((Path(store.location) / "current.json").read_text())["build"], folder)
    store = FolderStore(str(folder / "store"))
    return BuiltTree(store, small_store.add_build(store), folder)


def asked(target: str) -> str | None:
    """What the map says of a request, as one who reads its query does."""
    path, _, query = target.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
        path = unquote(path, errors="strict")
    except UnicodeDecodeError:
        return None
    return object_of(path, dict(pairs)) if len(dict(pairs)) == len(pairs) else None


def request_of(name: str) -> str | None:
    """The request whose answer an object is, by the names of the contract; None if nothing but the shim knows it."""
    if not name.startswith("api/v1/"):
        return f"/{name.removesuffix('index.html')}"
    first, *rest = name.removeprefix("api/v1/").removesuffix(".json").split("/")
    page = rest[-1] if rest else ""
    if first == "cards" and rest[0] == "sets":
        return f"{API}/cards?set={rest[1]}&offset={50 * int(page)}"
    if first == "cards" and len(rest) > 1:
        return f"{API}/cards?kind={rest[0]}&sort={rest[1]}&offset={50 * int(page)}"
    if first == "movers":
        names = ("window", "by", "direction", "kind", "min_price")
        options = "&".join(f"{key}={value}" for key, value in zip(names, rest[-6:-1], strict=True))
        confirmed = "&confirmed=true" if rest[0] == "confirmed" else ""
        return f"{API}/movers?{options}{confirmed}&offset={50 * int(page)}"
    if first == "market" and rest[0] in ("sets", "games"):
        return f"{API}/market/history?set={page}" if rest[0] == "sets" else None
    if first == "market":
        return f"{API}/market?by={rest[0]}&sort={rest[1]}&offset={100 * int(page)}"
    if page.isdigit() and (rest[0] == "pages" if first == "watchlist" else first != "cards"):
        return f"{API}/{first}?offset={100 * int(page)}"
    if first == "watchlist":
        slug = re.sub("~(..)", lambda code: f"%{code[1]}", rest[0])
        if len(rest) < 3:
            return f"{API}/watchlist/{'/'.join((slug, *rest[1:]))}"
        return f"{API}/watchlist/{slug}/history?view={page.split('-')[0]}&range={page.split('-')[1]}"
    return f"{API}/openapi.json" if first == "openapi" else "/".join((API, first, *rest))


def test_every_object_is_the_answer_to_its_request(tree: BuiltTree) -> None:
    found = 0
    for name, body in tree.objects.items():
        target = request_of(name)
        if name in WITHOUT_A_PATH or target is None:
            continue
        answer = tree.client.get(target)
        assert (asked(target), answer.status_code) == (name, 200), target
        assert answer.data == body, target
        found += 1
    assert found > 500


def random_request(rng: random.Random) -> str:
    """A request near one that has an object: a few of its parameters, most at values that have one."""
    rule = rng.choice(RULES)
    path = rule.path.format_map({name: rng.choice(texts) for name, texts in PARTS.items()})
    known = {name: one.pattern.split("|") for name, one in (rule.query or {}).items()}
    names = rng.sample(sorted(known), rng.randint(0, min(4, len(known))))
    if rng.random() < 0.1:
        names.append(rng.choice(list(VALUES)))
    values = [
        rng.choice(known.get(name, [""]) if rng.random() < 0.4 else VALUES.get(name, ("", "a"))) for name in names
    ]
    return path + "?" * bool(names) + "&".join(map("{}={}".format, names, map(quote, values)))


PARTS = {
    "id": ("1", "7", "007", "-1", "-0", "99999", "x", *(str(row["id_product"]) for row in FIXED.products[:9])),
    "slug": ("pikachu", "PIKACHU", "%C3%89clair%2Fx", "Éclair/x", "x",
        *(quote(row["slug"]) for row in FIXED.watchlist)),
    "file": ("index.html", "../../current.json", "theme.css", "scan", "."),
    "root_file": ("robots.txt", "llms.txt", "x"),
    "page": ("docs", "explore/scan"),
}  # fmt: skip


def test_what_the_map_names_is_the_answer(tree: BuiltTree) -> None:
    """No random request has a wrong object, and those at the defaults have one."""
    rng, found = random.Random(67), 0
    targets = [random_request(rng) for _ in range(20_000)] + Targets(FIXED, rng).some(1500) + list(OTHER_PATHS)
    for target in targets:
        key = asked(target)
        if key is not None and (body := tree.objects.get(key)) is not None:
            answer = tree.client.get(target)
            assert (answer.status_code, answer.data) == (200, body), target
            found += 1
    assert found > 800
    assert not asked("/docs/../current.json") and not asked(f"{API}/lists.json")


ASK = """
import {readFileSync} from "node:fs";
const requests = JSON.parse(readFileSync(0, "utf-8"));
console.log(JSON.stringify(requests.map(([path, query]) => objectOf(path, query)?.key ?? null)));
"""


@needs("Node.js")
def test_the_explorer_reads_the_map_as_it_is_read_here(tmp_path: Path) -> None:
    rng = random.Random(66)
    parts = [random_request(rng).partition("?") for _ in range(20_000)]
    requests = [(unquote(path), dict(parse_qsl(query, keep_blank_values=True))) for path, _, query in parts]
    requests = [request for request in requests if request[0].startswith(API) and "openapi" not in request[0]]
    script = tmp_path / "ask.mjs"
    script.write_text(pages.documents()["explore/objects.js"].decode() + ASK)
    done = subprocess.run(["node", script], input=json.dumps(requests), capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found == [object_of(path, query) for path, query in requests]
    assert len([key for key in found if key]) > 3000
    assert any("cards/sets/" in key for key in found if key)
