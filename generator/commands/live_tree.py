"""What the commands that move the pointer do after it has moved."""

from generator.releases.live_tree import update_live_tree
from generator.releases.locks import end_by_error, hold_back
from generator.storage.stores.interface import Store
from generator.terminal import Progress


def bring_up_tree(store: Store, objects: str | None, progress: Progress) -> None:
    """Bring the plain objects of a store up to the live build, and say on standard error what was written."""
    with hold_back(), end_by_error("update of the tree"):
        update = update_live_tree(store, objects, progress)
    progress.say(update.line())
