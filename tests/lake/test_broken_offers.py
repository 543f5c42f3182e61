"""A file whose lists of offers cannot be read is refused, with its path."""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from generator.database import Database
from generator.errors import LakeError
from generator.lake.files import LakeFile
from generator.lake.tables import open_table, summarise_offers
from generator.threads import Resources

TABLE = "filtered_checks"
OFFER = {"price": 1.1, "condition": "NM", "quantity": 1, "seller": "s"}
CHECK: dict[str, Any] = {
    "id_product": 1, "checked_at": datetime(2026, 1, 5), "offers": 1, "lowest": 1.1, "cheapest_seller": "s",
    "cheapest_condition": "NM", "offer_list": [OFFER],
}  # fmt: skip


def table_of(checks: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(checks)


def put(lake: Path, number: int, table: pa.Table, **options: Any) -> LakeFile:
    """Write a table as the file of a day."""
    day = date(2026, 1, 5 + number)
    path = lake / TABLE / f"day={day}" / f"{number}.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(table, path, **options)
    return LakeFile(str(path.relative_to(lake)), TABLE, day, path=str(path))


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with closing(Database(Resources(1, "500MB"))) as database:
        yield database


def damaged(column: int) -> Callable[[Path], LakeFile]:
    """Write a file, and overwrite the pages of a column."""

    def write(lake: Path) -> LakeFile:
        file = put(lake, 1, table_of([CHECK] * 3000), compression="zstd", use_dictionary=False)
        chunk = pq.read_metadata(file.path).row_group(0).column(column)
        start, size = chunk.data_page_offset, chunk.total_compressed_size
        content = bytearray(Path(file.path).read_bytes())
        content[start + size // 2 : start + size] = bytes(size - size // 2)
        Path(file.path).write_bytes(content)
        return file

    return write


def not_utf8(column: str) -> Callable[[Path], LakeFile]:
    """Write a file with a text that is not UTF-8."""

    def write(lake: Path) -> LakeFile:
        check = CHECK | ({column: "<wrong>"} if column in CHECK else {"offer_list": [OFFER | {column: "<wrong>"}]})
        file = put(lake, 1, table_of([check]), compression="none", write_statistics=False)
        content = Path(file.path).read_bytes()
        assert content.count(b"<wrong>") == 1
        Path(file.path).write_bytes(content.replace(b"<wrong>", b"<wr\xffng>"))
        return file

    return write


BROKEN: dict[str, Callable[[Path], LakeFile]] = {
    "damaged pages of quantities": damaged(8),
    "damaged pages of sellers": damaged(9),
    "damaged pages of times": damaged(1),
    "a seller": not_utf8("seller"),
    "a condition": not_utf8("condition"),
    "the cheapest seller": not_utf8("cheapest_seller"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_by_name(tmp_path: Path, database: Database, name: str) -> None:
    files = [put(tmp_path, 0, table_of([CHECK])), BROKEN[name](tmp_path)]
    open_table(database, TABLE, files)
    with pytest.raises(LakeError) as refused:
        summarise_offers(database, TABLE)
    assert files[1].path in str(refused.value)
