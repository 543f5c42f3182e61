"""The nginx of docs/static-tree.md: nginx answers the API's default addresses from files."""

import json
import random
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import build, issue, run
from tests.support.nginx import Nginx
from tests.support.nginx_rules import FIRST, LAST, nginx_rules
from tests.support.oracle.cards import DESCENDING_BY_DEFAULT
from tests.support.programs import needs
from tests.support.recorded import Recorded
from tests.support.service import API, ROOT, Client, HttpAnswer, Service, until

pytestmark = [pytest.mark.shim_only("starts its own services"), pytest.mark.xdist_group("static hosts")]
PAGE = (ROOT / "docs" / "static-tree.md").read_text("utf-8")
FILE = ROOT / "generator" / "deploy" / "examples" / "tree" / "tree.conf"
CONFIG = FILE.read_text("utf-8").replace("listen 127.0.0.1:8080;", "listen 8080;")
OF_ONE_ANSWER = {"etag", "content-length", "date", "server", "connection", "x-request-id", "x-ratelimit-remaining"}
OF_ONE_ANSWER |= {"x-ratelimit-reset"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("static-hosts")
    run("demo", folder / "lake", "--products", 1200, "--days", 40)
    build(folder / "lake", folder / "store")
    run("export", folder / "tree", "--gzip", "--store", folder / "store")
    [script] = blocks("sh")
    script = script.replace("/etc/nginx", str(folder)).replace("/srv/cardpress/tree", str(folder / "tree"))
    subprocess.run(["sh", "-ec", script], check=True)
    return folder


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    with Service(folder / "store", folder / "state", "--trusted-proxy", "127.0.0.1", through_nginx=False) as service:
        yield service


def test_the_configuration_has_the_map_of_requests(recorded: Recorded) -> None:
    text = FILE.read_text("utf-8")
    before, rest = text.split(FIRST)
    written = before + nginx_rules() + rest.partition(LAST)[2]
    assert recorded.write(FILE, written) or written == text


def host(folder: Path, name: str, text: str, shim: int = 0) -> Nginx:
    """An nginx with a configuration of the page."""
    places = {"/etc/nginx/": f"{folder}/", "/srv/cardpress/": f"{folder}/", "127.0.0.1:8000": f"127.0.0.1:{shim}"}
    for old, new in places.items():
        text = text.replace(old, new)
    return Nginx.of_text(folder / name, text)


def without_keys(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.rstrip().endswith("# keys"))


@pytest.fixture(scope="module")
def keyed(folder: Path, service: Service) -> Iterator[int]:
    with host(folder, "keyed", CONFIG, service.port) as nginx:
        yield nginx.port


def spelled(rng: random.Random, path: str, values: dict[str, str], defaults: dict[str, str]) -> str:
    """A request: its parameters in any order, and some of the defaults written out."""
    written = {name: value for name, value in values.items() if defaults.get(name) != value or rng.random() < 0.5}
    written |= {name: value for name, value in defaults.items() if name not in values and rng.random() < 0.3}
    names = rng.sample(sorted(written), len(written))
    return f"{API}/{path}" + ("?" if names else "") + "&".join(f"{name}={written[name]}" for name in names)


DEFAULTS = {
    "cards": {"kind": "all", "sort": "trend"} | dict.fromkeys(("q", "set", "number", "rarity", "game"), ""),
    "market": {"by": "set", "sort": "value"},
    "movers": {"window": "7d", "by": "percent", "direction": "up", "kind": "all", "min_price": "1"},
}


def of_a_list(rng: random.Random, folder: str, length: dict[str, int]) -> str:
    """A request for a page of a list, by its folder."""
    path, *values = folder.removesuffix("/pages").split("/")
    size, usual = length["rows_per_page"], dict(DEFAULTS.get(path, {}))
    of_set = {"set": values.pop(), "sort": values.pop() and "trend"} if values[:1] == ["sets"] else {}
    given = (
        {"offset": str(size * rng.randrange(length["pages"]))} | dict(zip(usual, values[-5:], strict=False)) | of_set
    )
    usual |= {"limit": str(size), "offset": "0"}
    if path == "movers":
        usual |= {"confirmed": "false"}
        given |= {"confirmed": "true"} if values[0] == "confirmed" else {}
    elif values or of_set:
        descending = (*DESCENDING_BY_DEFAULT, "value", "change_7d", "change_30d")
        usual |= {"order": "desc" if given["sort"] in descending else "asc"}
    return spelled(rng, path, given, usual)


def default_request(rng: random.Random, tree: Path, lists: dict[str, dict[str, int]]) -> str:
    """A random request that has a file."""
    kind = rng.choice(("list",) * 6 + ("cards", "cards", "watchlist", "market/sets", "one"))
    if kind == "list":
        folder = rng.choice([name for name in lists if rng.random() < 0.2 or not name.startswith("movers")])
        return of_a_list(rng, folder, lists[folder])
    if kind == "one":
        return f"{API}/{rng.choice(('status', 'names'))}"
    id_ = rng.choice(sorted(path.stem for path in (tree / "api/v1" / kind).glob("*.json") if "~" not in path.stem))
    if kind == "market/sets":
        return f"{API}/market/history?set={id_}"
    part = rng.choice(("", "/offers", "/history")) if kind == "watchlist" else ""
    if part != "/history":
        return f"{API}/{kind}/{id_}{part}"
    values = {"view": rng.choice(("daily", "weekly", "monthly")), "range": rng.choice(("all", "30d", "90d", "365d"))}
    return spelled(rng, f"watchlist/{id_}/history", values, {"view": "daily", "range": "all"})


@pytest.fixture(scope="module")
def requests(folder: Path) -> list[str]:
    rng, lists = random.Random(58), json.loads((folder / "tree/api/v1/lists.json").read_bytes())
    return [default_request(rng, folder / "tree", lists) for _ in range(2000)]


def described(answer: HttpAnswer) -> tuple[int, str, dict[str, str]]:
    """An answer without what depends on its ETag, its moment, and the count of a limit."""
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return answer.status, answer.text, {name: headers[name] for name in headers.keys() - OF_ONE_ANSWER}


@needs("nginx")
@pytest.mark.thorough
def test_default_requests_are_answered_as_the_shim_answers_them(
    folder: Path, service: Service, keyed: int, requests: list[str]
) -> None:
    key = issue(folder / "store", rate_limit=1_000_000)
    nginx, shim = Client(keyed, key), Client(service.port, key)
    for encoding, target in zip(("gzip", "identity") * 1000, requests, strict=True):
        ours, expected = (client.get(target, Accept_Encoding=encoding) for client in (nginx, shim))
        assert expected.status == 200, target
        assert described(ours) == described(expected), target


# What has no file.
OTHERS = [
    "cards?limit=49", "cards?offset=25", "cards?q=ex", "cards?sort=match&q=a", "cards?ids=1,2", "cards?order=asc",
    "cards?sort=name&order=desc", "cards?kind=single&kind=single", "cards?KIND=single", "cards?kind=%73ingle",
    "cards?kind=", "cards?kind=all=all", "cards?kind", "cards?offset=-50", "cards?offset=", "cards?offset=5000000",
    "cards?offset=1e2", "cards?sort=../x", "cards?unknown=1", "cards/0999999", "cards/999999999", "cards/x",
    "cards/10008?days=5", "sets?set=", "sets?offset=50", "sets?q=a", "games?game=", "watchlist?offset=1",
    "watchlist/never", "watchlist/x/history?view=hourly", "watchlist/%2E%2E/status", "movers?game=x",
    "movers?min_price=2", "movers?window=2d", "market?sort=name&order=desc", "market/history?set=999999",
    "market/history?game=x", "nowhere", "status?x=1", "facets", "me", "changes", "bulk",
]  # each is answered by the shim, whatever it answers  # fmt: skip


@needs("nginx")
@pytest.mark.thorough
def test_what_has_no_file_is_answered_by_the_shim_alone(folder: Path, service: Service, requests: list[str]) -> None:
    key = issue(folder / "store", rate_limit=1_000_000)
    with host(folder, "open", without_keys(CONFIG), service.port) as nginx:
        client, shim = Client(nginx.port, key), Client(service.port, key)
        before = lines(service)
        for target in requests[:300]:
            assert client.get(target).status == 200
        assert lines(service) == before, "files need no shim"
        for path in OTHERS:
            ours, expected = client.get(f"{API}/{path}"), shim.get(f"{API}/{path}")
            assert described(ours) == described(expected), path
        target = f"{API}/cards"
        for method, headers in (("GET", {"X-Build": "2000-01-01-000000000000"}), ("HEAD", {}), ("POST", {})):
            ours, expected = client.send(method, target, headers), shim.send(method, target, headers)
            assert (ours.status, ours["Allow"]) == (expected.status, expected["Allow"]) and ours.status >= 400
        assert client.get(target, Range="bytes=0-9").status == 200
        for accepted in ("*", "gzip;q=0, *", "br, *;q=0.5", "*;q=0", "gzip, *"):
            ours, expected = client.get(target, Accept_Encoding=accepted), shim.get(target, Accept_Encoding=accepted)
            assert described(ours) == described(expected), accepted
        assert lines(service) >= before + 2 * len(OTHERS), "each of them reached the shim"


def lines(service: Service) -> int:
    """How many answers the shim has logged, without those to this function. Lines come in the order of the answers."""
    last = f"line-{time.monotonic_ns()}"
    service.get("/nowhere", **{"X-Request-Id": last})
    until(lambda: last in service.log.read_text(), 60, "the lines before it are written")
    return sum('"status"' in line and '"line-' not in line for line in service.log.read_text().splitlines())


@needs("nginx")
@pytest.mark.thorough
def test_keys_are_checked_and_counted_by_the_shim(folder: Path, service: Service, keyed: int) -> None:
    store, target = folder / "store", f"{API}/cards?sort=low"
    refused = Client(keyed).get(target)
    assert (refused.code, refused.headers.get_all("WWW-Authenticate")) == ("unauthorized", ["Bearer"])
    assert Client(keyed, "cpm_live_" + "x" * 32).get(target).code == "invalid_api_key"
    assert Client(keyed, issue(store, "watchlist:read")).get(target).code == "insufficient_scope"
    assert Client(keyed, issue(store, "watchlist:read")).get(f"{API}/watchlist").status == 200
    key = issue(store, rate_limit=60)
    minute = int(time.time()) // 60
    until(lambda: int(time.time()) // 60 > minute, 70, "a minute begins")
    answers = [Client(keyed, key).get(target) for _ in range(65)]
    assert [answer.status for answer in answers] == [200] * 60 + [429] * 5
    assert [answer["X-RateLimit-Remaining"] for answer in answers] == [*map(str, reversed(range(60))), *"00000"]
    assert answers[-1]["Retry-After"]


@needs("nginx")
@pytest.mark.thorough
def test_without_a_shim_the_rest_is_missing(folder: Path, requests: list[str], service: Service) -> None:
    alone = re.sub(r"upstream .*\n", "", without_keys(CONFIG))
    before, _, _ = alone.partition("    location / {")
    with host(folder, "alone", before + blocks("nginx")[0] + "}\n") as nginx:
        client, shim = Client(nginx.port), Client(service.port, issue(folder / "store"))
        for target in requests[:100]:
            assert client.get(target).text == shim.get(target).text
        for path in OTHERS[:30]:
            answer = client.get(f"{API}/{path}")
            assert (answer.status, answer.code) == (404, "not_found"), path
        for path in ("cards/all/trend/0.json", "lists.json", "fingerprints", "openapi.json"):
            assert client.get(f"{API}/{path}")["Content-Type"] == "application/json"
        [file, *_] = client.get(f"{API}/bulk").json["files"]
        assert client.send("GET", file["url"], {"Range": "bytes=0-9"}).status == 206
        for path in ("/", "/docs/", "/explore", "/explore/value"):
            assert client.get(path)["Content-Type"].startswith("text/html")
        posted = client.send("POST", f"{API}/status")
        assert (posted.status, posted.code, posted["Allow"]) == (405, "method_not_allowed", "GET")
        assert client.get(f"{API}/watchlist/x/../../../../lake/products.parquet").status in (400, 404)
