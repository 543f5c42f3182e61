"""Checks the key records: whether any key is valid, and which keys expire soon."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial

from edge_auth.live.key_file import KeyFile
from edge_auth.live.keys import KeyRecord
from edge_auth.live.log import timestamp
from generator import settings
from generator.clock import Clock
from generator.reading.doctor.findings import Finding, ok, problem, warning
from generator.terminal import Progress

_ISSUE = "`cardpress keys issue --name NAME`"


def check_keys(file: KeyFile, clock: Clock, progress: Progress) -> Iterator[Finding]:
    """Check the key records.

    Raises:
        EdgeError: The key records cannot be read.
    """
    records, now = file.records(partial(progress.bar_if_long, "keys")), clock().timestamp()
    file.changes()  # the list of changes can be read
    valid = [record for record in records if not record.revoked and not record.expired(now)]
    where = f"{file.name} in {file.store.location}"
    if not records:
        yield warning("keys", f"there are none ({where})", f"without a key the API cannot be used: {_ISSUE}")
    elif not valid:
        yield problem(
            "keys", f"none of {len(records)} is valid ({where})", f"without a key the API cannot be used: {_ISSUE}"
        )
    else:
        counts = f"{len(valid)} valid, {len(records) - len(valid)} expired or revoked"
        soon = clock() + timedelta(days=settings.KEY_EXPIRY_WARNING_DAYS)
        yield _check_expiry(valid, counts, timestamp(soon.timestamp()))


def _check_expiry(valid: list[KeyRecord], counts: str, soon: str) -> Finding:
    expiring = sorted(
        (record.expires_at, record.id) for record in valid if record.expires_at and record.expires_at < soon
    )
    if not expiring:
        return ok("keys", counts)
    first = ", ".join(f"{id_} at {at}" for at, id_ in expiring[:3]) + (", …" if len(expiring) > 3 else "")
    return warning("keys", f"{counts}; expiring soon: {first}", "`cardpress keys update ID --expires DAY`")
