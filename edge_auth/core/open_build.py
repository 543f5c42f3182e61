"""A build that is open for answering: its catalogue, its short lists, and a cache of what was worked out from it."""

import json
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from itertools import count, takewhile
from typing import Any

from edge_auth.contract import builds, names, pages
from edge_auth.contract.catalogue import Catalogue
from edge_auth.contract.codec import decompress
from edge_auth.contract.index import Entry
from edge_auth.contract.text import fold
from edge_auth.core.bodies import Body, Cache
from edge_auth.core.slugs import Slugs
from edge_auth.errors import StoreError


class OpenBuild:
    """A build, its catalogue and its short lists, each read when first last_used for."""

    def __init__(self, build: builds.Build, cache: Cache, on_lookup: Callable[[bool], None]):
        self.build = build
        self.last_used = 0.0
        self.prepared = False
        self._cache = cache
        self._on_lookup = on_lookup

    def prepare(self) -> None:
        """Read what every answer needs. Raises StoreError where it cannot be read; what could be read stays."""
        self.catalogue.vocabulary, self.catalogue.rows  # noqa: B018  (cached properties)
        for layer in self.build.layers.values():
            layer.index  # noqa: B018
        self.sets, self.slugs  # noqa: B018
        self.prepared = True

    @cached_property
    def catalogue(self) -> Catalogue:
        return Catalogue(self.build.layers[names.CATALOGUE])

    @cached_property
    def sets(self) -> list[tuple[bytes, str]]:
        """Every Set in the list's order: its JSON line, and its name folded."""
        return [(line, fold(json.loads(line)["name"])) for line in self._lines(names.sets_page)]

    @cached_property
    def watchlist(self) -> list[bytes]:
        """Every WatchlistItem, one JSON line each, in the list's order."""
        return self._lines(names.watchlist_page)

    @cached_property
    def slugs(self) -> Slugs:
        return Slugs(self.watchlist)

    def read_all(self, keys: Sequence[str]) -> list[bytes]:
        """The JSON of objects that every build has, last_used for at once. Raises StoreError where this one has not."""
        return [decompress(data) for data in builds.stored_all([self._found(key) for key in keys])]

    def stored(self, key: str) -> Body:
        """The body of an object that goes out as it is. Raises StoreError where the build has no such object."""
        return Body.stored(*self._found(key), names.media_type(key))

    def body(self, path: bytes, query: str, make: Callable[[], Body]) -> Body:
        """The body that `make` gives for what is last_used of this build, from the cache if it is still there."""
        return self.cached((path, query), make, lambda body: body.cost + len(path) + len(query))

    def cached(self, key: Hashable, make: Callable[[], Any], cost: Callable[[Any], int]) -> Any:
        """What `make` gave for this build and key, from the cache if it is still there."""
        value = self._cache.get((self.build.id, key))
        self._on_lookup(value is not None)
        if value is None:
            value = make()
            self._cache.put((self.build.id, key), value, cost(value))
        return value

    def _found(self, key: str) -> tuple[builds.Layer, Entry]:
        found = self.build.find(key)
        if found is None:
            raise StoreError(f"build {self.build.id} has no {key}")
        return found

    def _lines(self, page_key: Callable[[int], str]) -> list[bytes]:
        keys = takewhile(self.build.find, map(page_key, count()))
        return [line for page in self.read_all(list(keys)) for line in pages.split_page(page)]
