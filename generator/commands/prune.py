"""`cardpress prune`: delete what no remaining build needs."""

from datetime import timedelta

import click

from edge_auth.store.open import open_store
from generator.clock import timestamp, utc_now
from generator.commands.options import grace_option, json_option, keep_option, lease_option, store_option
from generator.releases.prune import RetentionRules, describe, find_deletions
from generator.releases.prune import prune as delete
from generator.releases.reserve import keep_reserve, with_reserve
from generator.releases.termination import end_by_error, hold_back
from generator.terminal import say, say_json


@click.command()
@store_option
@keep_option
@grace_option
@click.option("--dry-run", is_flag=True, help="List what would be deleted; delete nothing.")
@lease_option
@json_option
def prune(store: str, keep: int, grace: float, dry_run: bool, lease: float, as_json: bool) -> None:
    """Delete what no remaining build needs, and what killed runs left.

    The live build and the one before it always remain, so that a rollback is possible.

    \b
    Example: cardpress prune --store site_out --keep 7 --dry-run
    """
    opened, rules = open_store(store), RetentionRules(keep, timedelta(hours=grace))
    if dry_run:
        deletions = find_deletions(opened, rules, utc_now)
    else:
        with hold_back(), end_by_error("prune"):
            deletions = with_reserve(opened, lambda: delete(opened, rules, seconds=lease))
        keep_reserve(opened)
    if as_json:
        say_json({"at": timestamp(utc_now())} | deletions.summary())
        return
    for name in (*deletions.builds, *deletions.layers, *(file.name for file in deletions.strays)):
        say(name)
    say(f"{'would delete' if dry_run else 'deleted'}: {describe(deletions)}", err=True)
