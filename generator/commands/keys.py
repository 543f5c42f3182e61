"""`cardpress keys`: issue, list, import, revoke, change API keys, which a shim follows in seconds; count their use."""

import time
from functools import partial
from pathlib import Path
from typing import Any

import click

from generator.clock import utc_now
from generator.commands.options import FILE, Parsed, json_option, keys_option, store_exists, store_option
from generator.errors import BuildError
from generator.releases.locks import with_reserve
from generator.storage.errors import KeyFormatError
from generator.storage.keys import (
    DEFAULT_RATE_LIMIT,
    MAX_RATE_LIMIT,
    SCOPES,
    KeyRecord,
    digest,
    issue,
    open_key_file,
    parse_expiry,
)
from generator.storage.stores.disk import replace_file
from generator.storage.stores.open import open_store
from generator.storage.times import unix_timestamp
from generator.terminal import Progress, aligned, say, say_json, say_result

NEVER = "never"


def _name(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("must be some printable text")
    return text


_scope = click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="What the key may read; may repeat."
)
_rate = partial(click.option, "--rate-limit", type=click.IntRange(1, MAX_RATE_LIMIT), help="Requests a minute.")
_day = Parsed("day", lambda text: NEVER if text == NEVER else parse_expiry(text))
_expiry = partial(
    click.option, "--expires", type=_day, help="Last day or second on which the key is valid (UTC), or `never`."
)


@click.group()
def keys() -> None:
    """Issue, list, revoke and change API keys.

    \b
    Example: cardpress keys issue --name 'price bot' --rate-limit 300
    """


@keys.command("issue")
@store_option
@keys_option
@click.option("--name", required=True, type=Parsed("text", _name), help="Name of the key's owner.")
@_scope
@_rate(default=DEFAULT_RATE_LIMIT)
@_expiry(default=NEVER)
@click.option("--create", is_flag=True, help="Issue the key although the store does not exist yet.")
@click.option(
    "--reuse",
    type=FILE,
    metavar="FILE",
    help="Print the key in this private file while it is valid. Otherwise keep the new key there.",
)
def issue_(
    store: str,
    keys: str | None,
    name: str,
    scopes: tuple[str, ...],
    rate_limit: int,
    expires: str,
    create: bool,
    reuse: Path | None,
) -> None:
    """Make a key and print it. It cannot be printed again.

    The key goes to standard output, its record to standard error. A store that does not exist is refused, because
    its name may be a mistake.

    \b
    Example: cardpress keys issue --name 'price bot' --scope cards:read --rate-limit 300
    """
    expires_at = None if expires == NEVER else expires
    if expires_at is not None and expires_at < unix_timestamp(time.time()):
        raise click.BadParameter(f"{expires_at} is in the past: the key would never be valid", param_hint="--expires")
    if not (create or keys or store_exists(store)):
        raise BuildError(
            f"there is no store {store}: correct the name, make a build first, or pass --create to begin with a key"
        )
    file = open_key_file(store, keys)
    key = reuse.read_text("ascii", "replace").strip() if reuse and reuse.exists() else ""
    record = file.find(digest(key)) if key else None
    if record is None or record.revoked or record.expired(time.time()):
        key, record = issue(name, scopes or SCOPES, rate_limit, expires_at, time.time())
        with_reserve(open_store(store), partial(file.add, record))
        if reuse:
            replace_file(reuse, [f"{key}\n".encode("ascii")], mode=0o600)
    say(key)
    say_json(_fields(record), err=True)


@keys.command("list")
@store_option
@keys_option
@json_option
def list_(store: str, keys: str | None, as_json: bool) -> None:
    """Print the records of all keys, the oldest first.

    \b
    Example: cardpress keys list
    """
    broken: list[KeyFormatError] = []
    file = open_key_file(store, keys)
    records = file.records(partial(Progress().bar_if_long, "keys"), broken.append)
    if not records:
        file.changes()  # raises if another version has written them elsewhere
    now, header = time.time(), ("ID", "NAME", "PREFIX", "STATE", "RATE", "EXPIRES", "CREATED", "SCOPES")
    lines = aligned([header, *(_row(record, now) for record in records)]) if records else ()
    say_result(as_json, list(map(_fields, records)), lines)
    if not (records or broken):
        say(f"no keys yet: `cardpress keys issue --store {store} --name NAME` makes one", err=True)
    if broken:
        raise KeyFormatError("; ".join(sorted(map(str, broken))))


@keys.command()
@click.argument("id_", metavar="ID")
@store_option
@keys_option
def revoke(id_: str, store: str, keys: str | None) -> None:
    """Switch a key off permanently.

    \b
    Example: cardpress keys revoke key_0123456789ab
    """
    _update(store, keys, id_, revoked=True)


@keys.command()
@click.argument("id_", metavar="ID")
@store_option
@keys_option
@_scope
@_rate()
@_expiry()
def update(
    id_: str, store: str, keys: str | None, scopes: tuple[str, ...], rate_limit: int | None, expires: str | None
) -> None:
    """Change what a key may read, its limit or its expiry.

    \b
    Example: cardpress keys update key_0123456789ab --expires 2027-06-30
    """
    changes: dict[str, Any] = {}
    if scopes:
        changes["scopes"] = tuple(scope for scope in SCOPES if scope in scopes)
    if rate_limit is not None:
        changes["rate_limit"] = rate_limit
    if expires is not None:
        changes["expires_at"] = None if expires == NEVER else expires
    if not changes:
        raise click.UsageError("nothing to change: pass --scope, --rate-limit or --expires")
    _update(store, keys, id_, **changes)


@keys.command("import")
@click.argument("source")
@store_option
@keys_option
def import_(source: str, store: str, keys: str | None) -> None:
    """Take the records of another store's keys, also of one that an older version wrote.

    SOURCE is that store, or the location that --keys named there. It is only read. Clients keep their keys. What SOURCE
    says replaces what an earlier import took, but a key that is revoked here stays so.

    \b
    Example: cardpress keys import /srv/cards/store --store /srv/cards/store-2
    """
    from generator.reading.other_keys import read_records  # the other commands do not need it

    records, broken = read_records(source)
    changed = with_reserve(open_store(store), lambda: open_key_file(store, keys).merge(records))
    say(f"keys of {source}: {changed} taken, {len(records) - changed} here already", err=True)
    if broken:
        raise KeyFormatError("; ".join(broken))


@keys.command()
@click.argument("logs", metavar="LOGS...", nargs=-1, required=True)
@click.option("--days", type=click.IntRange(1), help="Only the last days (UTC), today included.  [default: all]")
@json_option
def usage(logs: tuple[str, ...], days: int | None, as_json: bool) -> None:
    """Count requests, refused ones and bytes by day and key.

    LOGS are the logs of shims and of `cardpress edge`: folders, s3:// prefixes or files, also packed ones (.gz).
    A request without a valid key has no key. Refused are answers with a status of 400 to 499.

    \b
    Example: cardpress keys usage /var/log/cardpress --days 7
    """
    from generator.reading.usage import read_usage  # the other commands need no DuckDB, which is slow to import

    used, other_lines = read_usage(logs, days, utc_now)
    header = ("DAY", "KEY", "REQUESTS", "REFUSED", "BYTES")
    rows = [(row["day"], row["key"] or "-", *(f"{row[name.lower()]:,}" for name in header[2:])) for row in used]
    say_result(as_json, {"usage": used, "other_lines": other_lines}, aligned([header, *rows]))
    if other_lines:
        lines, example = sum(row["lines"] for row in other_lines), other_lines[0]["file"]
        say(f"{lines:,} other lines (cut off, or of another program), most in {example}", err=True)


def _update(store: str, keys: str | None, id_: str, **changes: Any) -> None:
    file = open_key_file(store, keys)
    say_json(_fields(with_reserve(open_store(store), lambda: file.update(id_, **changes))))


def _fields(record: KeyRecord) -> dict[str, Any]:
    return {**record.public(), "revoked": record.revoked}


def _row(record: KeyRecord, now: float) -> tuple[str, ...]:
    state = "revoked" if record.revoked else "expired" if record.expired(now) else "valid"
    limit, expires = str(record.rate_limit), record.expires_at or NEVER
    return (
        record.id, record.name, record.prefix, state, limit, expires, record.created_at, " ".join(record.scopes),
    )  # fmt: skip
