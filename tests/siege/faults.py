"""Attacks on what a shim relies on, and requests that need care behind nginx. Each returns what the attacker got."""

import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from unittest.mock import patch

import redis

from edge_auth.builds.layout import POINTER
from edge_auth.builds.pointer import Pointer
from edge_auth.live.counter import FileCounter, counter_file
from edge_auth.store.folder import FolderStore
from edge_auth.store.open import open_store
from tests.siege.attacks import Attacks, Breach, Siege, words
from tests.support import small_store
from tests.support.commands import issue
from tests.support.nginx_edge import CARDS
from tests.support.programs import PROGRAMS
from tests.support.raw_requests import MALFORMED, REFUSED_METHODS, assert_refused, get, send
from tests.support.redis_server import RedisServer
from tests.support.s3_proxy import ALWAYS, Proxy
from tests.support.s3_servers import SERVERS, best
from tests.support.service import API, PLENTY, Client, Service, window_left

_CLIENTS = 64
_LIMIT = 30
_REPEATED = {
    "X-API-Key": ("{key}", "nonsense"),
    "X-Build": ("", "nonsense"),
    "Accept-Encoding": ("identity", "gzip"),
    "If-None-Match": ('"x"', "*"),
}


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Breach(what)


def clock_ahead(siege: Siege) -> str:
    """A clock that was 59 minutes ahead counted nearly all requests of a key, and is right again."""
    counter = FileCounter(counter_file(str(siege.service.state), str(siege.service.store)), print)
    ahead = time.time() + 59 * 60
    for _ in range(_LIMIT):
        counter.hit(f"key {siege.client().get(f'{API}/me').json['id']}", 1_000, ahead)
    answer = siege.client().get(CARDS)
    require(answer.status == 200 and window_left(answer)[0] < time.time() + 200, f"{answer.status} after the clock")
    return f"{answer.status}, as if it had not been"


def publishes(siege: Siege) -> str:
    """The pointer moves to and fro while many clients read, and pin, both builds."""
    key, live = _key(siege), siege.client().get(f"{API}/status")["X-Build"]
    builds = [live, siege.other_build]

    def ask(number: int) -> Counter:
        client, end, got = siege.client(key), time.monotonic() + siege.seconds, Counter[int]()
        while time.monotonic() < end:
            pin = {"X_Build": builds[number % 2]} if number % 3 else {}
            got[client.get(f"{API}/cards?limit=5&offset={sum(got.values()) % 40}", **pin).status] += 1
        return got

    with ThreadPoolExecutor(_CLIENTS) as pool:
        asked = pool.map(ask, range(_CLIENTS))
        for build in (siege.other_build, live):
            FolderStore(str(siege.service.store)).put(POINTER, Pointer(build).to_bytes())
            time.sleep(siege.seconds / 3)
        got = sum(asked, Counter[int]())
    require(set(got) == {200}, words(got))
    return words(got)


def refused_requests(siege: Siege) -> str:
    """Requests that nginx or the shim's server refuses: behind nginx, each refusal is an error of the API."""
    port, through_nginx = siege.service.port, siege.service.nginx is not None
    answers = {name: send(port, request) for name, request in MALFORMED.items()}
    for name, answer in answers.items():
        require(400 <= answer.status < 500 or not through_nginx, f"{answer.status} for {name}")
        if through_nginx:
            assert_refused(answer, 400, "invalid_parameter")
    for request, allowed in REFUSED_METHODS:
        answer = send(port, request)
        require(answer["Allow"] == allowed or not through_nginx, f"Allow: {answer['Allow']} instead of {allowed}")
    return words(Counter(answer.status for answer in answers.values()))


def repeated_headers(siege: Siege) -> str:
    """Headers twice: the answer is the same whether the page is in the cache or not."""
    key, port, got = _key(siege), siege.service.port, Counter[int]()
    for number, (name, values) in enumerate(_REPEATED.items()):
        headers = [f"{name}: {value.format(key=key)}".encode() for value in values]
        headers += [f"X-API-Key: {key}".encode()] * (name != "X-API-Key")
        for _ in range(3):
            siege.client(key).get(CARDS)
        seen, fresh = (get(port, page.encode(), *headers) for page in (CARDS, f"{CARDS}&offset={number}"))
        require(seen["X-Cache"] != "HIT" and seen.status == fresh.status, f"{seen.status} for two {name}")
        got[seen.status] += 1
    return words(got)


def spoilt_counter(siege: Siege) -> str:
    """The file of the counter is truncated, and then replaced by one that has its secret and no space.

    Behind nginx it is only replaced: the kernel kills a process that has a file in memory when it becomes smaller.
    """
    file = counter_file(str(siege.service.state), str(siege.service.store))
    secret, client, got = file.read_bytes()[:32], siege.client(_key(siege)), Counter[int]()
    if not siege.service.nginx:
        os.truncate(file, 0)
    got += siege.for_a_while(lambda _: _status(client))
    file.with_suffix(".new").write_bytes(secret)
    file.with_suffix(".new").replace(file)
    got += siege.for_a_while(lambda _: _status(client))
    return words(got)


def redis_without_memory(siege: Siege) -> str:
    """Redis loses all counts, again and again: a key still gets its limit once in a minute."""
    if not PROGRAMS["Redis"].installed:
        return "needs Redis"
    folder = siege.service.state.parent
    server = RedisServer(folder)
    try:
        more = ("--rate-limit-url", server.url)
        with Service(siege.service.store, folder / "state-redis", *more, workers=2, through_nginx=False) as service:
            client, flush = (
                service.client(issue(siege.service.store, rate_limit=_LIMIT)),
                redis.Redis.from_url(server.url),
            )
            allowed, got = Counter[int](), Counter[int]()

            def ask(number: int) -> int:
                if number % 7 == 6:
                    flush.flushall()
                answer = client.get(f"{API}/me")
                allowed[window_left(answer)[0]] += answer.status == 200
                return answer.status

            got = siege.for_a_while(ask)
    finally:
        server.kill()
    require(max(allowed.values()) <= _LIMIT, f"{max(allowed.values())} of {_LIMIT} requests in one minute")
    return words(got)


def throttling_store(siege: Siege) -> str:
    """A store on S3 that answers nearly half of all reads 429."""
    folder = siege.service.state.parent
    with ExitStack() as stack:
        server = stack.enter_context(SERVERS[best()]())
        stack.enter_context(patch.dict(os.environ, server.environment()))
        store = f"s3://{server.bucket()}/out"
        small_store.add_build(open_store(store))
        key = issue(store, rate_limit=PLENTY)
        proxy = stack.enter_context(Proxy(server.endpoint))
        stack.enter_context(patch.dict(os.environ, {"AWS_ENDPOINT_URL": proxy.endpoint}))
        service = stack.enter_context(Service(store, folder / "state-s3", through_nginx=False))
        proxy.break_next("throttle", ALWAYS)
        paths = [f"{API}/cards/{product['id_product']}" for product in small_store.products()[:174]]
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda path: service.client(key).get(path), paths))
    failed = [answer for answer in answers if answer.status != 200]
    require(len(failed) <= len(answers) // 20, f"{len(failed)} of {len(answers)} failed")
    return f"{len(answers) - len(failed)} of {len(answers)} answers"


def _key(siege: Siege) -> str:
    return issue(siege.service.store, rate_limit=PLENTY)


def _status(client: Client) -> int | str:
    try:
        return client.get(CARDS).status
    except OSError:
        return "closed"


FAULTS: Attacks = {
    "a clock that was ahead": clock_ahead,
    "publishes": publishes,
    "requests to refuse": refused_requests,
    "repeated headers": repeated_headers,
    "a counter without its file": spoilt_counter,
}
# These start servers of their own.
FAULTS_OF_SERVERS: Attacks = {
    "Redis that forgets": redis_without_memory,
    "a store that throttles": throttling_store,
}
