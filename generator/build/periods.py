"""How the history is cut: each closed year, the closed months of the as-of day's year, the open month."""

import calendar
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from generator.lake.lake import PRICE_TABLES, Lake


@dataclass(frozen=True)
class Period:
    """A stretch of days, both ends included; `name` is the year."""

    name: str
    first: date
    last: date

    def months(self) -> list["Period"]:
        """The months of the period, cut to it."""
        found, first = [], self.first
        while first <= self.last:
            last = min(_last_of_month(first), self.last)
            found.append(Period(self.name, first, last))
            first = last + timedelta(days=1)
        return found

    def cut(self, pieces: int) -> list["Period"]:
        """The period in about so many pieces of whole days."""
        days = (self.last - self.first).days + 1
        step = -(-days // max(1, min(pieces, days)))
        firsts = [self.first + timedelta(days=start) for start in range(0, days, step)]
        return [Period(self.name, first, min(first + timedelta(days=step - 1), self.last)) for first in firsts]

    def content(self, lake: Lake) -> list[str]:
        """What the lake's price tables hold of these days."""
        return lake.content(*PRICE_TABLES, first=self.first, last=self.last)


def open_month(as_of: date) -> Period:
    """The as-of day's month up to that day: the one part of the history that a night makes anew."""
    return Period(str(as_of.year), as_of.replace(day=1), as_of)


def closed_periods(lake: Lake) -> list[Period]:
    """The periods before the open month of which the lake holds anything, oldest first."""
    month = open_month(lake.as_of).first
    days = {f.day for table in PRICE_TABLES for f in lake.files_of(table) if f.day < month}
    return [_year(year, month) for year in _years(days)]


def _years(days: Iterable[date]) -> list[int]:
    return sorted({day.year for day in days})


def _last_of_month(day: date) -> date:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def _year(year: int, month: date) -> Period:
    return Period(f"{year:04d}", date(year, 1, 1), min(date(year, 12, 31), month - timedelta(days=1)))
