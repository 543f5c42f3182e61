"""Tasks that make parts for other tasks: a month turned from days to products, the Cards of a range, the rankings."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from edge_auth.contract import names
from edge_auth.contract.index import to_bytes
from generator.build import estimates
from generator.build.context import BuildContext
from generator.build.periods import Period, open_month
from generator.build.tasks import BuildScope, ProductRange, Task
from generator.database import Database
from generator.lake.lake import PRICE_TABLES
from generator.pack.output import Inputs
from generator.pack.writer import Writer

HISTORY, CARDS, RANKINGS = "history", "cards", "rankings"
# about 500 products of a month with all three arrays: what a range of products reads beyond its own is little
_ROWS_PER_GROUP = 40_960
ROWS_PER_TASK = 40_000_000  # of price tables: some minutes of one thread


def month_tasks(scope: BuildScope, month: Period) -> list[Task]:
    """The price tables of a month, or of as much of it as the period has; a large month in pieces of some days."""
    rows = estimates.rows(scope.lake, month.first, month.last)
    pieces = month.cut(-(-rows // ROWS_PER_TASK))
    return [_month_task(scope, piece, whole=len(pieces) == 1) for piece in pieces]


def _month_task(scope: BuildScope, days: Period, whole: bool) -> Task:
    name = f"month {days.first:%Y-%m}" + ("" if whole else f" days {days.first.day}-{days.last.day}")
    rows = estimates.rows(scope.lake, days.first, days.last)
    reads, writes = scope.lake.size(*PRICE_TABLES, first=days.first, last=days.last), rows * estimates.PART_ROW
    return Task(name, "", _month, (days, scope.ranges), rows=rows, reads=reads, writes=writes)


@dataclass(frozen=True)
class CardTasks:
    """The tasks of the open month, then each range of products as Cards, which three layers are made from."""

    month: list[Task]
    products: list[Task]

    def __iter__(self) -> Iterator[Task]:
        return iter((*self.month, *self.products))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tasks that make Cards."""
        return names_of(self.products)


def card_tasks(scope: BuildScope) -> CardTasks:
    """The tasks that every layer with Cards begins with."""
    month, closed = month_tasks(scope, open_month(scope.lake.as_of)), closed_layers(scope)
    needs = (*names_of(month), *(newest_name(name) for name in closed if name in scope.wanted))
    return CardTasks(month, [_products_task(scope, ids, needs, closed) for ids in scope.ranges])


def names_of(tasks: Iterable[Task]) -> tuple[str, ...]:
    """Names of tasks."""
    return tuple(task.name for task in tasks)


def rankings_task(scope: BuildScope) -> Task:
    """The order of all products in every sort: the one part that needs all ranges."""
    needs = tuple(products_name(ids) for ids in scope.ranges)
    size = scope.products * estimates.RANKING_ROW
    return Task(RANKINGS, "", _rankings, (), needs, rows=scope.products, reads=size, writes=size)


def newest_name(layer: str) -> str:
    """Name of the task that makes the newest rows of a closed period."""
    return f"{layer} newest rows"


def products_name(ids: ProductRange) -> str:
    """Name of the task that makes the Cards of a range."""
    return f"products {ids}"


def closed_layers(scope: BuildScope) -> dict[str, str]:
    """Digests of the layers of closed periods, oldest first."""
    both = {**scope.kept, **scope.wanted}
    return {name: both[name] for name in sorted(both) if name.startswith(names.history_layer(""))}


def open_history(context: BuildContext, inputs: Inputs, ids: ProductRange) -> None:
    """View history_sorted over the months inputs, of at least a range of products, and macro history_json."""
    context.open_history_json()
    tiles = [*context.parts(inputs, HISTORY), *context.parts(inputs, f"{HISTORY} {ids.number}")]
    context.open_files("history_sorted", tiles)


def _month(
    context: BuildContext, writer: Writer, inputs: Inputs, days: Period, ranges: tuple[ProductRange, ...]
) -> None:
    """The newest row per product of each table, and the history sorted by product, array and day.

    Where parts cannot be read in place the history is cut into the ranges that other tasks ask for.
    """
    context.open_prices(days)
    db = context.db
    for table in PRICE_TABLES:
        writer.add_part(table, _written(db, table, f"from period_{table} order by id_product"))
    tile = _written(db, HISTORY, "from history order by id_product, part, day")
    if writer.scratch.in_place:
        writer.add_part(HISTORY, tile)
    else:
        for part, path in _cut(db, tile, ranges):
            writer.add_part(part, path)
        tile.unlink()


def _written(db: Database, name: str, query: str) -> Path:
    """The result of a query as a Parquet file of the database's own folder."""
    path = db.scratch / f"{name}.parquet"
    db.connection.execute(f"copy ({query}) to '{path}' (row_group_size {_ROWS_PER_GROUP})")
    return path


def _cut(db: Database, tile: Path, ranges: tuple[ProductRange, ...]) -> Iterator[tuple[str, Path]]:
    for ids in ranges:
        name, within = f"{HISTORY} {ids.number}", f"id_product between {ids.first} and {ids.last}"
        query = f"from read_parquet('{tile}') where {within} order by id_product, part, day"
        yield name, _written(db, f"cut-{ids.number}", query)


def _products_task(scope: BuildScope, ids: ProductRange, needs: tuple[str, ...], closed: dict[str, str]) -> Task:
    writes = ids.count * estimates.CARD_ROW
    reads = ids.count * estimates.NEWEST_ROW * (len(closed) + 1)
    return Task(products_name(ids), "", _products, (ids, closed), needs, rows=ids.count, reads=reads, writes=writes)


def _products(context: BuildContext, writer: Writer, inputs: Inputs, ids: ProductRange, closed: dict[str, str]) -> None:
    """The table cards of a range: each Card as JSON, and the keys by which it is found and sorted."""
    context.open_catalogue()
    with context.db.only(ids.first, ids.last):
        context.open_newest(inputs, closed)
        context.db.run("views/cards")
    writer.add_part(CARDS, to_bytes(context.db.table("from cards order by id_product")))
    context.db.connection.execute("drop table cards")


def _rankings(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    with context.registered(cards=context.mapped(inputs, CARDS)):
        context.db.run("views/rankings")
    writer.add_part(RANKINGS, to_bytes(context.db.table("from rankings order by id_product")))
    context.db.connection.execute("drop table rankings")
