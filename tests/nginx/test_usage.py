"""`cardpress keys usage`: what it counts in the logs of two shims and an nginx is what clients have sent and got."""

import gzip
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.commands import issue, run
from tests.support.nginx_edge import CARDS, LIMIT
from tests.support.raw_requests import MALFORMED, send
from tests.support.service import API, Client, HttpAnswer, Service, until

pytestmark = pytest.mark.thorough

THREADS = 4
PAGES = [CARDS, f"{API}/sets", f"{API}/games", f"{API}/cards?q=a", f"{API}/status", f"{API}/watchlist"]
OTHERS = [f"{API}/cards/100000000", f"{API}/cards?limit=x", f"{API}/nowhere", f"{API}/me", f"{API}/bulk", "/docs", "/"]
Used = dict[str | None, Counter[str]]  # by the id of a key: requests, refused and bytes


@dataclass(frozen=True)
class Sides:
    """A shim alone, and one behind nginx, of one store. `ids` has the id of each key, None if it is not valid."""

    alone: Service
    edge: Service
    ids: dict[str | None, str | None]

    def logs(self) -> list[Path]:
        return [self.alone.log, self.edge.log, self.edge.folder / "access.log"]

    def requests(self) -> int:
        return sum(log.read_bytes().count(b'"method":') for log in self.logs())


@pytest.fixture
def sides(store: Path, key: str, tmp_path: Path) -> Iterator[Sides]:
    others = {
        "another": issue(store, name="another"),
        "no scope": issue(store, "fingerprints:read", name="no scope"),
        "limited": issue(store, name="limited", rate_limit=25),
        "revoked": issue(store, name="revoked"),
    }
    records = {
        record["name"]: record["id"] for record in json.loads(run("keys", "list", "--store", store, "--json").stdout)
    }
    run("keys", "revoke", records["revoked"], "--store", store)
    ids = {key: records["tests"], None: None, "nonsense": None, others.pop("revoked"): None}
    ids |= {other: records[name] for name, other in others.items()}
    with (
        Service(store, tmp_path / "alone", workers=2, through_nginx=False) as alone,
        Service(store, tmp_path / "behind", workers=2, through_nginx=True) as edge,
    ):
        yield Sides(alone, edge, ids)


class Mixed:
    """A client that sends requests of all kinds, over a connection to each side for each key."""

    def __init__(self, sides: Sides, seed: int):
        self.used: Used = defaultdict(Counter)
        self.kinds: Counter[tuple[int, str | None]] = Counter()
        self._sides, self._random = sides, random.Random(seed)
        self._clients: dict[tuple[int, str | None], Client] = {}
        self._tags = [f'"{seed}"']

    def ask(self, number: int) -> "Mixed":
        for _ in range(number):
            if self._random.random() < 0.01:  # refused by nginx; a shim alone does not see such a request
                self._note(None, send(self._sides.edge.port, self._random.choice(list(MALFORMED.values()))))
                continue
            key = (
                self._random.choice(list(self._sides.ids))
                if self._random.random() < 0.3
                else next(iter(self._sides.ids))
            )
            service = self._random.choice((self._sides.alone, self._sides.edge, self._sides.edge))
            client = self._clients.setdefault((service.port, key), service.client(key))
            known, answer = self._asked(client, key)
            self._note(self._sides.ids[key] if known else None, answer)
        return self

    def _asked(self, client: Client, key: str | None) -> tuple[bool, HttpAnswer]:
        """Send a request. Return whether the shim looks at its key, and the answer."""
        if self._random.random() < 0.05:
            return False, client.send("POST", CARDS)
        target = self._random.choice(PAGES if self._random.random() < 0.8 else OTHERS)
        headers = {"Accept-Encoding": "gzip"} if self._random.random() < 0.5 else {}
        if self._random.random() < 0.3:
            headers["If-None-Match"] = self._random.choice(self._tags)
        answer = client.send("GET", target, headers)
        self._tags = [*self._tags[-20:], answer["ETag"] or '"x"']
        return target.startswith(API) and target != f"{API}/nowhere", answer

    def _note(self, id_: str | None, answer: HttpAnswer) -> None:
        self.kinds[answer.status, answer["X-Cache"]] += 1
        self.used[id_].update(requests=1, refused=400 <= answer.status < 500, bytes=len(answer.body))


def total(parts: list[Used]) -> Used:
    used: Used = defaultdict(Counter)
    for part in parts:
        for key, counts in part.items():
            used[key].update(counts)
    return used


def collected(logs: list[Path], folder: Path) -> Path:
    """Copy logs into a folder, one of them packed, with the lines that an operator has there as well."""
    folder.mkdir()
    for number, log in enumerate(logs):
        (folder / f"{number}.log").write_bytes(log.read_bytes())
    first = folder / "0.log"
    (folder / "0.log.1.gz").write_bytes(gzip.compress(first.read_bytes()))
    first.write_bytes(b'{"time":"2026-11-24T00:00:00Z","level":"info"}\nany text\n{"time":"2026-11-24T00:00')
    return folder


@pytest.mark.parametrize("number", [2000, pytest.param(100_000, marks=pytest.mark.thorough)])
def test_use_is_what_clients_have_seen(sides: Sides, tmp_path: Path, number: int) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        clients = list(pool.map(lambda seed: Mixed(sides, seed).ask(number // THREADS), range(THREADS)))
    kinds = sum((client.kinds for client in clients), Counter())
    seen = {status for status, _ in kinds}, {cache for _, cache in kinds}
    assert seen == ({200, 304, 400, 401, 403, 404, 405, 429}, {"HIT", "MISS", None}), kinds
    until(lambda: sides.requests() >= number, LIMIT, f"{number} requests are logged")
    result = run("keys", "usage", collected(sides.logs(), tmp_path / "logs"), "--json")
    found = json.loads(result.stdout)
    assert total([{row.pop("key"): Counter(row)} for row in found["usage"] if row.pop("day")]) == total(
        [client.used for client in clients]
    )
    assert sorted(row["lines"] for row in found["other_lines"]) == [1, 1, 3]  # each shim has said where it listens
