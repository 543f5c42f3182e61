"""Builds as they are named on the command line: by id, or `live` or `previous`; and what a shell offers to complete."""

from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from edge_auth.contract import layout
from edge_auth.contract.builds import Build, live_build_id, open_build, read_pointer
from edge_auth.contract.store.interface import Store
from edge_auth.contract.store.open import is_folder, open_store
from edge_auth.errors import EdgeError
from generator.errors import BuildError

LIVE, PREVIOUS = "live", "previous"
_PATIENCE_SECONDS = 1.0


class BuildName(click.ParamType):
    """The name of a build; a shell completes it from the store that the line or the environment names.

    Args:
        words: whether `live` and `previous` are understood.
    """

    name = "build"

    def __init__(self, words: bool = True):
        self.words = (LIVE, PREVIOUS) if words else ()

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        store = ctx.params.get("store") or "site_out"
        found = list(self.words)
        with suppress(EdgeError, OSError):  # there is nobody to tell
            names = open_store(store, _PATIENCE_SECONDS).list(layout.BUILDS)
            found += sorted(layout.build_ids(names), reverse=True)
        return [CompletionItem(name) for name in found if name.startswith(incomplete)]


def none_yet(store: str) -> str:
    """What is said of a store without builds."""
    where = f"no builds in {store}" if not is_folder(store) or Path(store).is_dir() else f"there is no folder {store}"
    return f"{where}: `cardpress build --lake LAKE --store {store}` makes one"


def named_build(store: Store, name: str | None) -> Build:
    """The build of that id, the live one (also for None), or the one that was live before it.

    Raises:
        BuildError, NoLiveBuild, UnknownBuild: there is none.
    """
    if name in (None, LIVE):
        return open_build(store, live_build_id(store))
    if name != PREVIOUS:
        return open_build(store, name)
    pointer, _ = read_pointer(store)
    if pointer is None or not pointer.previous:
        raise BuildError(
            f"no build was live before in {store.location}: `cardpress builds` shows the ids that there are"
        )
    return open_build(store, pointer.previous[0])
