"""Clocks and timestamps. Code that needs the time takes a `Clock`, so that tests can set it.

No time of generation enters an object of a build.
"""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]

_TIMESTAMP = "%Y-%m-%dT%H:%M:%SZ"


def utc_now() -> datetime:
    """Return the current time in UTC. This is the default `Clock`."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """Format a time as `YYYY-MM-DDTHH:MM:SSZ`, without fractions of a second."""
    return moment.astimezone(UTC).strftime(_TIMESTAMP)


def parse_timestamp(text: str) -> datetime:
    return datetime.strptime(text, _TIMESTAMP).replace(tzinfo=UTC)


def from_unix_time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
