"""Lakes derived from a demo lake: the same files again under the days of earlier years, for a longer history."""

import os
import shutil
from datetime import date
from pathlib import Path

from bench.data import cache

_PRICES = ("price_guide", "listings", "filtered_checks")


def days(lake: Path) -> list[str]:
    """Return the days of a lake that have a partition, oldest first."""
    return sorted({folder.name.removeprefix("day=") for folder in lake.glob("*/day=*")})


def with_earlier_years(lake: Path, years: int) -> Path:
    """Return a lake in which each day of the price tables also stands for the same day of earlier years.

    The files are linked, not copied. Their times are outside their days; a build only counts and reports that.
    """
    longer = cache() / f"{lake.name}-and-{years}-years"
    if not longer.exists():
        part = longer.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(lake, part, copy_function=os.link)
        for folder in (folder for table in _PRICES for folder in (lake / table).glob("day=*")):
            for earlier in range(1, years + 1):
                target = part / folder.parent.name / f"day={_earlier(folder.name[4:], earlier)}"
                if not target.exists():
                    shutil.copytree(folder, target, copy_function=os.link)
        part.rename(longer)
    return longer


def _earlier(day: str, years: int) -> str:
    then = date.fromisoformat(day)
    return then.replace(year=then.year - years, day=28 if (then.month, then.day) == (2, 29) else then.day).isoformat()
