"""What only a fleet can get wrong: one count over all shims, keys in force everywhere, builds that change under it."""

import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import chain, cycle
from multiprocessing import get_context

import pytest

from generator.releases.publish import publish
from generator.storage.builds import live_build_id
from generator.storage.stores.open import open_store
from tests.support.api_checks import crawl
from tests.support.commands import issue
from tests.support.copies import copy_objects
from tests.support.fleet import Fleet
from tests.support.nights import published
from tests.support.rate_limits import assert_exact, fallbacks
from tests.support.service import Client, HttpAnswer, hammer, until, window_left

API = "/api/v1"
PROCESSES, EACH, LIMIT = 8, 40, 150
BUILDS, PUBLISHED, PAGE = (5, 6), 3, 15
IN_FORCE, CONNECTIONS = 30, 8  # seconds; how soon one shim knows of a change is measured in test_access


def test_processes_on_all_shims_get_exactly_the_limit(fleet: Fleet) -> None:
    ports = [*(shim.port for shim in fleet.shims), fleet.port, fleet.port] * (PROCESSES // 4)
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        for _ in range(5):
            before, key = [fallbacks(shim) for shim in fleet.shims], issue(fleet.store, rate_limit=LIMIT)
            actual = list(chain.from_iterable(pool.map(hammer, ports, cycle([key]), [EACH] * PROCESSES)))
            if [fallbacks(shim) for shim in fleet.shims] == before:
                break  # else this machine was so busy that Redis took longer than the shims wait
    windows: dict[int, list[HttpAnswer]] = {}
    for answer in actual:
        windows.setdefault(window_left(answer)[0], []).append(answer)
    assert len(actual) == PROCESSES * EACH
    assert_exact(windows, LIMIT)


def asked_anew(fleet: Fleet, target: str, key: str) -> list[HttpAnswer]:
    """Answers to as many connections as reach every worker of every shim: each stays with the one that took it."""
    ports = [fleet.port, *(shim.port for shim in fleet.shims)] * CONNECTIONS
    return [Client(port, key).get(target) for port in ports]


@pytest.fixture(scope="module")
def nights(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Builds in the fleet's store beside the live one: a demo lake as it was on several days."""
    built, _, ids = published(tmp_path_factory.mktemp("nights"), *BUILDS)
    copy_objects(built, open_store(fleet.store), keep=lambda name: name.startswith(("builds/", "layers/")))
    return ids


@contextmanager
def publishing(store: str, ids: list[str], every: float = 1.0) -> Iterator[list[str]]:
    """Makes one build after the other live, and at the end the one that was; gives those it has published."""
    over, opened, published, failed = threading.Event(), open_store(store), [], []
    before = live_build_id(opened)

    def run() -> None:
        try:
            for id_ in cycle(ids):
                publish(opened, id_, by_hand=True)
                published.append(id_)
                if over.wait(every):
                    return
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield published
    finally:
        over.set()
        thread.join()
        publish(opened, before, by_hand=True)
    assert failed == []


@pytest.mark.thorough
def test_crawls_while_builds_are_published(fleet: Fleet, fixed_key: str, live_build: str, nights: list[str]) -> None:
    """With X-Build no row is lost or repeated; without, every answer is a whole build's own."""
    pinned = {build: fleet.client(fixed_key, X_Build=build) for build in nights}
    whole = {build: _ids(client, 100) for build, client in pinned.items()}
    assert len({tuple(ids) for ids in whole.values()}) == len(nights), "the builds do not differ"
    free, seen = fleet.client(fixed_key), set()
    with publishing(fleet.store, nights) as published:

        def crawled_enough() -> bool:
            build = free.get(f"{API}/status")["X-Build"]
            if build in pinned:
                assert _ids(pinned[build], PAGE) == whole[build]
            seen.update(_pages(free, pinned))
            return len(published) >= PUBLISHED and seen >= set(nights)

        until(crawled_enough, 180, f"{PUBLISHED} builds are published under a crawl")
    answers = partial(asked_anew, fleet, f"{API}/status", fixed_key)  # the other tests ask the fixed lake's build
    until(lambda: {answer["X-Build"] for answer in answers()} == {live_build}, 60, "the first build is live again")


def _ids(client: Client, limit: int) -> list[int]:
    return [row["id_product"] for row in crawl(client, f"{API}/cards?sort=trend&", limit)]


def _pages(free: Client, pinned: dict[str, Client]) -> Iterator[str]:
    """The builds that answered, page by page; each page is what its build says when asked by name."""
    offset = 0
    while offset is not None:
        target = f"{API}/cards?sort=trend&limit={PAGE}&offset={offset}"
        answer = free.get(target)
        assert answer.status == 200, answer.text
        if answer["X-Build"] in pinned:
            assert answer.body == pinned[answer["X-Build"]].get(target).body
        offset = answer.json["pagination"]["next_offset"]
        yield answer["X-Build"]
