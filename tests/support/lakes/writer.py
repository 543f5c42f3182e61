"""Writes the rows of a lake as a folder of Parquet, plainly or in any of the ways the contract allows."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.lakes.rows import COLUMNS, REQUIRED, Row, Rows

WIDTHS = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
TIMES = tuple(pa.timestamp(unit, tz) for unit in ("ms", "us", "ns") for tz in (None, "UTC", "Europe/Berlin"))
TEXTS = (pa.string(), pa.large_string())


def write(rows: Rows, folder: Path, seed: int | None = None) -> Path:
    """Write the lake into the folder and return it.

    Without a seed: one file per table and day, plain types. With one: rows spread over several files with
    shuffled names, integer widths, time units and zones varied, all-null optional columns sometimes left
    out, sometimes with extra columns. Both say the same.
    """
    maker = Plain() if seed is None else Varied(random.Random(seed))
    for table, some in rows.whole():
        maker.files(table, some, folder, table)
    for table, day, some in rows.daily():
        maker.files(table, some, folder / table / f"day={day}", "part")
    if rows.recipe is not None:
        (folder / "fingerprints.json").write_text(json.dumps(rows.recipe, ensure_ascii=False), "utf-8")
    return folder


class Plain:
    """One file, 64-bit integers, microseconds without a zone, every column."""

    def files(self, table: str, rows: list[Row], folder: Path, stem: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(self.table(table, rows), folder / f"{stem}.parquet")

    def table(self, table: str, rows: list[Row]) -> pa.Table:
        arrays = {}
        for name, kind in COLUMNS[table].items():
            values = [row.get(name) for row in rows]
            if not self.leaves_out(name in REQUIRED[table], values):
                arrays[name] = self.array(kind, values)
        return pa.table(arrays)

    def array(self, kind: Any, values: list[Any]) -> pa.Array:
        if kind == "time":
            return _times(values, self.time())
        return pa.array(values, self.type(kind, values))

    def type(self, kind: Any, values: list[Any]) -> pa.DataType:
        """The Arrow type of a column; an offer list is a list of structs of such types."""
        if isinstance(kind, dict):
            offers = [offer or {} for offers in values for offer in offers or []]
            fields = [(name, self.type(of, [o.get(name) for o in offers])) for name, of in kind.items()]
            return pa.list_(pa.struct(fields))
        if kind == "ints":
            return pa.list_(pa.int64())
        return {"int": self.integer, "text": lambda _: self.text(), "double": lambda _: pa.float64()}[kind](values)

    def leaves_out(self, required: bool, values: list[Any]) -> bool:
        return False

    def time(self) -> pa.DataType:
        return pa.timestamp("us")

    def text(self) -> pa.DataType:
        return pa.string()

    def integer(self, values: list[Any]) -> pa.DataType:
        return pa.int64()


class Varied(Plain):
    """Everything a lake may do without saying anything else."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def files(self, table: str, rows: list[Row], folder: Path, stem: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        pieces: list[list[Row]] = [[] for _ in range(self.rng.randint(1, 3))]
        for row in self.rng.sample(rows, len(rows)):
            self.rng.choice(pieces).append(row)
        for piece in pieces:
            name = f"{stem}{self.rng.choice(['', '-', '_x', '.'])}{self.rng.getrandbits(40):x}.parquet"
            pq.write_table(self._with_extra(self.table(table, piece)), folder / name)

    def leaves_out(self, required: bool, values: list[Any]) -> bool:
        empty = all(value is None for value in values)
        return not required and empty and self.rng.random() < 0.5

    def time(self) -> pa.DataType:
        return self.rng.choice(TIMES)

    def text(self) -> pa.DataType:
        return self.rng.choice(TEXTS)

    def integer(self, values: list[Any]) -> pa.DataType:
        known = [value for value in values if value is not None]
        return self.rng.choice([width for width in WIDTHS if _fits(known, width)])

    def _with_extra(self, table: pa.Table) -> pa.Table:
        if self.rng.random() < 0.7:
            return table
        return table.add_column(0, "remark", pa.array(["unasked"] * table.num_rows, pa.string()))


def _fits(values: list[int], width: pa.DataType) -> bool:
    signed = pa.types.is_signed_integer(width)
    least, most = (
        (-(2 ** (width.bit_width - 1)), 2 ** (width.bit_width - 1) - 1) if signed else (0, 2**width.bit_width - 1)
    )
    return all(least <= value <= most for value in values)


def _times(values: list[str | None], kind: pa.DataType) -> pa.Array:
    per_second = {"ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
    ticks = [None if v is None else _microseconds(v) * per_second // 10**6 for v in values]
    return pa.array(ticks, pa.int64()).cast(kind)


def _microseconds(text: str) -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (moment.days * 86400 + moment.seconds) * 10**6 + moment.microseconds
