"""Counts what is asked of an S3 server, as its bill does, from the proxy before it.

    python -m tests.fleet.counting DATA          (make count-requests)
    python -m tests.fleet.counting DATA exports  (minutes)

builds the real catalogue of one game twice on Ceph and prints what docs/s3.md says of it. With `exports`, only the
exports of both builds, to a folder and to a bucket.
"""

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.real import pokemon_lake
from tests.support.fleet import surroundings
from tests.support.s3_proxy import Proxy
from tests.support.s3_servers import S3Server, ceph
from tests.support.service import API, Client, Service, build, issue, run

# The objects that a shim reads again and again, without a request.
POLLED = ("/current.json", "/private/keys.json")
_EXPORT_SECONDS = 3600
WORDS = ("pikachu", "char", "mew", "eevee", "gen", "lugia", "dark")


def counted(requests: list[str], *, polls: bool = False) -> Counter[str]:
    """Requests by kind; a LIST and a POST cost as much as a PUT, a HEAD as much as a GET, a deletion nothing."""
    kinds: Counter[str] = Counter()
    for line in requests:
        method, target, _ = line.split(" ")
        path, _, query = target.partition("?")
        if polls or not path.endswith(POLLED):
            kind = "LIST" if "list-type" in query else "DELETE" if query == "delete" else method
            kinds[kind] += 1
    return kinds


def during(proxy: Proxy, work: Callable[[], object], **more: bool) -> Counter[str]:
    """Return the requests that were sent while `work` ran."""
    begun = len(proxy.requests)
    work()
    return counted(proxy.requests[begun:], **more)


def sends(client: Client, *paths: str) -> Callable[[], None]:
    def work() -> None:
        for path in paths:
            answer = client.get(f"{API}/{path}")
            assert answer.status == 200, (path, answer.text)

    return work


def main(data: Path, exports: bool = False) -> None:
    """A night, and answers of every kind, each for the first time and again; or the exports of two nights."""
    with tempfile.TemporaryDirectory(prefix="cardpress-count-") as folder, _on_ceph(Path(folder)) as (server, proxy):
        lake, bucket = Path(folder) / "lake", server.bucket()
        pokemon_lake.main(str(data), str(lake))
        before = sorted(lake.glob("price_guide/day=*"))[-2].name.removeprefix("day=")
        build(lake, f"s3://{bucket}/store", before)
        if exports:
            _exports(server, proxy, Path(folder), f"s3://{bucket}/store")
        else:
            _night(server, proxy, lake, bucket)
            _answers(proxy, f"s3://{bucket}/store", Path(folder) / "state")


def _night(server: S3Server, proxy: Proxy, lake: Path, bucket: str) -> None:
    stored = _size(server, bucket)
    night = during(proxy, lambda: run("nightly", "--lake", lake, "--store", f"s3://{bucket}/store"))
    print(f"first build {stored / 1e6:.0f} MB; a night {dict(night)}, {(_size(server, bucket) - stored) / 1e6:.0f} MB")


def _exports(server: S3Server, proxy: Proxy, folder: Path, store: str) -> None:
    bucket = server.bucket()
    for night in ("first", "next"):
        for target in (folder / "tree", f"s3://{bucket}/tree"):
            begun, before = time.monotonic(), len(proxy.requests)
            output = run("export", target, "--store", store, seconds=_EXPORT_SECONDS).stdout.strip()
            requests = dict(counted(proxy.requests[before:]))
            print(f"{night} export to {target}: {output}; {requests}, {time.monotonic() - begun:.0f} s", flush=True)
        if night == "first":
            run("nightly", "--lake", folder / "lake", "--store", store)


def _answers(proxy: Proxy, store: str, state: Path) -> None:
    key = issue(store)
    with Service(store, state) as service:
        client = service.client(key)
        ids = [str(card["id_product"]) for card in client.get(f"{API}/cards?q=e&limit=100").json["data"]]
        offsets = random.Random(1).sample(range(70_000), 20)
        for what, paths in {
            "pages of the catalogue": [f"cards?sort=avg&offset={offset}" for offset in offsets],
            "cards": [f"cards/{id_}" for id_ in ids],
            "cards, the last 7 days": [f"cards/{id_}?days=7" for id_ in ids],
            "searches, 50 rows": [f"cards?q={word}&limit=50" for word in WORDS],
            "the other lists": ["sets", "watchlist", "fingerprints", "status"],
        }.items():
            first, again = (during(proxy, sends(client, *paths)) for _ in range(2))
            print(f"{len(paths)} {what}: {dict(first)}, again {dict(again)}")


@contextmanager
def _on_ceph(folder: Path) -> Iterator[tuple[S3Server, Proxy]]:
    with ceph() as server, Proxy(server.endpoint) as proxy, surroundings(server, folder / "cache", proxy.endpoint):
        yield server, proxy


def _size(server: S3Server, bucket: str) -> int:
    pages = server.client().get_paginator("list_objects_v2").paginate(Bucket=bucket)
    return sum(entry["Size"] for page in pages for entry in page.get("Contents", ()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), "exports" in sys.argv[2:])
