"""The documents of a build and of its tree: their keys, their JSON as the API answers it, their names and tags.

Most documents are objects of their layer. The layers of `_KINDS` hold what theirs are put together from.

In a tree a document has the path of its logical key, but for slugs: a host that decodes percent signs looks for another
file. A tag shows without reading whether the document may have changed.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

import numpy as np

from edge_auth.builds import bodies, layer_names, object_keys
from edge_auth.builds.builds import Build
from edge_auth.builds.bulk import LIVE_CATALOGUE, BulkFile, catalogue_of
from edge_auth.builds.index import INDEX_NAME, map_table, only_chunk
from edge_auth.builds.layers import Layer
from edge_auth.errors import StoreError
from edge_auth.store.codec import compress, decompress

API_FOLDER = "api/v1"
LISTS_KEY = "lists.json"
_TAG_DIGITS = 24  # of a hash in hex
# These name the build, so their stored part is not all of them.
_JOINED = (object_keys.STATUS_KEY, object_keys.BULK_KEY)
_SLUG = re.compile(r"(watchlist/)([^/]+?)(\.json|/(?:offers\.json|history/.+))")
_UNSAFE = re.compile(rb"^\.|[^A-Za-z0-9_.-]")
_ESCAPED = re.compile(rb"~([0-9A-F]{2})")
_FOLDERS_OF_PAGES = {layer_names.WATCHLIST: "watchlist/pages"}  # by layer; of others it is the layer's name


class TreeDocument(NamedTuple):
    """A document of a tree.

    Attributes:
        name: The path of its file in the tree.
        key: Its logical key.
        tag: A hash of what it is made from. The same tag means the same content; another tag may mean either.
        bulk_file: The name of the bulk file that it is, or ''.
    """

    name: str
    key: str
    tag: str
    bulk_file: str = ""

    @property
    def names_build(self) -> bool:
        """Whether its content names the build."""
        return self.key in _JOINED


class TreeBody:
    """The content of a document. It is held in the form in which the store has it.

    Attributes:
        media_type: Its Content-Type.
        digest: A hash of the plain content.
        is_file: Whether it is a bulk file, which is written as it is. It is read only when it is written.
    """

    def __init__(
        self,
        media_type: str,
        digest: str,
        *,
        plain: bytes | None = None,
        member: bytes | None = None,
        read_file: Callable[[], bytes] | None = None,
    ):
        self.media_type = media_type
        self.digest = digest[:_TAG_DIGITS]
        self.is_file = read_file is not None
        self._plain, self._member, self._read_file = plain, member, read_file

    @property
    def plain(self) -> bytes:
        """The content without compression, or the bytes of a bulk file."""
        if self._read_file is not None:
            return self._read_file()
        return decompress(self._member or b"") if self._plain is None else self._plain

    @property
    def member(self) -> bytes:
        """The content as a gzip member. One that the store has is not inflated."""
        return compress(self._plain or b"") if self._member is None else self._member


def tree_documents(build: Build) -> Iterator[TreeDocument]:
    """Yield the documents of a build: the bulk files, then layer by layer.

    Raises:
        StoreError: An index cannot be read.
    """
    for file in build.bulk_files.values():
        key = object_keys.bulk_file(file.name)
        yield TreeDocument(_name(build, key), key, file.sha256[:_TAG_DIGITS], file.name)
    if catalogue := catalogue_of(build.bulk_files):
        key = object_keys.bulk_file(LIVE_CATALOGUE)
        yield TreeDocument(_name(build, key), key, catalogue.sha256[:_TAG_DIGITS], catalogue.name)
    for key, tag in _keys_and_tags(build):
        yield TreeDocument(_name(build, key), key, tag[:_TAG_DIGITS])
    yield TreeDocument(f"{API_FOLDER}/{LISTS_KEY}", LISTS_KEY, hashlib.sha256(_lists(build)).hexdigest()[:_TAG_DIGITS])


def read_body(build: Build, document: TreeDocument) -> TreeBody:
    """Return the content of a document, verified.

    Raises:
        StoreError: It cannot be read.
    """
    key = document.key
    if document.bulk_file:
        file = build.bulk_files[document.bulk_file]
        return TreeBody(file.media_type, file.sha256, read_file=partial(_read_file, build, file))
    media_type = object_keys.media_type(key)
    if key == LISTS_KEY:
        return TreeBody(media_type, document.tag, plain=_lists(build))
    if (id_ := object_keys.card_id(key)) is not None:
        card = build.card(id_)
        assert card is not None, f"{key} is in the catalogue"
        return TreeBody(media_type, card.digest.hex(), member=card.member)
    found = None if key in _JOINED else build.find(key)
    if found is None or object_keys.is_list_page(key):
        plain = read_document(build, key) or b""
        return TreeBody(media_type, hashlib.sha256(plain).hexdigest(), plain=plain)
    layer, entry = found
    return TreeBody(media_type, entry.json_sha256.hex(), member=layer.read_member(entry))


def find_document(build: Build, name: str) -> bytes | None:
    """Return the content of a document by its logical key, or by its path in a tree, or None."""
    key = name.removeprefix(f"{API_FOLDER}/")
    if key == LISTS_KEY:
        return _lists(build)
    found, of_watchlist = read_document(build, key), _SLUG.fullmatch(key)
    return read_document(build, _watchlist_key(of_watchlist)) if found is None and of_watchlist else found


def document_keys(build: Build) -> Iterator[str]:
    """Yield the keys of all documents that `export` writes, layer by layer; see `read_document`."""
    for layer in build.layers:
        if layer in _KINDS:
            yield from _KINDS[layer].keys(build)
        elif layer_names.is_exported(layer):
            yield from _stored_keys(build, layer)


def read_document(build: Build, key: str) -> bytes | None:
    """Return the document under a key, or None. The path of a bulk file gives its bytes.

    Raises:
        StoreError: It cannot be read.
    """
    layer = object_keys.layer_of(key)
    if layer in _KINDS:
        return _KINDS[layer].read(build, key) if layer in build.layers else None
    return build.get(key)


def _name(build: Build, key: str) -> str:
    """Return the path in a tree of the document under a logical key."""
    if object_keys.is_site_file(key):
        return key
    if not (found := _SLUG.fullmatch(key)):
        return f"{API_FOLDER}/{key}"
    slug = unquote_to_bytes(found[2])
    segment = file_segment(slug)
    if slug.endswith(b".json") and build.find(f"watchlist/{found[2].removesuffix('%2Ejson')}.json"):
        segment = f"{segment.removesuffix('.json')}~2Ejson"  # `x/offers.json` and `x.json` would be folder and file
    return f"{API_FOLDER}/{found[1]}{segment}{found[3]}"


def file_segment(slug: bytes) -> str:
    """Return the name of a slug, given in UTF-8, in file names: any host finds it under its own name."""
    return _UNSAFE.sub(lambda found: b"~%02X" % found[0][0], slug).decode()


def _watchlist_key(found: re.Match[str]) -> str:
    """Return the logical key of a document of the watchlist from its name in a tree."""
    slug = _ESCAPED.sub(lambda escaped: bytes((int(escaped[1], 16),)), found[2].encode())
    return found[1] + object_keys.encode_slug(slug.decode(errors="replace")) + found[3]


def _read_file(build: Build, file: BulkFile) -> bytes:
    data = build.store.get(file.object)
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise StoreError(f"{file.object} in {build.store.location} does not match its hash")
    return data


def _lists(build: Build) -> bytes:
    """Return the document that says how long each list of pages is, so that it can be read from its end.

    `with_key` counts the rows that have the key of the sort: they come first, and the other order is their reverse.
    """
    found: dict[str, dict[str, int]] = {}
    catalogue = build.catalogue
    for kind, keyed in catalogue.counts.keyed.items():
        rows = catalogue.counts.products[kind]
        for sort in catalogue.order:
            found[f"cards/{kind}/{sort}"] = _length(rows, bodies.CARDS_PER_PAGE) | {"with_key": keyed[sort]}
    if layer_names.MARKET in build.layers:
        for (by, sort), (first, others) in build.market.lists.items():
            rows = len(first) + len(others)
            found[f"market/{by}/{sort}"] = _length(rows, bodies.MARKET_ROWS_PER_PAGE) | {"with_key": len(first)}
    for layer, layer_kind in layer_names.LAYERS.items():
        if layer_kind.rows_per_page and layer in build.layers:
            folder, per_page = _FOLDERS_OF_PAGES.get(layer, layer), layer_kind.rows_per_page
            found[folder] = _length(_stored_rows(build.layers[layer], folder, per_page), per_page)
    return json.dumps(dict(sorted(found.items())), separators=(",", ":")).encode() + b"\n"


def _length(rows: int, per_page: int) -> dict[str, int]:
    return {"rows": rows, "rows_per_page": per_page, "pages": max(1, -(-rows // per_page))}


def _stored_rows(layer: Layer, folder: str, per_page: int) -> int:
    """Return how many rows the pages of a list have that a layer stores."""
    last = 0
    while layer.index.find(f"{folder}/{last + 1}.json"):
        last += 1
    entry = layer.index.find(f"{folder}/{last}.json")
    return last * per_page + (len(bodies.split_page(layer.read(entry))) if entry else 0)


def _keys_and_tags(build: Build) -> Iterator[tuple[str, str]]:
    for name, layer in build.layers.items():
        if name == layer_names.CATALOGUE:
            yield from ((key, (build.list_pages.digest(key) or b"").hex()) for key in build.list_pages.all_keys())
            yield from _detail_tags(build)
        elif name == layer_names.MOVERS:
            tag = hashlib.sha256(layer.folder.encode()).hexdigest()
            yield from ((key, tag) for key in build.movers.document_keys())
        elif name == layer_names.MARKET:
            yield from _market_tags(build)
        elif layer_names.is_exported(name):
            yield from _stored_tags(build, layer)


def _market_tags(build: Build) -> Iterator[tuple[str, str]]:
    """Yield the pages and histories of the market. A history is its head and its points in each period."""
    pages = hashlib.sha256(build.layers[layer_names.MARKET].folder.encode()).hexdigest()
    yield from ((key, pages) for key in build.market.page_keys())
    for key, group in build.market.documents.items():
        points = (entry.json_sha256 for _, entry in build.market_points(group))
        yield key, hashlib.sha256(b"".join((group.head, *points))).hexdigest()


def _stored_tags(build: Build, layer: Layer) -> Iterator[tuple[str, str]]:
    index = layer.index
    of_build = hashlib.sha256(build.id.encode()).hexdigest()
    for position in range(len(index)):
        key = index.key(position)
        if object_keys.is_exported(key):
            yield key, of_build if key in _JOINED else index.entry(position).json_sha256.hex()


def _detail_tags(build: Build) -> Iterator[tuple[str, str]]:
    """Yield the card details. Their tags are sums over the hashes of the parts that they are joined from."""
    catalogue = build.catalogue
    lines = np.frombuffer(catalogue.digests.buffers()[1] or b"", np.uint64, 2 * len(catalogue.ids)).reshape(-1, 2)
    ids, tags = catalogue.ids[catalogue.by_id], lines[catalogue.by_id]
    for period, layer in build.periods.items():
        period_ids, hashes = _hashes(layer)
        places = np.searchsorted(ids, period_ids)
        known = places < len(ids)
        known[known] = ids[places[known]] == period_ids[known]
        tags[places[known]] += hashes[known] * _factor(period)
    for id_, tag in zip(ids.tolist(), tags.tobytes().hex(sep=" ", bytes_per_sep=-16).split(), strict=True):
        yield object_keys.card(id_), tag


def _hashes(layer: Layer) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of a layer's objects, sorted, and 16 bytes of the hash of each as two unsigned integers."""
    _ = layer.index  # raises StoreError if it is missing or broken
    table = map_table(layer.local(INDEX_NAME))
    stored = np.frombuffer(only_chunk(table, "stored_sha256").buffers()[1] or b"", np.uint64, 4 * len(table))
    return only_chunk(table, "key").to_numpy(), stored.reshape(-1, 4)[:, :2].copy()


def _factor(period: str) -> np.uint64:
    """Return an odd number, so that the same object in another period gives another tag."""
    return np.uint64(int.from_bytes(hashlib.sha256(period.encode()).digest()[:8], "big") | 1)


def _stored_keys(build: Build, layer: str) -> Iterator[str]:
    index = build.layers[layer].index
    return filter(object_keys.is_exported, map(index.key, range(len(index))))


def _card_keys(build: Build) -> Iterator[str]:
    yield from build.list_pages.all_keys()
    yield from map(object_keys.card, sorted(build.catalogue.ids.tolist()))


def _read_card(build: Build, key: str) -> bytes | None:
    """Return a page of /cards, or a card detail."""
    id_ = object_keys.card_id(key)
    card = None if id_ is None else build.card(id_)
    return decompress(card.member) if card else build.list_pages.get(key)


def _read_movers(build: Build, key: str) -> bytes | None:
    found = object_keys.parse_movers_list(key)
    return bodies.join_page(build.movers.list(*found)) if found else None


def _read_market(build: Build, key: str) -> bytes | None:
    group = build.market.documents.get(key)
    return build.market_history(group) if group else build.market.page(key)


def _read_bulk(build: Build, key: str) -> bytes | None:
    """Return the manifest, or the bytes of a bulk file."""
    if key == object_keys.BULK_KEY:
        return build.manifest()
    name = key.removeprefix(object_keys.bulk_file(""))
    file = catalogue_of(build.bulk_files) if name == LIVE_CATALOGUE else build.bulk_files.get(name)
    return build.store.get(file.object) if file else None


class _Kind(NamedTuple):
    """The documents of a layer.

    Attributes:
        keys: Returns the keys of those that `export` writes.
        read: Returns the document under a key, or None.
    """

    keys: Callable[[Build], Iterable[str]]
    read: Callable[[Build, str], bytes | None]


_KINDS = {
    layer_names.CATALOGUE: _Kind(_card_keys, _read_card),
    layer_names.MOVERS: _Kind(lambda build: build.movers.document_keys(), _read_movers),
    layer_names.MARKET: _Kind(lambda build: (*build.market.page_keys(), *build.market.documents), _read_market),
    layer_names.STATUS: _Kind(
        lambda build: (object_keys.STATUS_KEY,),
        lambda build, key: build.status() if key == object_keys.STATUS_KEY else None,
    ),
    layer_names.BULK: _Kind(lambda build: (object_keys.BULK_KEY,), _read_bulk),
}
