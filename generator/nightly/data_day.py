"""The day of the data: whether a night moved it forward, and whether it is the day that the operator expects."""

from contextlib import suppress
from datetime import date, timedelta

from edge_auth.builds.builds import open_build
from edge_auth.builds.pointer import live_build_id, read_pointer
from edge_auth.errors import DamagedObject, NoLiveBuild
from edge_auth.store.interface import Store
from generator.clock import Clock
from generator.compare.run_reports import RunReport
from generator.errors import StaleError

TODAY, YESTERDAY = "today", "yesterday"


def live_data_day(store: Store) -> str | None:
    """Return the newest day of the price guide in the live build, or None if no build is live or its record is damaged.

    For a build without a price guide, return its as-of day.

    Raises:
        StoreError: The pointer or the record cannot be read.
    """
    with suppress(NoLiveBuild, DamagedObject):
        record = open_build(store, live_build_id(store)).record
        day: str = record["freshness"]["catalogue"]["price_guide_day"] or record["as_of"]
        return day
    return None


def note_day(report: RunReport, store: Store) -> None:
    """Note in a report which build is live after the run, its day, and whether that day advanced.

    Raises:
        StoreError: The pointer or the record cannot be read.
    """
    pointer, _ = read_pointer(store)
    report.live = pointer.build if pointer else None
    report.data_day = live_data_day(store)
    report.advanced = (report.data_day or "") > (report.data_day_before or "")


def expected_day(text: str, clock: Clock) -> str:
    """Return the day that `today`, `yesterday` or `YYYY-MM-DD` means, in UTC.

    Raises:
        ValueError: The text is none of these.
    """
    today = clock().date()
    days = {TODAY: today, YESTERDAY: today - timedelta(days=1)}
    return (days[text] if text in days else date.fromisoformat(text)).isoformat()


def check_data_day(report: RunReport, expected: str) -> None:
    """Check that the data of the live build is of the expected day, or newer.

    Raises:
        StaleError: It is older.
    """
    if (report.data_day or "") < expected:
        raise StaleError(
            f"the price guide of the live build {report.live} is of {report.data_day}, but {expected} was expected: "
            "import the missing day, then run the night again"
        )
