"""A build that answers requests: its search index, its short lists, and the cache of its answers."""

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import cached_property, partial
from itertools import count
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from edge_auth.search.facets import Facets
from edge_auth.search.named import Slugs
from generator.storage import bodies, layout
from generator.storage.bodies import LARGE_BYTES, Body, StoredBody
from generator.storage.builds import Build
from generator.storage.errors import StoreError
from generator.storage.meanings import Meanings
from generator.storage.text import fold_without_apostrophes

_CACHE_BYTES = 16 << 20


class LruCache:
    """Values by key, least recently used first out. The threads of a process share it. A value has a cost in bytes."""

    def __init__(self, max_bytes: int = _CACHE_BYTES):
        self._max_bytes = max_bytes
        self._free_bytes = max_bytes
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: Any, cost: int) -> None:
        """Store a value of `cost` bytes, unless it needs more than half of the cache."""
        if cost > self._max_bytes // 2:
            return
        with self._lock:
            _, replaced = self._values.pop(key, (None, 0))
            self._values[key] = (value, cost)
            self._free_bytes += replaced - cost
            while self._free_bytes < 0:
                _, (_, freed) = self._values.popitem(last=False)
                self._free_bytes += freed


def _read(owner: object, *properties: str) -> None:
    """Read what cached properties hold, before the first request needs it."""
    for name in properties:
        getattr(owner, name)


class ListedSet(NamedTuple):
    """A Set as JSON, with its id, its name, the text that is searched, and the folded name of its game, if any."""

    line: bytes
    id: int
    name: str
    searched: str
    game: str | None


class OpenBuild(Build):
    """A build with the indexes and lists that answers need. Each is read at its first use, and may raise StoreError."""

    def __init__(
        self, build: Build, cache: LruCache | None = None, on_lookup: Callable[[bool], object] = lambda hit: None
    ):
        super().__init__(build.store, build.record, build.file_cache)
        self.last_used = 0.0  # by a request, on the monotonic clock
        self.prepared = False  # whether everything that every answer needs was read
        self.fingerprints_file: Path | None = None  # with a large index; without it, each request inflates the object
        self._cache = cache or LruCache()
        self._on_lookup = on_lookup
        self._rows: dict[str, list[bytes]] = {}

    def prepare(self, bulk_files: bool = False) -> None:
        """Read what every answer needs; bulk files are only checked. If something fails, the rest stays usable."""
        for layer in self.layers.values():
            if bulk_files or not layout.holds_bulk_files(layer.name):
                layer.require_whole_files()
        _read(self.catalogue, "vocabulary", "card_lines", "names")
        _read(self, "sets", "slugs", "bulk_files", "facets", "movers", "series", "identifiers", "market", "meanings")
        fingerprints = self.find(layout.FINGERPRINTS_KEY)
        if fingerprints is not None and fingerprints[1].json_size >= LARGE_BYTES:
            with suppress(StoreError):  # a full disk, or a damaged object, which requests report
                self.fingerprints_file = fingerprints[0].inflated(fingerprints[1])
        self.prepared = True

    @cached_property
    def sets(self) -> list[ListedSet]:
        """Every Set in the order of the list."""
        catalogue = self.catalogue
        games = dict(zip(catalogue.set_ids.tolist(), catalogue.set_games, strict=True))
        found = []
        for line in self.rows(layout.SETS):
            id_, name = itemgetter("id", "name")(json.loads(line))
            found.append(ListedSet(line, id_, name, fold_without_apostrophes(name), games.get(id_)))
        return found

    @cached_property
    def facets(self) -> Facets:
        return Facets(self.catalogue, {one.id: one.name for one in self.sets})

    @cached_property
    def meanings(self) -> Meanings:
        names, codes = self.layers[layout.NAMES], self.get(layout.CODES_KEY)
        said = json.loads(names.file(layout.WORDS).read_bytes()) if names.has_file(layout.WORDS) else {}
        return Meanings(self.catalogue, said, json.loads(codes) if codes else {})

    @cached_property
    def slugs(self) -> Slugs:
        return Slugs(self.rows(layout.WATCHLIST))

    def rows(self, layer: str) -> list[bytes]:
        """Return the rows that a layer stores, as JSON, in the order of the list. They are read once."""
        if layer not in self._rows:
            pages = map(self.find, (layout.page_of_rows(layer, number) for number in count()))
            located = iter(pages.__next__, None)  # until a page is not there
            self._rows[layer] = [line for pack, entry in located for line in bodies.split_page(pack.read(entry))]
        return self._rows[layer]

    def stored_body(self, key: str, file: Path | None = None) -> Body:
        """Return the body of an object that is sent unchanged. `file` has its plain content, if there is one."""
        located = self.find(key)
        if located is None:
            raise StoreError(f"build {self.id} has no {key}")
        layer, entry = located
        read_gzipped, type_ = partial(layer.read_member, entry), layout.media_type(key)
        return StoredBody(entry.json_sha256, entry.json_size, entry.length, read_gzipped, type_, file)

    def kept(self, key: Hashable) -> Any:
        """Return what was kept of this build under a key, or None."""
        value = self._cache.get((self.id, key))
        self._on_lookup(value is not None)
        return value

    def keep(self, key: Hashable, value: object, cost: int) -> None:
        """Keep a value, which costs some bytes, as long as there is room for it."""
        self._cache.put((self.id, key), value, cost)
