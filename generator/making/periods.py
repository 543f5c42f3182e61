"""The periods of the history: each closed year, the closed months of the as-of day's year, and the open month."""

import calendar
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta

from generator.lake.files import PRICE_TABLES
from generator.lake.lake import Lake

# Bytes of a row in the Parquet files of made-up lakes of 10,000 to 78,000 products; see docs/scale.md.
_ROW_BYTES = {"price_guide": 24, "listings": 15, "filtered_checks": 60}


@dataclass(frozen=True)
class Period:
    """Consecutive days, both ends included. Its name is the year."""

    name: str
    first: date
    last: date

    @property
    def span(self) -> str:
        """The day, or the month of the first day: `2026-02-11` or `2026-02`."""
        return str(self.first) if self.is_day else f"{self.first:%Y-%m}"

    def __len__(self) -> int:
        """Return the number of days."""
        return (self.last - self.first).days + 1

    @property
    def is_day(self) -> bool:
        """Whether the period is a single day."""
        return self.first == self.last

    def days(self) -> list["Period"]:
        """Return each day of the period as a period."""
        return self.split(len(self))

    def months(self) -> list["Period"]:
        """Return the months of the period, each cut to it."""
        months, first = [], self.first
        while first <= self.last:
            last = min(first.replace(day=calendar.monthrange(first.year, first.month)[1]), self.last)
            months.append(Period(self.name, first, last))
            first = last + timedelta(days=1)
        return months

    def until(self, month: "Period") -> "Period":
        """Return the part of the period that ends with one of its months."""
        return Period(self.name, self.first, month.last)

    def split(self, count: int) -> list["Period"]:
        """Split the period into about `count` spans of whole days."""
        step = -(-len(self) // max(1, min(count, len(self))))
        firsts = [self.first + timedelta(days=start) for start in range(0, len(self), step)]
        return [Period(self.name, first, min(first + timedelta(days=step - 1), self.last)) for first in firsts]

    def content(self, lake: Lake, *tables: str) -> list[str]:
        """Return the content of tables (default: the price tables) of the lake on these days; see `Lake.content`."""
        return lake.content(*(tables or PRICE_TABLES), first=self.first, last=self.last)

    def estimated_rows(self, lake: Lake) -> int:
        """Return about how many rows the lake's price tables hold of these days, from the sizes of their files."""
        sizes = {table: lake.size(table, first=self.first, last=self.last) for table in PRICE_TABLES}
        return sum(size // _ROW_BYTES[table] for table, size in sizes.items())


def open_month(as_of: date) -> Period:
    """Return the as-of day's month up to that day. Only this part of the history is rebuilt every night."""
    return Period(str(as_of.year), as_of.replace(day=1), as_of)


def closed_periods(lake: Lake, tables: Collection[str] = PRICE_TABLES) -> list[Period]:
    """Return the periods before the open month of which these tables have any rows, oldest first."""
    month = open_month(lake.as_of).first
    days = (file.day for table in tables for file in lake.files_of(table) if file.day)
    return [_closed_year(year, month) for year in sorted({day.year for day in days if day < month})]


def history_period(as_of: date, day: date) -> Period:
    """Return the period of the history that holds a day: the open month, or the closed part of a year."""
    month = open_month(as_of)
    return month if day >= month.first else _closed_year(day.year, month.first)


def _closed_year(year: int, month: date) -> Period:
    return Period(f"{year:04d}", date(year, 1, 1), min(date(year, 12, 31), month - timedelta(days=1)))
