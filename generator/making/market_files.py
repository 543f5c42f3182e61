"""The files of the layers of the market that others read: the sums by day, and where the chain of the indexes ends."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from generator.making.context import BuildContext
from generator.making.market_chain import MarketChain
from generator.making.market_groups import market_groups
from generator.pack.output import Inputs

DAYS = "days"  # a row per group and day
KEPT = "kept"  # of these and of earlier periods, the rows that later periods need
LAST = ("last_groups", "last_prices")  # what `MarketChain.last` returns


def days_of(context: BuildContext, inputs: Inputs, layers: dict[str, str]) -> Iterator[pa.Table]:
    """Yield the days of layers of the market, given by their names with their digests."""
    for name, digest in layers.items():
        yield pq.read_table(context.layers.file(inputs, name, digest, DAYS), use_threads=False)


def with_kept(context: BuildContext, inputs: Inputs, before: dict[str, str], days: pa.Table) -> pa.Table:
    """Return the days of a period after those that the layers of the years before keep."""
    if not before:
        return days
    name, digest = list(before.items())[-1]
    return pa.concat_tables([pq.read_table(context.layers.file(inputs, name, digest, KEPT)), days])


def open_chain(context: BuildContext, inputs: Inputs, before: dict[str, str]) -> MarketChain:
    """Return the chain that goes on from the last of the layers of the years before, or begins."""
    groups = market_groups(context)
    if not before:
        return MarketChain(groups)
    name, digest = list(before.items())[-1]
    return MarketChain(groups, *(pq.read_table(context.layers.file(inputs, name, digest, stem)) for stem in LAST))
