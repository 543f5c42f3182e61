"""The documents of a build and of its tree: their keys, their JSON as the API answers it, their names and tags.

Most documents are objects of their layer. Pages of lists, card details and histories of the market are put together.

In a tree a document has the path of its logical key, but for slugs: a host that decodes percent signs looks for another
file. A tag shows without reading whether the document may have changed. What cannot be read raises StoreError.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from edge_auth.builds import layout
from edge_auth.builds.builds import Build
from edge_auth.builds.bulk import LIVE_CATALOGUE, BulkFile, catalogue_of
from edge_auth.errors import StoreError
from edge_auth.store.codec import compress, decompress
from generator.tree.lists import TreeList, lists_of

API_FOLDER = "api/v1"
LISTS_KEY = "lists.json"
_TAG_DIGITS = 24  # of a hash in hex
# These name the build, so their stored part is not all of them.
_JOINED = (layout.STATUS_KEY, layout.BULK_KEY)
_CARD = re.compile(r"cards/(-?[0-9]+)\.json")
_SLUG = re.compile(r"(watchlist/)([^/]+?)(\.json|/(?:offers\.json|history/.+))")
_UNSAFE = re.compile(rb"^\.|[^A-Za-z0-9_.-]")
_ESCAPED = re.compile(rb"~([0-9A-F]{2})")
_PAGE = re.compile(r"(.+)/(0|[1-9][0-9]{0,8})\.json")  # of a list


class TreeDocument(NamedTuple):
    """A document of a tree."""

    name: str  # the path of its file in the tree
    key: str  # its logical key
    tag: str  # of what it is made from: the same tag means the same content
    bulk_file: str = ""  # its name, or ''

    @property
    def names_build(self) -> bool:
        """Whether its content names the build."""
        return self.key in _JOINED


class TreeBody:
    """The content of a document, in the form in which the store has it. A bulk file is read only when it is written."""

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


class Documents:
    """The documents of a build, as a tree has them."""

    def __init__(self, build: Build):
        self._build = build

    @cached_property
    def _lists(self) -> dict[str, TreeList]:
        return lists_of(self._build)

    @cached_property
    def _bulk_files(self) -> dict[str, BulkFile]:
        """The bulk files by key. The newest catalogue has two."""
        files = self._build.bulk_files
        files = files | {LIVE_CATALOGUE: catalogue_of(files)}
        return {f"{layout.BULK}/{name}": file for name, file in files.items()}

    def __iter__(self) -> Iterator[TreeDocument]:
        """Yield the documents: the bulk files, the pages of lists, the card details, then all others."""
        build = self._build
        for key, file in self._bulk_files.items():
            yield TreeDocument(_name(build, key), key, file.sha256[:_TAG_DIGITS], file.name)
        for key, tag in chain(self._pages(), _card_tags(build), _market_tags(build), self._stored_tags()):
            yield TreeDocument(_name(build, key), key, tag[:_TAG_DIGITS])

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
        """Return the content of the document under a key, or None."""
        build, media_type = self._build, layout.media_type(key)
        if file := self._bulk_files.get(key):
            return TreeBody(file.media_type, file.sha256, read_file=partial(_read_file, build, file))
        if found := _CARD.fullmatch(key):
            card = build.card(int(found[1]))
            return card and TreeBody(media_type, card.digest.hex(), member=card.member)
        if (plain := self._made(key)) is not None:
            return TreeBody(media_type, hashlib.sha256(plain).hexdigest(), plain=plain)
        if stored := build.find(key):
            layer, entry = stored
            return TreeBody(media_type, entry.json_sha256.hex(), member=layer.read_member(entry))
        return None

    def _made(self, key: str) -> bytes | None:
        if (page := _PAGE.fullmatch(key)) and (pages := self._lists.get(page[1])):
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
        found = {folder: pages.summary() for folder, pages in self._lists.items()}
        return json.dumps(found, separators=(",", ":")).encode() + b"\n"

    def _pages(self) -> Iterator[tuple[str, str]]:
        for folder, pages in self._lists.items():
            yield from ((f"{folder}/{number}.json", pages.tag(number)) for number in range(pages.pages))
        yield LISTS_KEY, hashlib.sha256(self._summaries()).hexdigest()

    def _stored_tags(self) -> Iterator[tuple[str, str]]:
        """Yield the objects of layers that are documents."""
        of_build = hashlib.sha256(self._build.id.encode()).hexdigest()
        for index in (layer.index for name, layer in self._build.layers.items() if name in layout.EXPORTED):
            for position in range(len(index)):
                key = index.key(position)
                page = _PAGE.fullmatch(key)
                if not key.startswith(f"{layout.NAMES}/") and not (page and page[1] in self._lists):
                    yield key, of_build if key in _JOINED else index.entry(position).json_sha256.hex()


def _name(build: Build, key: str) -> str:
    """Return the path in a tree of the document under a logical key."""
    if layout.is_site_file(key):
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


def _card_tags(build: Build) -> Iterator[tuple[str, str]]:
    """Yield the card details. Each changes when its line does, or a layer of the history."""
    folders = "".join(layer.folder for layer in build.periods.values())
    of_history = hashlib.sha256(folders.encode()).hexdigest()[: _TAG_DIGITS // 2]
    for id_, digest in zip(build.catalogue.ids.tolist(), build.catalogue.digests, strict=True):
        yield f"cards/{id_}.json", of_history + digest.as_py().hex()
