"""The documents of a build and of its tree: their keys, their JSON as the API answers it, their names and tags.

Most documents are objects of their layer. Pages of lists, card details and histories of the market are put together.
Each list of the API has pages in its default order, by the API's default limit. Such a page is the body that the API
answers: `cards/single/low/3.json` is that of `/cards?kind=single&sort=low&offset=150`.

In a tree a document has the path of its logical key, but for slugs: a host that decodes percent signs looks for another
file. A tag shows without reading whether the document may have changed. What cannot be read raises StoreError.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache, partial
from itertools import chain, product
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from generator.storage import bodies, layout, market
from generator.storage.builds import Build
from generator.storage.bulk import LIVE_CATALOGUE, SPREADSHEET, SPREADSHEET_KEY, BulkFile, catalogue_of
from generator.storage.catalogue import DEFAULT_SORT, KINDS
from generator.storage.errors import StoreError
from generator.storage.layers import Layer
from generator.storage.objects import (
    API_FOLDER,
    CARDS_PER_PAGE,
    MOVERS_PER_PAGE,
    ROWS_PER_PAGE,
    file_segment,
    object_of,
)
from generator.storage.stores.codec import compress, decompress

LISTS_KEY = "lists.json"
HOT_PAGES = 20  # of each ranking: what is asked for most
_TAG_DIGITS = 24  # of a hash in hex
# These name the build, so their stored part is not all of them.
NAMING_BUILD = (layout.STATUS_KEY, layout.BULK_KEY)
_CARD = re.compile(r"cards/(-?[0-9]+)\.json")
_SLUG = re.compile(r"(watchlist/)([^/]+?)(\.json|/(?:offers\.json|history/.+))")
_ESCAPED = re.compile(rb"~([0-9A-F]{2})")
_PAGE = re.compile(r"(.+)/(0|[1-9][0-9]{0,8})\.json")  # of a list


Lines = Sequence[bytes | memoryview]


class TreeList(NamedTuple):
    """A list. With a sort, the rows that have its key come first, and the other order is their reverse."""

    per_page: int
    rows: int
    lines: Callable[[int, int], Lines]  # the rows from one place to another as JSON
    source: Callable[[int, int], bytes]  # a hash of what these are made from, without reading them
    marks: Callable[[], np.ndarray]  # what tells each row from that of another build
    with_key: int | None = None  # of a list with a sort, the rows with its key

    @property
    def pages(self) -> int:
        """How many pages it has. A list without rows has an empty one."""
        return max(1, -(-self.rows // self.per_page))

    def page(self, number: int) -> bytes:
        """Return a page by its number, which counts from 0."""
        first, end = self._span(number)
        return bodies.list_body(self.lines(first, end), first, self.per_page, self.rows).plain

    def tag(self, number: int) -> str:
        """Return a hash of what a page is made from."""
        first, end = self._span(number)
        text = b"%b %d %d %d" % (self.source(first, end), self.per_page, end, end < self.rows)
        return hashlib.sha256(text).hexdigest()

    def changed_pages(self, new: "TreeList") -> set[int]:
        """Return the numbers of the pages whose content differs in the same list of another build."""
        rows = min(self.rows, new.rows)
        differing = np.flatnonzero(self.marks()[:rows] != new.marks()[:rows])
        changed = set((differing // self.per_page).tolist())
        # The last page of the shorter list has fewer rows than the other one, or says that there are no more.
        return changed if self.rows == new.rows else changed | {min(self.pages, new.pages) - 1}

    def summary(self) -> dict[str, int]:
        """Return what `lists.json` says of the list."""
        found = {"rows": self.rows, "rows_per_page": self.per_page, "pages": self.pages}
        return found if self.with_key is None else found | {"with_key": self.with_key}

    def _span(self, number: int) -> tuple[int, int]:
        first = number * self.per_page
        return first, min(first + self.per_page, self.rows)


class TreeDocument(NamedTuple):
    """A document of a tree."""

    name: str  # the path of its file in the tree
    key: str  # its logical key
    tag: str  # of what it is made from: the same tag means the same content
    bulk_file: str = ""  # its name, or ''


class TreeBody(NamedTuple):
    """The content of a document, in the form in which the store has it. A bulk file is read only when it is written."""

    media_type: str
    digest: str  # of the content
    stored: bytes = b""
    is_member: bool = False  # whether `stored` is a gzip member
    read_file: Callable[[], bytes] | None = None  # of a bulk file

    @property
    def plain(self) -> bytes:
        """The content without compression, or the bytes of a bulk file."""
        if self.read_file is not None:
            return self.read_file()
        return decompress(self.stored) if self.is_member else self.stored

    @property
    def member(self) -> bytes:
        """The content as a gzip member. One that the store has is not inflated."""
        return self.stored if self.is_member else compress(self.stored)


class Documents:
    """The documents of a build, as a tree has them."""

    def __init__(self, build: Build):
        self._build = build

    @cached_property
    def lists(self) -> dict[str, TreeList]:
        """The lists by folder."""
        return lists_of(self._build)

    @cached_property
    def _bulk_files(self) -> dict[str, BulkFile]:
        """The bulk files by key. The newest catalogue has two."""
        files = self._build.bulk_files
        files = files | {LIVE_CATALOGUE: catalogue_of(files)}
        return {f"{layout.BULK}/{name}": file for name, file in files.items()}

    @cached_property
    def _spreadsheet(self) -> BulkFile:
        return next(file for name, file in self._build.bulk_files.items() if name.startswith(f"{SPREADSHEET}-"))

    def __iter__(self) -> Iterator[TreeDocument]:
        """Yield the documents: the bulk files, then those of `objects`."""
        yield from self._bulk()
        yield from self.objects()

    def objects(self, *, hot: bool = False) -> Iterator[TreeDocument]:
        """Yield the documents that are no bulk files: the pages of lists, the card details, then all others.

        With `hot` the rankings of Cards end after `HOT_PAGES`, and the card details are those of the products there.
        """
        cards = _card_tags(self._build, _hot_products(self._build) if hot else None)
        yield from self._tagged(chain(self._pages(hot), cards, self._other_tags()))

    def single(self) -> Iterator[TreeDocument]:
        """Yield the documents that are neither pages of lists nor card details."""
        yield from self._bulk()
        yield from self._tagged(self._other_tags())

    def _bulk(self) -> Iterator[TreeDocument]:
        for key, file in self._bulk_files.items():
            yield TreeDocument(_name(self._build, key), key, file.sha256[:_TAG_DIGITS], file.name)

    def _tagged(self, tags: Iterable[tuple[str, str]]) -> Iterator[TreeDocument]:
        for key, tag in tags:
            yield TreeDocument(_name(self._build, key), key, tag[:_TAG_DIGITS])

    def body(self, document: TreeDocument) -> TreeBody:
        """Return the content of a document, verified."""
        found = self._read(document.key)
        assert found is not None, f"{document.key} is in the build"
        return found

    def find(self, name: str) -> bytes | None:
        """Return the content of a document by its logical key, or by its path in a tree, or None."""
        key = name.removeprefix(f"{API_FOLDER}/")
        body, of_watchlist = self._read(key), _SLUG.fullmatch(key)
        if body is None and of_watchlist:
            body = self._read(_watchlist_key(of_watchlist))
        return body.plain if body else None

    def _read(self, key: str) -> TreeBody | None:
        build, media_type = self._build, layout.media_type(key)
        if file := self._bulk_files.get(key):
            return TreeBody(file.media_type, file.sha256[:_TAG_DIGITS], read_file=partial(_read_file, build, file))
        if key == SPREADSHEET_KEY:
            file = self._spreadsheet
            return TreeBody(media_type, file.sha256[:_TAG_DIGITS], _read_file(build, file), is_member=True)
        if found := _CARD.fullmatch(key):
            card = build.card(int(found[1]))
            return card and TreeBody(media_type, card.digest.hex()[:_TAG_DIGITS], card.member, is_member=True)
        if (plain := self._made(key)) is not None:
            return TreeBody(media_type, hashlib.sha256(plain).hexdigest()[:_TAG_DIGITS], plain)
        if stored := build.find(key):
            layer, entry = stored
            return TreeBody(media_type, entry.json_sha256.hex()[:_TAG_DIGITS], layer.read_member(entry), is_member=True)
        return None

    def _made(self, key: str) -> bytes | None:
        if (page := _PAGE.fullmatch(key)) and (pages := self.lists.get(page[1])):
            return pages.page(int(page[2])) if int(page[2]) < pages.pages else None
        if key.startswith(f"{layout.MARKET}/") and (group := self._build.market.documents.get(key)):
            return self._build.market_history(group)
        made = {
            layout.STATUS_KEY: self._build.status,
            layout.BULK_KEY: self._build.manifest,
            LISTS_KEY: self._summaries,
        }
        return made[key]() if key in made else None

    def _summaries(self) -> bytes:
        """Return the document that says how long each list is, so that it can be read from its end."""
        found = {folder: pages.summary() for folder, pages in self.lists.items()}
        return json.dumps(found, separators=(",", ":")).encode() + b"\n"

    def _pages(self, hot: bool) -> Iterator[tuple[str, str]]:
        cut = _rankings(self._build) if hot else {}
        for folder, pages in self.lists.items():
            count = min(pages.pages, HOT_PAGES) if folder in cut else pages.pages
            yield from ((f"{folder}/{number}.json", pages.tag(number)) for number in range(count))

    def _other_tags(self) -> Iterator[tuple[str, str]]:
        yield SPREADSHEET_KEY, self._spreadsheet.sha256
        yield LISTS_KEY, hashlib.sha256(self._summaries()).hexdigest()
        yield from _market_tags(self._build)
        yield from self._stored_tags()

    def _stored_tags(self) -> Iterator[tuple[str, str]]:
        """Yield the objects of layers that are documents."""
        of_build = hashlib.sha256(self._build.id.encode()).hexdigest()
        for index in (layer.index for name, layer in self._build.layers.items() if name in layout.EXPORTED):
            for position in range(len(index)):
                key = index.key(position)
                page = _PAGE.fullmatch(key)
                if not key.startswith(f"{layout.NAMES}/") and not (page and page[1] in self.lists):
                    yield key, of_build if key in NAMING_BUILD else index.entry(position).json_sha256.hex()


def resource_of(key: str) -> str:
    """Return the resource of `diff` that a document belongs to, by its key or its path in a tree below `api/v1/`."""
    if key == LISTS_KEY or (key.startswith("cards/") and not _CARD.fullmatch(key)):
        return layout.LISTS
    layer = layout.layer_of(key)
    return layout.CARDS if layer == layout.CATALOGUE else layer or layout.BULK


def _name(build: Build, key: str) -> str:
    if layout.is_site_file(key):
        return key
    if not (found := _SLUG.fullmatch(key)):
        return f"{API_FOLDER}/{key}"
    slug = unquote(found[2])
    segment = file_segment(slug)
    if slug.endswith(".json") and build.find(f"watchlist/{found[2].removesuffix('%2Ejson')}.json"):
        segment = f"{segment.removesuffix('.json')}~2Ejson"  # `x/offers.json` and `x.json` would be folder and file
    return f"{API_FOLDER}/{found[1]}{segment}{found[3]}"


def _watchlist_key(found: re.Match[str]) -> str:
    """Return the logical key of a document of the watchlist from its name in a tree."""
    slug = _ESCAPED.sub(lambda escaped: bytes((int(escaped[1], 16),)), found[2].encode())
    return found[1] + layout.encode_slug(slug.decode(errors="replace")) + found[3]


def _read_file(build: Build, file: BulkFile) -> bytes:
    data = build.store.get(file.object)
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise StoreError(f"{file.object} in {build.store.location} does not match its hash")
    return data


def _market_tags(build: Build) -> Iterator[tuple[str, str]]:
    """Yield the histories of the market. Each is made from its head and its points in each period."""
    for key, group in build.market.documents.items():
        points = (entry.json_sha256 for _, entry in build.market_points(group))
        yield key, hashlib.sha256(b"".join((group.head, *points))).hexdigest()


def _card_tags(build: Build, only: np.ndarray | None) -> Iterator[tuple[str, str]]:
    """Yield the card details, or some by ordinal. Each changes when its line does, or a layer of the history."""
    folders = "".join(layer.folder for layer in build.periods.values())
    of_history = hashlib.sha256(folders.encode()).hexdigest()[: _TAG_DIGITS // 2]
    catalogue = build.catalogue
    ordinals = np.arange(len(catalogue.ids)) if only is None else only
    for id_, digest in zip(catalogue.ids.take(ordinals).tolist(), catalogue.digests.take(ordinals), strict=True):
        yield f"cards/{id_}.json", of_history + digest.as_py().hex()


def _hot_products(build: Build) -> np.ndarray:
    """Return the ordinals of the products on the first pages of any ranking."""
    first = [order[: HOT_PAGES * CARDS_PER_PAGE] for order in _rankings(build).values()]
    return np.unique(np.concatenate(first))


def lists_of(build: Build) -> dict[str, TreeList]:
    """Return the lists of a build by folder."""
    lists = _card_lists(build)
    for layer in layout.ROWS_PER_PAGE:  # whose names are the paths of the lists
        lists[_folder(layer)] = _stored_list(build.layers[layer])
    return dict(sorted((lists | dict(_movers(build)) | dict(_market(build))).items()))


@cache
def _folder(path: str, **query: str) -> str:
    """Return the folder of the pages of a list, by the path of its requests and their parameters."""
    key = object_of(f"/{API_FOLDER}/{path}", query)
    assert key is not None, f"{path} has pages"
    return key.removeprefix(f"{API_FOLDER}/").removesuffix("/0.json")


def _rankings(build: Build) -> dict[str, np.ndarray]:
    """Return the rankings of /cards by folder: the ordinals of the Cards of each kind in the order of each sort."""
    catalogue = build.catalogue
    found = {}
    for kind, (sort, order) in product(KINDS, catalogue.order.items()):
        of_kind = order if kind == "all" else order[catalogue.single[order] == (kind == "single")]
        found[_folder("cards", kind=kind, sort=sort)] = of_kind
    return found


def _card_lists(build: Build) -> dict[str, TreeList]:
    """Return the lists of /cards by folder: of each kind in the default order of each sort, and of each set."""
    counts = build.catalogue.counts["keyed"]
    keyed = [counts[kind][sort] for kind, sort in product(KINDS, build.catalogue.order)]
    rankings = zip(_rankings(build).items(), keyed, strict=True)
    return {folder: _card_list(build, order, count) for (folder, order), count in rankings} | _set_lists(build)


def _set_lists(build: Build) -> dict[str, TreeList]:
    """Return the Cards of each expansion of the lake that has products. A negative id is no id in `set`."""
    catalogue = build.catalogue
    ranks, starts = catalogue.rank[DEFAULT_SORT], catalogue.set_starts.tolist()
    lists = {}
    for row, (id_, name) in enumerate(zip(catalogue.set_ids.tolist(), catalogue.set_names, strict=True)):
        first, end = starts[row], starts[row + 1]
        if first < end and name is not None and id_ >= 0:
            order = first + np.argsort(ranks[first:end])
            lists[_folder("cards", set=str(id_))] = _card_list(build, order)
    return lists


def _card_list(build: Build, order: np.ndarray, with_key: int | None = None) -> TreeList:
    lines = build.catalogue.card_lines
    return TreeList(
        CARDS_PER_PAGE,
        len(order),
        lambda first, end: lines.lines(order[first:end]),
        lambda first, end: lines.digest(order[first:end]),
        lambda: lines.digests(order),
        with_key,
    )


def _stored_list(layer: Layer) -> TreeList:
    rows: list[bytes] = []
    size = layout.ROWS_PER_PAGE[layer.name]
    while entry := layer.index.find(layout.page_of_rows(layer.name, len(rows) // size)):
        page = bodies.split_page(layer.read(entry))
        rows += page
        if len(page) < size:
            break
    return _list_of_layer(layer, ROWS_PER_PAGE, len(rows), lambda: rows)


def _list_of_layer(
    layer: Layer, per_page: int, rows: int, lines: Callable[[], Lines], with_key: int | None = None
) -> TreeList:
    """Return a list whose rows change only when the layer does."""
    return TreeList(
        per_page,
        rows,
        lambda first, end: lines()[first:end],
        lambda first, end: layer.folder.encode(),
        lambda: np.array(lines(), object),
        with_key,
    )


def _movers(build: Build) -> Iterator[tuple[str, TreeList]]:
    """Yield the lists of price moves in all games, of all moves and of the confirmed ones."""
    layer, movers = build.layers[layout.MOVERS], build.movers
    read = lru_cache(1)(movers.list)  # the pages of a list are asked for one after the other
    choices = (market.WINDOWS, market.MEASURES, market.DIRECTIONS, KINDS, market.FLOORS)
    names = ("window", "by", "direction", "kind", "min_price")
    for confirmed, *options in product((False, True), *choices):
        key = market.list_key(options)
        rows, lines = movers.count(key, confirmed), partial(read, key, confirmed)
        query = dict(zip(names, options, strict=True)) | {"confirmed": "true" if confirmed else "false"}
        yield _folder("movers", **query), _list_of_layer(layer, MOVERS_PER_PAGE, rows, lines)


def _market(build: Build) -> Iterator[tuple[str, TreeList]]:
    layer = build.layers[layout.MARKET]
    for (by, sort), (with_key, _) in build.market.lists.items():
        rows = build.market.rows(by, sort)
        folder = _folder("market", by=by, sort=sort)
        yield folder, _list_of_layer(layer, ROWS_PER_PAGE, len(rows), partial(list, rows), len(with_key))
