"""The examples of errors in the OpenAPI document: what the shim says to requests that are refused.

The shim's own code answers them, in this process and from parts that are made up here. A test sends the same requests
to a service.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import unquote_to_bytes

import numpy as np

from edge_auth.api.answer import Shim
from edge_auth.api.endpoint import Endpoint
from edge_auth.builds.bodies import Body
from edge_auth.builds.bulk import BulkFile
from edge_auth.builds.cache import LruCache
from edge_auth.builds.changes import Step, Steps
from edge_auth.errors import ApiError, StoreError, UnknownBuild
from edge_auth.live.bulk_files import StoredBulkFiles
from edge_auth.live.keys import DEFAULT_RATE_LIMIT, KEY_PREFIX, SCOPES, KeyRecord, digest
from edge_auth.live.open_build import OpenBuild
from edge_auth.live.rate_limit import Usage, window_of
from edge_auth.live.request import Request
from edge_auth.search.slugs import Slugs
from generator.site.prose import Prose
from generator.site.refused_requests import RefusedRequest, refused_requests

LIVE_BUILD, OLD_BUILD = "2026-08-22-3f9a1c0b7d52", "2025-12-31-b06af40c7d77"
EXPIRY = "2025-12-31T23:59:59Z"
SLUGS = ("emberfox-ex-asp012", "emberfox-v-asp013", "emberfox-vmax-asp014")
_FILE = BulkFile("sets-0f9a1c0b7d52.parquet", "", 4096, "0" * 64, "")
_NOW = 1787443183.0  # 17 seconds before the end of a minute


def messages(endpoint: Endpoint, errors: Sequence[type[ApiError]], prose: Prose) -> dict[type[ApiError], str | None]:
    """Return the message of each error, None for one that no request gets.

    Raises:
        SiteError: An error of the look-up has no request in the prose.
        ValueError: A request gets another error.
    """
    requests = refused_requests(endpoint, errors, prose)
    return {error: _message(requests[error], error) if error in requests else None for error in errors}


def _message(request: RefusedRequest, error: type[ApiError]) -> str:
    path, _, query = request.target.partition("?")
    headers = {name.lower(): value for name, value in request.headers.items()}
    if request.key:
        headers["x-api-key"] = _key(request.key)
    sent = Request(request.method, unquote_to_bytes(path), query, headers, request.key, "")
    said = json.loads(_shim(request.broken).answer(sent, _NOW).body)["error"]
    if said["code"] != error.code:
        raise ValueError(f"the example of {error.code} at {request.target} gets {said['code']}: {said['message']}")
    message: str = said["message"]
    return message


@cache
def _shim(broken: bool) -> Shim:
    return Shim(_Builds(broken), _Keys(broken), _Counter(), _NoLog(), _Files())


def _key(kind: str) -> str:
    return KEY_PREFIX + digest(kind)[:32]


class _Keys:
    """A key of each kind."""

    def __init__(self, broken: bool):
        self._broken = broken

    def find(self, sha256: str) -> KeyRecord | None:
        if self._broken:
            raise StoreError("an example of a store that cannot be read")
        return next((record for record in self._records() if record.sha256 == sha256), None)

    def _records(self) -> Iterator[KeyRecord]:
        for kind in ("valid", "expired", "revoked", "without scopes", "spent"):
            yield KeyRecord(
                id=kind,
                name=kind,
                prefix=KEY_PREFIX,
                sha256=digest(_key(kind)),
                scopes=() if kind == "without scopes" else SCOPES,
                rate_limit=DEFAULT_RATE_LIMIT,
                created_at=EXPIRY,
                expires_at=EXPIRY if kind == "expired" else None,
                revoked=kind == "revoked",
            )


class _Counter:
    """A counter of a key, and of an address, that have no requests left."""

    def hit(self, name: str, limit: int, now: float) -> Usage:
        return Usage(limit, limit, window_of(now), "spent" not in name)


class _NoLog:
    def once(self, text: str) -> None: ...

    def failure(self, request: Request, error: BaseException) -> None: ...


class _Files(StoredBulkFiles):
    """A store with one file."""

    def __init__(self) -> None: ...

    def find(self, name: str) -> BulkFile:
        return _FILE if name == _FILE.name else super().find(name)


class _Steps:
    """The steps of a store whose pointer never moved."""

    def known(self) -> Steps:
        return Steps([LIVE_BUILD], [], {})

    def refreshed(self) -> Steps:
        return self.known()

    def document(self, step: Step, steps: Steps) -> Body:
        raise StoreError("an example of a store that cannot be read")


class _Builds:
    """The live build and an older one. Both have no products, and lack the layers that old versions did not make."""

    steps = _Steps()

    def __init__(self, broken: bool):
        self._broken = broken

    def select(self, pin: str | None = None) -> OpenBuild:
        if self._broken:
            raise StoreError("an example of a store that cannot be read")
        if pin not in (None, OLD_BUILD):
            raise UnknownBuild(pin)
        return _build(pin or LIVE_BUILD)

    def has_changed(self, build: OpenBuild, pin: str | None) -> bool:
        return False


def _build(id_: str) -> OpenBuild:
    objects = SimpleNamespace(id=id_, layers={}, manifest=lambda: None, card=lambda id_: None)
    build = OpenBuild(cast(Any, objects), LruCache(0), lambda hit: None)
    urls = [{"slug": slug, "cardmarket_url": f"https://www.cardmarket.com/{slug}"} for slug in SLUGS]
    build.slugs = Slugs([json.dumps(item).encode() for item in urls])
    none = np.array([], np.uint32)
    counts = SimpleNamespace(keyed={"all": {"trend": 0}})
    build.catalogue = cast(
        Any,
        SimpleNamespace(
            order={"trend": none}, counts=counts, of_words=True, set_names=[], set_ids=none, ordinal=lambda id_: None
        ),
    )
    if id_ == LIVE_BUILD:
        build.identifiers = cast(Any, ())
        build.market = cast(Any, SimpleNamespace(sets={}, games={}))
    build.facets = cast(Any, SimpleNamespace(stored={}))
    return build
