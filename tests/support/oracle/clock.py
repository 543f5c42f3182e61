"""Times are whole seconds since 1970 in UTC, days are `datetime.date`."""

from datetime import UTC, date, datetime, timedelta

HOUR = 3600
DAY = 24 * HOUR


def stamp(seconds: int | None) -> str | None:
    if seconds is None:
        return None
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def within_last(day: date, days: int | None, as_of: date) -> bool:
    """Whether the day is one of the last N that end with the as-of day; None means all of them."""
    return day <= as_of and (days is None or (as_of - day).days < days)


def bucket(day: date, view: str) -> date:
    """The day itself, the Monday of its week, or the first of its month."""
    if view == "weekly":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if view == "monthly" else day
