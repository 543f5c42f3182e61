"""The smoke test of a build that has just been published: one request of each kind, answered by the shim's code."""

import json
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from flask.testing import FlaskClient

from edge_auth.api.blueprints import ENDPOINTS, client_of
from edge_auth.api.endpoint import API
from edge_auth.api.parameters import MAX_TEXT_CHARACTERS, ProductId
from edge_auth.builds import card_lists, market
from edge_auth.builds.builds import open_build
from edge_auth.errors import EdgeError, InvalidParameter
from edge_auth.live.open_build import OpenBuild
from edge_auth.store.codec import decompress
from edge_auth.store.file_cache import FileCache
from edge_auth.store.interface import Store
from generator.errors import SmokeError
from generator.site.api_reference import reference
from generator.site.live_examples import live_examples


def smoke_test(store: Store, build_id: str) -> None:
    """Answer one request of each kind from a build, as the shim does, or raise SmokeError."""
    with TemporaryDirectory(prefix="cardpress-") as folder:
        opened = OpenBuild(open_build(store, build_id, FileCache(Path(folder))))
        request, client = "its lists", client_of(opened)
        try:
            for request in _requests(opened):
                _check_answer(client, request)
        except (EdgeError, ValueError, OSError, EOFError, KeyError) as error:
            raise SmokeError(f"{request} cannot be answered: {error}") from error


def _check_answer(client: FlaskClient, target: str) -> None:
    """Check both encodings of an answer. Raises ValueError for an error, and for what is no JSON."""
    plain = client.get(target)
    said = json.loads(plain.data)
    if plain.status_code == InvalidParameter.status:
        return  # a fault of this program, not of the build
    if plain.status_code != 200:
        raise ValueError(said["error"]["message"])
    decompress(client.get(target, headers={"Accept-Encoding": "gzip"}).data)


def _requests(opened: OpenBuild) -> Iterator[str]:
    """Yield paths with queries: each endpoint's example, each ranking, searches, and the first and last product."""
    yield from _examples(opened)
    cards = f"{API}cards"
    for kind in card_lists.KINDS:
        for sort in opened.catalogue.order:
            yield f"{cards}?kind={kind}&sort={sort}&limit=1"
    yield f"{cards}?q=a&order=asc&limit=5"
    yield f"{cards}?min_price=1&max_price=5&sort=name&limit=5"
    yield from (f"{API}movers?window={window}" for window in market.WINDOWS)
    for line in opened.games[:1]:
        query = urlencode({"game": json.loads(line)["name"][:MAX_TEXT_CHARACTERS]})
        yield from (f"{API}{name}?{query}" for name in ("cards", "sets", "movers", "market"))
    games = sorted(name for name in opened.market.games if len(name) <= MAX_TEXT_CHARACTERS)
    yield from (f"{API}market/history?{urlencode({'game': name})}" for name in games[:1])
    yield from (f"{API}market?by={by}&sort={sort}" for by in market.GROUPINGS for sort in market.SORTS)
    ids = opened.catalogue.ids
    yield f"{cards}?ids={','.join(map(str, ids[:3].tolist())) or 0}"
    for id_ in {int(ids.min()), int(ids.max())} if len(ids) else ():
        yield from (f"{cards}/{id_}", f"{cards}/{id_}?days=30")


def _examples(opened: OpenBuild) -> Iterator[str]:
    """Yield the example of each endpoint that a build answers, unless the build lacks what the example names."""
    live = live_examples(opened)
    named: dict[str, set[str]] = {}
    for endpoint in filter(attrgetter("of_build"), ENDPOINTS):
        ids = [name for name, rule in (endpoint.query or {}).items() if isinstance(rule, ProductId)]
        named[endpoint.path] = {*endpoint.subjects, *(f"{name} of {endpoint.id}" for name in ids)}
    for operation in reference(live).operations:
        if operation.path in named and named[operation.path] <= live.values.keys():
            yield operation.example
