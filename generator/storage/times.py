"""Times as the API writes them."""

from datetime import UTC, datetime


def unix_timestamp(now: float) -> str:
    """Return Unix time as `YYYY-MM-DDTHH:MM:SSZ`, without fractions."""
    return datetime.fromtimestamp(int(now), UTC).replace(tzinfo=None).isoformat() + "Z"
