"""How fresh and how complete the price guide of each game is in a build, column by column."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from edge_auth.builds import layout
from edge_auth.builds.builds import Build, last_build_id, open_build
from edge_auth.errors import EdgeError
from generator.lake.files import GUIDE_PRICES
from generator.threads import Resources

# What people and Prometheus read in place of a name, for products without a game.
NO_GAME = "no game named"


@dataclass(frozen=True)
class GameCoverage:
    """The price guide of a game in a build."""

    game: str
    products: int
    rows: int  # products with a row in any guide
    newest: str | None  # day of these rows, as `YYYY-MM-DD`
    usual: str | None  # the day that half of these rows reach
    prices: dict[str, int]  # by column of the guide, the products that have it in their newest row
    newest_prices: dict[str, str | None]  # by column of the guide, the newest day with such a price

    @property
    def title(self) -> str:
        """The name of the game, for people."""
        return self.game or NO_GAME

    def is_late(self, column: str) -> bool:
        """Return whether the game's newest guide has no such price at all, although an older one has."""
        day = self.newest_prices[column]
        return day is not None and day != self.newest


def cover_games(build: Build) -> list[GameCoverage]:
    """Return the products, rows and prices of each game, the game with most products first, from a build's record."""
    return [GameCoverage(**game) for game in build.record["games"]]


def games_for_record(build: Build, resources: Resources) -> list[dict[str, Any]]:
    """Return the coverage of each game as a record has it. A build with the catalogue of the last build has its."""
    from generator.compare.comparison import prices_database  # DuckDB: `show` never needs it

    catalogue = build.record["layers"][layout.CATALOGUE]
    with suppress(EdgeError):  # there is none, or it cannot be read
        last = open_build(build.store, last_build_id(build.store)).record
        if last["layers"][layout.CATALOGUE]["digest"] == catalogue["digest"]:
            return last["games"]
    with prices_database(build, resources) as db:
        db.run("report/game_columns")
        return list(map(asdict, coverage(db.table("from game_columns").to_pylist())))


def coverage(rows: Iterable[Mapping[str, Any]]) -> Iterator[GameCoverage]:
    """Yield the rows of the view `report/game_columns` as objects."""
    for row in rows:
        columns = {column: row[column] for column in GUIDE_PRICES}
        yield GameCoverage(
            row["game"],
            row["products"],
            row["rows"],
            _text(row["newest"]),
            _text(row["usual"]),
            {column: found["prices"] for column, found in columns.items()},
            {column: _text(found["newest"]) for column, found in columns.items()},
        )


def _text(day: Any) -> str | None:
    return None if day is None else str(day)
