"""Games that are held: a person has to decide about their newest day. Until then gates leave them out.

What a build lacks of a held game, cardpress has taken out of it. Gates that compared it would measure the hold, and one
game would stop all others. So a game has no prices on either side of a comparison while its newest day is held.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc

from generator.compare.comparison import Comparison
from generator.lake.files import GUIDE_PRICES, NO_GAME
from generator.lake.quarantine import waiting_files
from generator.storage.builds import Build

# By table of the lake: the columns of the newest prices that come from it, the first of them the day.
_COLUMNS = {
    "price_guide": ("guide_day", *GUIDE_PRICES),
    "listings": ("listing_day", "from_price"),
    "filtered_checks": ("filtered_day", "filtered"),
}
_PRICES = ("old_prices", "new_prices", "week_prices", "before_prices")
_DAYS_OF_GUIDE = ("unread_days", "live_days", "known_days")
_INDEXES = ("old_indexes", "new_indexes")
HeldGames = Mapping[str, Collection[str | None]]  # by table of the lake; None: the products without a game


def undecided_games(build: Build, prices: pa.Table) -> HeldGames:
    """Return the games whose newest day of a table a build left out. `prices` are the newest ones of its products."""
    held: dict[str, set[str | None]] = {}
    for file in waiting_files(build.store, build.record):
        if file.game is not None:
            game = None if file.game == NO_GAME else file.game
            if file.day > _newest_day(prices, file.table, game):
                held.setdefault(file.table, set()).add(game)
    return held


def _newest_day(prices: pa.Table, table: str, game: str | None) -> str:
    of_game = prices.filter(_is_of(prices, {game}))
    return str(pc.max(of_game[_COLUMNS[table][0]]).as_py() or "")


def _is_of(table: pa.Table, games: Collection[str | None]) -> pa.Array:
    return pc.is_in(table["game"], pa.array(list(games), pa.string()))


@contextmanager
def without_held(comparison: Comparison, held: HeldGames) -> Iterator[None]:
    """Let gates read the tables of two builds without the prices of held games, while the body runs."""
    if not held:
        yield
        return
    db = comparison.db
    whole = {name: db.table(f"from {name}") for name in (*_PRICES, *_DAYS_OF_GUIDE, *_INDEXES)}
    ids = {table: _ids_of(games, whole["old_prices"], whole["new_prices"]) for table, games in held.items()}
    of_guide = ids.get("price_guide", pa.array([], pa.int64()))
    judged = {name: _blanked(whole[name], ids) for name in _PRICES}
    judged |= {name: whole[name].filter(pc.invert(_has(whole[name], of_guide))) for name in _DAYS_OF_GUIDE}
    games = held.get("price_guide", ())
    judged |= {name: whole[name].filter(pc.invert(_is_of(whole[name], games))) for name in _INDEXES}
    with db.registered_instead(whole, judged):
        yield


def rows_of_others(days: Mapping[str, pa.Table], held: HeldGames, comparison: Comparison) -> dict[str, pa.Table]:
    """Return rows of tables of days without those of held games."""
    prices = comparison.tables["prices"]
    found = dict(days)
    for table in held.keys() & days.keys():
        ids = _ids_of(held[table], prices["old"], prices["new"])
        found[table] = days[table].filter(pc.invert(_has(days[table], ids)))
    return found


def _ids_of(games: Collection[str | None], *sides: pa.Table) -> pa.Array:
    ids = [side.filter(_is_of(side, games))["id_product"] for side in sides]
    return pa.chunked_array([chunk for column in ids for chunk in column.chunks], pa.int64()).unique()


def _has(table: pa.Table, ids: pa.Array) -> pa.Array:
    return pc.is_in(table["id_product"], ids)


def _blanked(prices: pa.Table, ids: Mapping[str, pa.Array]) -> pa.Table:
    """Return prices that are null for some products, by table of the lake."""
    for table, products in ids.items():
        is_held = _has(prices, products)
        for name in _COLUMNS[table]:
            place = prices.schema.get_field_index(name)
            values = pc.if_else(is_held, pa.scalar(None, prices.schema.field(name).type), prices[name])
            prices = prices.set_column(place, prices.schema.field(name), values)
    return prices
