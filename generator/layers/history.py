"""The layers of closed periods: `history/<period>/{id}.json`, and each price table's newest rows of the period."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from edge_auth.contract import names, pages
from edge_auth.contract.spliced import cut_member
from generator.columns import text_buffer
from generator.lake import PRICE_TABLES, Lake
from generator.layers.spec import LayerPlan, plan
from generator.packs import CutObjects, LayerWriter, hashed
from generator.periods import Period
from generator.workshop import Workshop

RECIPE = 2
SQL = (*(f"sources/{table}" for table in PRICE_TABLES), "views/month", "views/history")
PRODUCTS_PER_TASK = 2000


def plan_history(lake: Lake, period: Period) -> LayerPlan:
    """The layer of one closed period."""

    def make(workshop: Workshop, writer: LayerWriter) -> None:
        workshop.open_period(period)
        write_newest(workshop, writer)
        ids = workshop.db.table("select distinct id_product from history_sorted order by id_product")[0].to_numpy()
        write_in_ranges(workshop, writer, ids, lambda chunk: _objects(workshop, chunk))

    return plan(
        names.history_layer(period.name),
        make,
        pattern=names.history_pattern(period.name),
        recipe=RECIPE,
        sql=SQL,
        content={"prices": period.content(lake)},
    )


def write_newest(workshop: Workshop, writer: LayerWriter) -> None:
    """Keep period_<table> of each price table as a Parquet file of the layer."""
    for table in PRICE_TABLES:
        writer.add_file(f"{table}.parquet", parquet(workshop.db.table(f"from period_{table} order by id_product")))


def parquet(rows: pa.Table) -> bytes:
    """Rows as one Parquet file."""
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(rows, sink, compression="zstd")
    return sink.getvalue().to_pybytes()


def write_in_ranges(workshop: Workshop, writer: LayerWriter, ids: np.ndarray, objects) -> None:
    """Write the objects of products, ranges of ids in parallel, in the order of ids.

    Args:
        ids: sorted ids of the products to write.
        objects: from a range of ids to its (id, JSON, gzip member).
    """
    ranges = [ids[start : start + PRODUCTS_PER_TASK] for start in range(0, len(ids), PRODUCTS_PER_TASK)]
    with workshop.progress.bar(writer.layer, len(ids)) as bar:
        for made in workshop.in_order(lambda chunk: hashed(objects(chunk)), ranges):
            writer.add(made)
            bar.update(len(made))


def history_arrays(workshop: Workshop, ids: np.ndarray) -> Iterator[list[bytes]]:
    """For each product the rows of its three history arrays in the open period, as text."""
    with workshop.db.connection.cursor() as cursor:
        rows = workshop.db.table(
            "select id_product, part, history_json(part, day, a, b, c, d, e, f, n, m) || ',\n' as json "
            f"from history_sorted where id_product between {ids[0]} and {ids[-1]} order by id_product, part, day",
            cursor=cursor,
        ).combine_chunks()
    place = np.searchsorted(ids, rows["id_product"].to_numpy())
    known = ids[np.minimum(place, len(ids) - 1)] == rows["id_product"].to_numpy()
    rows, place = (rows.filter(pa.array(known)), place[known]) if not known.all() else (rows, place)
    array = place * len(pages.HISTORY_ARRAYS) + rows["part"].to_numpy()
    last = np.cumsum(np.bincount(array, minlength=len(ids) * len(pages.HISTORY_ARRAYS)))
    return _slices(rows["json"], np.concatenate(([0], last)))


def _slices(texts: pa.ChunkedArray, ends: np.ndarray) -> Iterator[list[bytes]]:
    """The texts between consecutive ends as one text each, less the last separator, three by three."""
    buffer, offsets = text_buffer(texts)
    cuts = offsets[ends].tolist()
    step = len(pages.HISTORY_ARRAYS)
    for first in range(0, len(cuts) - 1, step):
        bounds = zip(cuts[first : first + step], cuts[first + 1 : first + step + 1], strict=False)
        yield [bytes(buffer[start : max(start, end - len(pages.BETWEEN))]) for start, end in bounds]


def _objects(workshop: Workshop, ids: np.ndarray) -> CutObjects:
    for id_, arrays in zip(ids.tolist(), history_arrays(workshop, ids), strict=True):
        yield id_, *cut_member(b"", arrays, pages.PERIOD_TAIL)
