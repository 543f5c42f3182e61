"""Finds days of a build's history whose prices lie apart from the days around them, however old they are."""

from collections.abc import Iterator
from dataclasses import dataclass

from edge_auth.builds.builds import Build
from generator import settings
from generator.compare.comparison import prices_database
from generator.database import sql_literal
from generator.threads import USUAL

_GUIDE = "price_guide"


@dataclass(frozen=True)
class OutlyingDay:
    """A day on which half of the prices of a game or set are so many times those of the days around it.

    `columns` has the middle ratios to the day before, `prices` the most that were compared in one of them.
    """

    day: str
    part: str
    name: str
    columns: dict[str, float]
    prices: int

    def line(self, location: str) -> str:
        """Return the day as one line, with the command that withdraws it."""
        columns = ", ".join(f"{column} x {ratio:.3g}" for column, ratio in self.columns.items())
        named = f"the {self.part} {self.name}" if self.name else "the products without a game"
        return (
            f"{self.day} {_GUIDE}: half of the prices of {named} ({self.prices:,}) are apart from the days around it: "
            f"{columns}: `cardpress quarantine drop {self.day} --store {location}`"
        )


def outlying_days(build: Build) -> list[OutlyingDay]:
    """Return the outlying days of a build, oldest first. A game hides its sets of the same day."""
    listed = ", ".join(map(sql_literal, _history_files(build)))
    if not listed:
        return []
    with prices_database(build, USUAL) as db:
        db.set(enough_prices=settings.ENOUGH_PRICES)
        db.connection.execute(f"create view guide_history as from read_parquet([{listed}])")
        db.run("report/outlying_days")
        rows = db.table("from outlying_days").to_pylist()
    found: dict[tuple[str, str, str], OutlyingDay] = {}
    for row in rows:
        key = str(row["day"]), row["part"], row["name"]
        known = found.get(key, OutlyingDay(*key, {}, 0))
        columns = known.columns | {row["price"]: row["to_before"]}
        found[key] = OutlyingDay(*key, columns, max(known.prices, row["prices"]))
    days_of_games = {day for day, part, _ in found if part == "game"}
    return [one for one in found.values() if one.part == "game" or one.day not in days_of_games]


def _history_files(build: Build) -> Iterator[str]:
    for name, file in build.bulk_files.items():
        if name.startswith(f"{_GUIDE}-"):
            folder, _, base = file.object.rpartition("/")
            layer = next(layer for layer in build.layers.values() if layer.folder == f"{folder}/")
            yield str(layer.file(base.rpartition("-")[0]))
