"""The documents of a build: their keys, and the JSON under each of them as the API answers it.

Most documents are objects of their layer. The layers of `_KINDS` hold what theirs are put together from.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from edge_auth.builds import layer_names, object_keys, pages
from edge_auth.builds.builds import Build
from edge_auth.builds.bulk import LIVE_CATALOGUE, catalogue_of
from edge_auth.store.codec import decompress


class _Kind(NamedTuple):
    """The documents of a layer.

    Attributes:
        keys: Returns the keys of those that `export` writes.
        read: Returns the document under a key, or None.
    """

    keys: Callable[[Build], Iterable[str]]
    read: Callable[[Build, str], bytes | None]


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


def _stored_keys(build: Build, layer: str) -> Iterator[str]:
    index = build.layers[layer].index
    return filter(object_keys.is_exported, map(index.key, range(len(index))))


def _card_keys(build: Build) -> Iterator[str]:
    yield from build.list_pages.all_keys()
    yield from map(object_keys.card, sorted(build.catalogue.ids.tolist()))


def _card(build: Build, key: str) -> bytes | None:
    """Return a page of /cards, or a card detail."""
    id_ = object_keys.card_id(key)
    card = None if id_ is None else build.card(id_)
    return decompress(card.member) if card else build.list_pages.get(key)


def _movers(build: Build, key: str) -> bytes | None:
    found = object_keys.parse_movers_list(key)
    return pages.join_page(build.movers.list(*found)) if found else None


def _market(build: Build, key: str) -> bytes | None:
    group = build.market.documents.get(key)
    return build.market_history(group) if group else build.market.page(key)


def _bulk(build: Build, key: str) -> bytes | None:
    """Return the manifest, or the bytes of a bulk file."""
    if key == object_keys.BULK_KEY:
        return build.manifest()
    name = key.removeprefix(object_keys.bulk_file(""))
    file = catalogue_of(build.bulk_files) if name == LIVE_CATALOGUE else build.bulk_files.get(name)
    return build.store.get(file.object) if file else None


_KINDS = {
    layer_names.CATALOGUE: _Kind(_card_keys, _card),
    layer_names.MOVERS: _Kind(lambda build: build.movers.document_keys(), _movers),
    layer_names.MARKET: _Kind(lambda build: (*build.market.page_keys(), *build.market.documents), _market),
    layer_names.STATUS: _Kind(
        lambda build: (object_keys.STATUS_KEY,),
        lambda build, key: build.status() if key == object_keys.STATUS_KEY else None,
    ),
    layer_names.BULK: _Kind(lambda build: (object_keys.BULK_KEY,), _bulk),
}
