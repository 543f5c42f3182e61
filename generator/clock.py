"""Time, as it is handed in: what asks for the time takes a `Clock`, so that a test can move it.

No time ever enters an object of a build.
"""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The clock that runs by itself."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """A moment as `YYYY-MM-DDTHH:MM:SSZ`, fractions cut."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: str) -> datetime:
    """The moment of a timestamp. Raises ValueError where the text is none."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def unix(seconds: float) -> datetime:
    """The moment of a Unix time."""
    return datetime.fromtimestamp(seconds, UTC)
