"""The commands about a store's builds as a whole: `publish`, `rollback`, `verify`, `prune`, `unlock`."""

import click

from generator.clock import timestamp, utc_now
from generator.commands import options
from generator.lake.quarantine import read_quarantine
from generator.pack.verify import verify as read_again
from generator.releases.change_documents import complete_steps, verify_steps
from generator.releases.live_tree import bring_up_tree, verify_live_tree
from generator.releases.locks import described, end_by_error, hold_back, keep_reserve, release_lock, with_reserve
from generator.releases.prune import RetentionRules, describe, find_deletions
from generator.releases.prune import prune as delete
from generator.releases.publish import publish as move_to
from generator.releases.publish import rollback as move_back
from generator.storage import layout
from generator.storage.stores.open import open_store
from generator.terminal import Progress, say, say_result


@click.command()
@click.argument("build", type=options.BuildName(words=False))
@options.store_option
@options.objects_option
def publish(build: str, store: str, objects: str | None) -> None:
    """Make BUILD the live build. This lifts the hold that a rollback sets.

    \b
    Example: cardpress publish 2026-08-22-0123456789ab --store site_out
    """
    opened = open_store(store)
    with_reserve(opened, lambda: move_to(opened, build, by_hand=True))
    say(build)
    bring_up_tree(opened, objects, Progress())


@click.command()
@options.store_option
@options.objects_option
def rollback(store: str, objects: str | None) -> None:
    """Make the build before the live one live again.

    Repeat it to go further back. A rollback sets a hold: `build --publish` and `nightly` publish nothing until
    `publish BUILD` lifts the hold.

    \b
    Example: cardpress rollback --store site_out
    """
    opened = open_store(store)
    say(with_reserve(opened, lambda: move_back(opened)))
    complete_steps(opened)  # after the move, which must not wait for it
    bring_up_tree(opened, objects, Progress())


@click.command()
@click.argument("build", required=False, type=options.BuildName())
@options.store_option
@options.json_option
def verify(build: str | None, store: str, as_json: bool) -> None:
    """Compare every object of a build with its recorded hash, and of the live one those of tree/ with the build.

    BUILD is an id, `live` or `previous`; the default is the live build.

    \b
    Example: cardpress verify --store site_out
    """
    opened = options.named_build(open_store(store), build)
    progress = Progress()
    totals = read_again(opened, progress)
    verify_steps(opened.store)
    plain_objects = verify_live_tree(opened, progress)
    read_quarantine(opened.store)  # raises if it lacks what the live build left out
    counts = {"build": opened.id, "objects": totals.objects, "bytes": totals.bytes, "tree": plain_objects}
    in_tree = f", and {plain_objects:,} in {layout.TREE}" if plain_objects else ""
    line = f"{opened.id}: {totals.objects:,} objects in {totals.bytes / 1e6:,.1f} MB{in_tree}, all match their hashes"
    say_result(as_json, counts, [line])


@click.command()
@options.store_option
@options.retention_options
@click.option("--dry-run", is_flag=True, help="List what would be deleted; delete nothing.")
@options.lease_option
@options.json_option
def prune(store: str, rules: RetentionRules, dry_run: bool, lease: float, as_json: bool) -> None:
    """Delete what no remaining build needs, and what killed runs left.

    The live build and the one before it always remain, so that a rollback is possible.

    \b
    Example: cardpress prune --store site_out --keep 7 --dry-run
    """
    opened = open_store(store)
    if dry_run:
        deletions = find_deletions(opened, rules, utc_now)
    else:
        with hold_back(), end_by_error("prune"):
            deletions = with_reserve(opened, lambda: delete(opened, rules, seconds=lease))
        keep_reserve(opened)
    deleted = (*deletions.builds, *deletions.layers, *(file.name for file in deletions.strays))
    say_result(as_json, {"at": timestamp(utc_now())} | deletions.summary(), deleted)
    say(f"{'would delete' if dry_run else 'deleted'}: {describe(deletions)}", err=True)


@click.command()
@options.store_option
@click.option("--force", is_flag=True, help="Release a lock although its run may be alive; that run then stops.")
def unlock(store: str, force: bool) -> None:
    """Release the locks of `nightly`, of `prune` and of tree/ that a killed run left.

    In a folder the lock of a killed run ends with its process, in a bucket after its lease. Only a run that was killed
    under a wrong clock blocks the others of a bucket for longer. A lock that is held may be that of a living run: check
    there first; then pass --force.

    \b
    Example: cardpress unlock --store site_out
    """
    opened = open_store(store)
    for name in (layout.NIGHTLY_LOCK, layout.PRUNE_LOCK, layout.TREE_LOCK):
        if holder := release_lock(opened, name, force=force, clock=utc_now):
            say(f"{name}: released; {described(holder)} held it")
        else:
            say(f"{name}: no run holds it")
