"""Whether there are API keys in force, and which end soon."""

from collections.abc import Iterator
from datetime import timedelta

from edge_auth.contract.keys import KeyFile, KeyRecord, timestamp
from generator import settings
from generator.clock import Clock
from generator.reading.doctor.findings import Finding, ok, problem, warning

_ISSUE = "`cardpress keys issue --name NAME`"


def check_keys(file: KeyFile, clock: Clock) -> Iterator[Finding]:
    """The key records.

    Raises:
        EdgeError: they cannot be read.
    """
    records, now = file.records(), clock().timestamp()
    valid = [record for record in records if not record.revoked and not record.expired(now)]
    where = f"{file.name} in {file.store.location}"
    if not records:
        yield warning("keys", f"there are none ({where})", f"nobody can ask the API: {_ISSUE}")
    elif not valid:
        yield problem("keys", f"none of {len(records)} is in force ({where})", f"nobody can ask the API: {_ISSUE}")
    else:
        told = f"{len(valid)} in force, {len(records) - len(valid)} expired or revoked"
        yield _ending(valid, told, timestamp((clock() + timedelta(days=settings.KEYS_END_DAYS)).timestamp()))


def _ending(valid: list[KeyRecord], told: str, soon: str) -> Finding:
    ending = sorted(
        (record.expires_at, record.id) for record in valid if record.expires_at and record.expires_at < soon
    )
    if not ending:
        return ok("keys", told)
    named = ", ".join(f"{id_} at {at}" for at, id_ in ending[:3]) + (", …" if len(ending) > 3 else "")
    return warning("keys", f"{told}; soon expired: {named}", "`cardpress keys update ID --expires DAY`")
