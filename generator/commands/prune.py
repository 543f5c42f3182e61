"""`cardpress prune`: delete what no kept build needs."""

from datetime import timedelta

import click

from edge_auth.contract.store.open import open_store
from generator import settings
from generator.clock import utc_now
from generator.commands.options import json_option, lease_option, store_option
from generator.releases.prune import Rules, describe, find_deletions, to_json
from generator.releases.prune import prune as delete

keep_option = click.option(
    "--keep",
    type=click.IntRange(1),
    default=settings.KEPT_BUILDS,
    show_default=True,
    metavar="N",
    help="How many builds to keep: the live one, then those that a rollback reaches, then the newest others.",
)
grace_option = click.option(
    "--grace",
    type=click.FloatRange(0),
    default=settings.GRACE_HOURS,
    show_default=True,
    metavar="HOURS",
    help="Keep what is younger, and builds that were live within this time: clients may be pinned to them.",
)


@click.command()
@store_option
@keep_option
@grace_option
@click.option("--dry-run", is_flag=True, help="Say what would be deleted; delete nothing.")
@lease_option
@json_option
def prune(store: str, keep: int, grace: float, dry_run: bool, lease: float, as_json: bool) -> None:
    """Delete what no kept build needs, and what killed runs left.

    Never the live build, nor the one before it: a rollback always has somewhere to go.

    \b
    Example: cardpress prune --store site_out --keep 7 --dry-run
    """
    opened, rules = open_store(store), Rules(keep, timedelta(hours=grace))
    plan = find_deletions(opened, rules, utc_now) if dry_run else delete(opened, rules, seconds=lease)
    if as_json:
        click.echo(to_json(plan, utc_now()))
        return
    for name in (*plan.builds, *plan.layers, *(file.name for file in plan.strays)):
        click.echo(name)
    click.echo(f"{'would delete' if dry_run else 'deleted'}: {describe(plan)}", err=True)
