"""The smoke test of a build that has just gone live: one object of each kind is read as the API says it."""

import json

from edge_auth.contract import names
from edge_auth.contract.builds import Build, open_build
from edge_auth.contract.catalogue import Columns
from edge_auth.contract.store import Store
from edge_auth.errors import EdgeError
from generator.errors import SmokeError


def smoke_test(store: Store, build_id: str) -> None:
    """Read one object of each kind of a build.

    Raises:
        SmokeError: one is missing or is no JSON.
        StoreError: the build cannot be read.
    """
    build = open_build(store, build_id)
    for key in _samples(build):
        try:
            document = build.document(key)
            if document is None:
                raise SmokeError(f"it has no {key}")
            json.loads(document)
        except (ValueError, OSError, EOFError, KeyError) as error:
            raise SmokeError(f"{key} cannot be read: {error}") from error
        except EdgeError as error:
            raise SmokeError(f"{key} cannot be read: {error}") from error
    _ = Columns(build.layers[names.CATALOGUE])


def _samples(build: Build) -> list[str]:
    keys = [names.list_page(kind, sort, 0) for kind in names.KINDS for sort in names.SORTS]
    keys += [names.sets_page(0), names.watchlist_page(0), names.FINGERPRINTS_KEY, names.STATUS_KEY, names.OPENAPI_KEY]
    for layer in build.layers.values():
        if len(layer.index):
            keys += {layer.index.key(0), layer.index.key(len(layer.index) - 1)}
    return keys
