"""The smoke test of a build that has just been published: one request of each kind, answered by the shim's code."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from edge_auth.contract import movers, sorts
from edge_auth.contract.builds import open_build
from edge_auth.contract.codec import decompress
from edge_auth.contract.store.file_cache import FileCache
from edge_auth.contract.store.interface import Store
from edge_auth.core.cache import LruCache
from edge_auth.core.endpoint import API
from edge_auth.core.endpoints import MAX_TEXT_CHARACTERS, route
from edge_auth.core.open_build import OpenBuild
from edge_auth.core.sources import FromBuild
from edge_auth.errors import EdgeError
from generator.errors import SmokeError

_CACHE_BYTES = 16 << 20


def smoke_test(store: Store, build_id: str) -> None:
    """Answer one request of each kind from a build, as the shim does.

    Raises:
        SmokeError: A request has no answer, or its answer is not JSON.
        StoreError: The build cannot be opened.
    """
    with TemporaryDirectory(prefix="cardpress-") as folder:
        opened = OpenBuild(
            open_build(store, build_id, FileCache(Path(folder))), LruCache(_CACHE_BYTES), lambda hit: None
        )
        request = "its lists"
        try:
            for path, query in _requests(opened):
                request = f"{path}?{query}".rstrip("?")
                _check_answer(opened, path, query)
        except (EdgeError, ValueError, OSError, EOFError, KeyError) as error:
            raise SmokeError(f"{request} cannot be answered: {error}") from error


def _check_answer(opened: OpenBuild, path: str, query: str) -> None:
    endpoint, subject = route(f"{API}{path}".encode())
    assert isinstance(endpoint.source, FromBuild), f"{path} is not answered from a build"
    body = endpoint.source.make_body(opened, endpoint, subject, query)
    json.loads(body.plain)
    decompress(body.gzipped)


def _requests(opened: OpenBuild) -> Iterator[tuple[str, str]]:
    """Yield paths below the API and queries: every ranking, a search, the first and last product, a tracked one."""
    yield from ((path, "") for path in ("status", "sets", "watchlist", "fingerprints", "bulk", "openapi.json"))
    for kind in sorts.KINDS:
        for sort in sorts.SORTS:
            yield "cards", f"kind={kind}&sort={sort}&limit=1"
    yield "cards", "q=a&order=asc&limit=5"
    yield "cards", "min_price=1&max_price=5&sort=name&limit=5"
    yield from (("games", ""), *(("movers", f"window={window}") for window in movers.WINDOWS))
    ids = opened.catalogue.ids
    for line in opened.games[:1]:
        query = urlencode({"game": json.loads(line)["name"][:MAX_TEXT_CHARACTERS]})
        yield from (("cards", query), ("sets", query), ("movers", query))
    yield "cards", f"ids={','.join(map(str, ids[:3].tolist())) or 0}"
    for id_ in {int(ids.min()), int(ids.max())} if len(ids) else ():
        yield f"cards/{id_}", ""
        yield f"cards/{id_}", "days=30"
    for line in opened.watchlist[:1]:
        slug = json.loads(line)["slug"]
        for path in (slug, f"{slug}/history", f"{slug}/offers"):
            yield f"watchlist/{path}", ""
