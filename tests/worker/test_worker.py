"""The worker of `cardpress deploy worker` on workerd, over a folder and a bucket, with a shim behind it and without."""

import json
import random
import threading
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from generator.storage.builds import open_build
from generator.storage.keys import SCOPES, open_key_file
from generator.storage.keys import issue as new_key
from generator.storage.stores.open import open_store
from generator.tree.documents import Documents
from tests.docs.test_static_hosts import OTHERS, default_request
from tests.support.commands import build, issue, run
from tests.support.copies import copy_of_fixed
from tests.support.lakes import FIXED
from tests.support.rate_limits import in_one_window
from tests.support.raw_requests import PRIVATE, get
from tests.support.s3_proxy import Proxy
from tests.support.service import API, ROOT, Client, HttpAnswer, until, window_left
from tests.support.targets import Targets, has_nul
from tests.support.workerd import ADDRESS, ServiceBehindWorker, use_bucket, workerd

OF_ONE_ANSWER = {"etag", "content-length", "transfer-encoding", "date", "server", "connection"}
OF_ONE_ANSWER |= {"x-ratelimit-remaining", "x-ratelimit-reset"}
PAGES = [
    "/",
    "/docs",
    "/docs/",
    "/explore",
    "/explore/value/",
    "/explore/app.js",
    "/llms.txt",
    "/explore/x",
    "/nowhere",
]
UNKNOWN = f"{API}/watchlist/nothing-like-it"
KEPT_SECONDS = 5  # a record of a key, at most


@dataclass
class StoreOfWorker:
    """A store with a tree, and the options with which a worker reads it."""

    store: str
    options: tuple[object, ...]


def policy(bucket: str) -> dict[str, object]:
    """The rights of the worker, for requests without a signature."""
    file = ROOT / "generator" / "deploy" / "examples" / "policies" / "worker.json"
    found = json.loads(file.read_text().replace("BUCKET", bucket))
    for statement in found["Statement"]:
        statement["Principal"] = "*"
    return found


@pytest.fixture(scope="module", params=["folder", pytest.param("bucket", marks=pytest.mark.thorough)])
def place(request: pytest.FixtureRequest, fixed_store: Path, servers) -> Iterator[StoreOfWorker]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "folder":
            yield StoreOfWorker(str(fixed_store), ())
            return
        server = servers("moto")
        server.enter(patch)
        bucket = server.bucket()
        server.client().put_bucket_policy(Bucket=bucket, Policy=json.dumps(policy(bucket)))
        store = f"s3://{bucket}/store"
        copy_of_fixed(store)
        yield StoreOfWorker(store, ("--endpoint", server.endpoint))


@pytest.fixture(scope="module")
def service(place: StoreOfWorker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceBehindWorker]:
    state = tmp_path_factory.mktemp("behind") / "state"
    with ServiceBehindWorker(place.store, state, options=place.options) as service:
        yield service


@pytest.fixture(scope="module")
def alone(place: StoreOfWorker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a worker without a shim."""
    with workerd(tmp_path_factory.mktemp("alone"), "--store", place.store, *place.options) as port:
        yield port


@pytest.fixture(scope="module")
def with_objects(fixed_store: Path) -> list[str]:
    """Requests that have an object."""
    tree = fixed_store / "tree"
    lists = json.loads((tree / "api/v1/lists.json").read_bytes())
    rng = random.Random(67)
    drawn = [default_request(rng, tree, lists) for _ in range(900)]
    return [*drawn, f"{API}/openapi.json?x=1", f"{API}/fingerprints", f"{API}/bulk", "/docs", "/explore/value"]


def described(answer: HttpAnswer) -> tuple[int, str, dict[str, str]]:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    text = answer.text if answer.status != 304 else ""
    return answer.status, text, {name: headers[name] for name in headers.keys() - OF_ONE_ANSWER}


def same(ours: Client, theirs: Client, target: str, **headers: str) -> HttpAnswer:
    answer, expected = ours.get(target, **headers), theirs.get(target, **headers)
    assert described(answer) == described(expected), (target, headers)
    return answer


def test_answers_are_those_of_the_shim(
    service: ServiceBehindWorker, place: StoreOfWorker, with_objects: list[str]
) -> None:
    key, rng = issue(place.store), random.Random(7)
    worker, shim = Client(service.port, key), Client(service.shim_port, key)
    drawn = [target for target in Targets(FIXED, rng).some(1100) if not has_nul(target)]
    targets = [*with_objects, *drawn, *(f"{API}/{path}" for path in OTHERS if "%2E%2E" not in path), *PAGES]
    build = worker.get(f"{API}/status")["X-Build"]
    asked = lines(service)
    statuses = set()
    for number, target in enumerate(rng.sample(targets, len(targets))):
        pins = {"X_Build": rng.choice(("", build, "2000-01-01-000000000000"))} if number % 10 == 0 else {}
        statuses.add(same(worker, shim, target, Accept_Encoding=rng.choice(("gzip", "identity")), **pins).status)
    assert len(targets) >= 2000 and statuses >= {200, 400, 404, 409}
    assert lines(service) - asked < 2 * len(targets) - len(with_objects) * 0.8, "objects need no shim"


def lines(service: ServiceBehindWorker) -> int:
    """How many answers the shim has logged."""
    last = f"line-{time.monotonic_ns()}"
    Client(service.shim_port).get("/nowhere", X_Request_Id=last)
    until(lambda: last in service.log.read_text(), 60, "the lines before it are written")
    return service.log.read_text().count('"status"')


def test_not_modified(service: ServiceBehindWorker, place: StoreOfWorker) -> None:
    client = Client(service.port, issue(place.store))
    answer = client.get(f"{API}/cards", Accept_Encoding="gzip")
    for condition in (answer["ETag"], answer["ETag"].replace("-gzip", ""), "*"):
        unchanged = client.get(f"{API}/cards", If_None_Match=condition)
        assert (unchanged.status, unchanged.body, unchanged["X-Total-Count"]) == (304, b"", answer["X-Total-Count"])
    assert client.get(f"{API}/cards", If_None_Match='"another"').status == 200
    assert client.get(f"{API}/cards?sort=low")["ETag"] != client.get(f"{API}/cards?sort=avg")["ETag"]


def test_without_a_shim_the_rest_is_missing(
    service: ServiceBehindWorker, alone: int, place: StoreOfWorker, with_objects: list[str]
) -> None:
    key = issue(place.store)
    worker, shim = Client(alone, key), Client(service.shim_port, key)
    for target in [*with_objects[::3], "/nowhere", f"{API}/nowhere"]:
        same(worker, shim, target, Accept_Encoding="gzip")
    for target in (f"{API}/cards?q=a", f"{API}/cards/1x", f"{API}/me", f"{API}/bulk/x", UNKNOWN):
        answer, left = worker.get(target), worker.get(target)
        assert (answer.status, answer.code) == (404, "not_found")
        assert int(left["X-RateLimit-Remaining"]) == int(answer["X-RateLimit-Remaining"]) - 1
    asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "GET"}
    for method, path, headers in (
        *(("POST", path, {}) for path in (f"{API}/cards", "/", f"{API}/bulk/x", "/nowhere")),
        *(("HEAD", path, {}) for path in (f"{API}/cards", "/docs")),
        *(("OPTIONS", path, more) for path in (f"{API}/cards", f"{API}/x", "/docs") for more in (asked, {})),
    ):
        answer, expected = worker.send(method, path, headers), shim.send(method, path, headers)
        assert described(answer)[0::2] == described(expected)[0::2], (method, path)
        assert answer.body == expected.body or method == "HEAD"


@pytest.mark.parametrize("has_shim", [True, False])
def test_keys_that_will_not_do(service: ServiceBehindWorker, alone: int, place: StoreOfWorker, has_shim: bool) -> None:
    worker, shim = (service.port if has_shim else alone), service.shim_port
    expired, record = new_key("it has expired", SCOPES, 120, "2020-01-01T23:59:59Z", 0)
    open_key_file(place.store).add(record)
    keys = [None, "cpm_live_" + "x" * 32, "x", expired, issue(place.store, "watchlist:read")]
    codes = {same(Client(worker, key), Client(shim, key), f"{API}/cards").code for key in keys}
    assert codes == {"unauthorized", "invalid_api_key", "expired_api_key", "insufficient_scope"}
    key = issue(place.store)
    client = Client(worker, key)
    assert client.get(f"{API}/cards").status == 200
    [record] = [one for one in json.loads(run("keys", "list", "--store", place.store, "--json").stdout)
                if key.startswith(one["prefix"])]  # fmt: skip
    run("keys", "revoke", record["id"], "--store", place.store)
    revoked = time.monotonic()
    until(lambda: client.get(f"{API}/cards").code == "revoked_api_key", 60, "the key is refused")
    assert time.monotonic() - revoked < KEPT_SECONDS
    same(client, Client(shim, key), f"{API}/cards")


def test_a_limit_is_exact_over_objects_and_shim(service: ServiceBehindWorker, place: StoreOfWorker) -> None:
    paths = [f"{API}/cards", f"{API}/cards?q=a", f"{API}/me", UNKNOWN, f"{API}/cards?limit=x"]

    def flood() -> tuple[set[int], list[HttpAnswer]]:
        key = issue(place.store, rate_limit=120)

        def ask(number: int) -> list[HttpAnswer]:
            client = Client(service.port, key)
            found = [client.get(paths[(number + turn) % len(paths)]) for turn in range(25)]
            return [*found, client.get(f"{API}/bulk/x")]

        with ThreadPoolExecutor(8) as pool:
            found = [answer for of_one in pool.map(ask, range(8)) for answer in of_one]
        return {int(answer["X-RateLimit-Reset"]) for answer in found}, found

    answers = in_one_window(flood)
    of_bulk = [answer for answer in answers if answer["X-RateLimit-Limit"] == "1200"]
    assert sorted(int(answer["X-RateLimit-Remaining"]) for answer in of_bulk) == list(range(1192, 1200))
    counted = [answer for answer in answers if answer.status != 429 and answer not in of_bulk]
    assert {answer.code for answer in answers} == {None, "not_found", "invalid_parameter", "rate_limited"}
    assert sorted(int(answer["X-RateLimit-Remaining"]) for answer in counted) == list(range(120))
    refused = next(answer for answer in answers if answer.status == 429)
    assert 1 <= int(refused["Retry-After"]) <= 60 and refused["X-RateLimit-Remaining"] == "0"


def test_a_client_cannot_say_that_it_was_counted(service: ServiceBehindWorker, place: StoreOfWorker) -> None:
    key = issue(place.store)
    for port in (service.port, service.shim_port):
        client = Client(port, key)
        first = client.get(f"{API}/me", X_Edge_Usage="9 9 9 ")
        second = client.get(f"{API}/me", X_Edge_Usage="9 9 9 guessed")
        left = [int(answer["X-RateLimit-Remaining"]) for answer in (first, second)]
        assert first["X-RateLimit-Limit"] != "9" and left[0] - left[1] == 1


def test_what_is_private_cannot_be_reached(service: ServiceBehindWorker, alone: int, place: StoreOfWorker) -> None:
    key = issue(place.store)
    for port in (service.port, alone):
        for target in PRIVATE:
            assert get(port, target, f"X-API-Key: {key}".encode()).status in (400, 404), target


def test_a_store_that_fails_is_said(place: StoreOfWorker, tmp_path: Path) -> None:
    if not place.options:
        pytest.skip("a folder does not go away")
    key, endpoint = issue(place.store), str(place.options[1])
    with (
        Proxy(endpoint) as proxy,
        workerd(tmp_path / "w", "--store", place.store, "--endpoint", proxy.endpoint) as port,
    ):
        client = Client(port, key)
        assert client.get(f"{API}/cards").status == 200
        proxy.break_next("refuse", 1000)
        answer = until(lambda: (found := client.get(f"{API}/cards")).status == 500 and found, 10, "it fails")
        assert (answer.code, answer["Retry-After"], answer["Cache-Control"]) == ("internal_error", "5", "no-store")
        assert (
            answer.message == "something failed here; try again later" and answer["Access-Control-Allow-Origin"] == "*"
        )
        proxy.break_next("refuse", 0)
        until(lambda: client.get(f"{API}/cards").status == 200, 10, "the store is there again")


@pytest.mark.parametrize("has_shim", [True, False])
def test_a_tree_that_is_written_anew(tmp_path: Path, has_shim: bool) -> None:
    """Each answer is whole, and of one of the two builds."""
    store, lake = tmp_path / "store", tmp_path / "lake"
    run("demo", lake, "--products", 150, "--days", 6)
    days = sorted(path.name.removeprefix("day=") for path in (lake / "price_guide").iterdir())
    builds = [build(lake, store, day) for day in (days[-2], days[-1])]
    documents = {one: Documents(open_build(open_store(str(store)), one)) for one in builds}
    key, done = issue(store), threading.Event()

    def switch(port: int) -> None:
        client = Client(port, key)
        for one in builds:
            run("publish", one, "--store", store)
            until(lambda one=one: client.get(f"{API}/status")["X-Build"] == one, 60, "the worker follows")
        done.set()

    paths = [f"cards/{id_}" for id_ in sorted(path.stem for path in (store / "tree/api/v1/cards").glob("1*.json"))[:20]]
    with ExitStack() as stack:
        if has_shim:
            port = stack.enter_context(ServiceBehindWorker(store, tmp_path / "state")).port
        else:
            port = stack.enter_context(workerd(tmp_path / "worker", "--store", store))
        client, seen = Client(port, key), set[str]()
        switching = threading.Thread(target=switch, args=(port,))
        switching.start()
        while not done.is_set():
            for path in paths:
                answer = client.get(f"{API}/{path}")
                bodies = {one: documents[one].find(f"{path}.json") for one in builds}
                assert answer.status == 200 and answer.body in bodies.values(), path
                seen.add(answer["X-Build"])
        switching.join()
        assert seen == set(builds)


def test_guests_are_counted_by_address(place: StoreOfWorker, tmp_path: Path) -> None:
    with workerd(tmp_path, "--store", place.store, "--guest-limit", 3, *place.options) as port:
        client = Client(port)

        def left(address: str, path: str = "cards") -> str | None:
            return client.get(f"{API}/{path}", **{ADDRESS: address})["X-RateLimit-Remaining"]

        assert [left("192.0.2.1"), left("::ffff:192.0.2.1"), left("192.0.2.2")] == ["2", "1", "2"]
        assert [left("2001:db8::1"), left("2001:db8:0:0:f::2"), left("2001:db8:0:1::1")] == ["2", "1", "2"]
        assert left("192.0.2.1", "openapi.json") == "119"
        assert client.get(f"{API}/me", **{ADDRESS: "192.0.2.9"}).code == "unauthorized"
        assert client.get(f"{API}/fingerprints", **{ADDRESS: "192.0.2.9"}).code == "insufficient_scope"
        assert client.get(f"{API}/cards", X_API_Key="x").code == "invalid_api_key"


def test_objects_of_a_binding_such_as_r2(
    service: ServiceBehindWorker, place: StoreOfWorker, with_objects: list[str], tmp_path: Path
) -> None:
    """R2 itself is not run: its objects are gzip as stored, and its tags are its own."""
    if place.options:
        pytest.skip("the binding reads a folder")
    key = issue(place.store)
    with workerd(tmp_path, "--store", place.store, change=use_bucket) as port:
        worker, shim = Client(port, key), Client(service.shim_port, key)
        for number, target in enumerate(with_objects[::9]):
            same(worker, shim, target, Accept_Encoding=("gzip", "identity")[number % 2])
        assert worker.get(f"{API}/cards/999999999").status == 404
        assert Client(port, "cpm_live_" + "x" * 32).get(f"{API}/cards").code == "invalid_api_key"


def test_counts_outlive_a_restart(place: StoreOfWorker, tmp_path: Path) -> None:
    def ask_twice() -> tuple[set[int], list[int]]:
        key, resets, left = issue(place.store), set(), []
        for _ in range(2):
            with workerd(tmp_path, "--store", place.store, *place.options) as port:
                reset, remaining = window_left(Client(port, key).get(f"{API}/cards"))
                resets.add(reset)
                left.append(remaining)
                time.sleep(1.5)  # a count is written down each second
        return resets, left

    first, second = in_one_window(ask_twice)
    assert first - second == 1


def test_the_module_is_small_and_depends_on_nothing(tmp_path: Path) -> None:
    run("deploy", "worker", tmp_path, "--store", "s3://our-cards/a/store")
    text = (tmp_path / "worker.js").read_text()
    assert len(text.splitlines()) <= 150
    imported = [line.split('"')[1] for line in text.splitlines() if line.startswith("import")]
    assert imported == ["cloudflare:workers", "./tables.json"]
    wrangler = tomllib.loads((tmp_path / "wrangler.toml").read_text())
    assert wrangler["r2_buckets"] == [{"binding": "BUCKET", "bucket_name": "our-cards"}]
    assert wrangler["vars"]["STORE_AT"] == "a/store/" and "SHIM_AT" not in wrangler["vars"]
    assert "him" not in (tmp_path / "workerd.capnp").read_text()
