"""The numbers of lists of offers are the same by Arrow, for usual files, and by SQL, for any file."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.database import Database
from generator.errors import LakeError
from generator.lake.files import LakeFile
from generator.lake.filtered_checks import NUMBERS_OF_CHECKS, summarise_checks
from generator.lake.offer_numbers import read_usual, summaries
from generator.lake.prices_and_conditions import CONDITIONS
from generator.lake.tables import open_table, summarise_offers

TABLE = "filtered_checks"
NONE = np.empty(0, np.int64)
FIRST_DAY = date(2026, 1, 5)
PRICES = [0.0, -0.0, 0.02, 5e-324, 7.0, -1.0, -0.01, 1e13, 1.1e13, math.inf, -math.inf, math.nan]

Row = dict[str, Any]


def optional(values: Sequence[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from([*values, None])


prices = st.one_of(optional(PRICES), st.sampled_from([1.5, 2.5]), st.floats())
offers = st.fixed_dictionaries(
    {
        "price": prices,
        "condition": st.one_of(st.sampled_from(list(CONDITIONS)), optional(["nm", "NM ", "", "XX"])),
        "quantity": optional([1, 0, -3]),
        "seller": optional(["", "kaartenhoek", "żółw"]),
    }
)
rows = st.fixed_dictionaries(
    {
        "id_product": optional([1, 2, -5]),
        "checked_at": optional([datetime(2026, 1, 5, 10, 30, 0, 123456), datetime(1969, 12, 31)]),
        "offers": optional([0, 3]),
        "lowest": prices,
        "cheapest_seller": optional(["a", "b", ""]),
        "cheapest_condition": optional(["NM", "x"]),
        "offer_list": st.one_of(st.none(), st.lists(st.one_of(st.none(), offers, offers), max_size=6)),
    }
)
tables = st.lists(rows, max_size=12)


def table_of(checks: list[Row], count: pa.DataType | None = None) -> pa.Table:
    """Return checks with the usual columns. Counts have 64 bits unless told otherwise."""
    count = count or pa.int64()
    fields = [("price", pa.float64()), ("condition", pa.string()), ("quantity", count), ("seller", pa.string())]
    types = {
        "id_product": pa.int64(),
        "checked_at": pa.timestamp("us"),
        "offers": count,
        "lowest": pa.float64(),
        "cheapest_seller": pa.string(),
        "cheapest_condition": pa.string(),
        "offer_list": pa.list_(pa.struct(fields)),
    }
    return pa.table({name: pa.array([row[name] for row in checks], type_) for name, type_ in types.items()})


def is_usual(file: LakeFile) -> bool:
    return read_usual(file, NONE) is not None


def put(lake: Path, number: int, table: pa.Table, per_day: int = 1, **options: Any) -> LakeFile:
    """Write a table as a file. Each day has `per_day` files."""
    day = FIRST_DAY + timedelta(days=number // per_day)
    path = lake / TABLE / f"day={day}" / f"{number}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, **options)
    return LakeFile(str(path.relative_to(lake)), TABLE, day, path=str(path))


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with closing(Database(1, "500MB")) as database:
        yield database


Tables = dict[str, tuple[list[Any], list[Any]]]


def by_sql(database: Database, files: list[LakeFile]) -> Tables:
    open_table(database, TABLE, files)
    summarise_offers(database, TABLE)
    database.run(*NUMBERS_OF_CHECKS[1:])
    return made(database)


def by_arrow(database: Database, files: list[LakeFile]) -> Tables:
    open_table(database, TABLE, files)
    summarise_checks(database, files)
    assert database.rows(f"select count(*) from raw.{TABLE}") == database.rows("select count(*) from check_summaries")
    return made(database)


def made(database: Database) -> Tables:
    """Return the columns and the rows of the tables, in any order."""
    return {
        table: (
            database.rows(f"describe {table}"),
            sorted(map(comparable, database.rows(f"from {table}")), key=repr),
        )
        for table in ("check_summaries", "newest_checks", "repeated_keys")
    }


def comparable(value: Any) -> Any:
    """Return a value of a row, or a row, in which NaN equals NaN."""
    if isinstance(value, dict):
        return {name: comparable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(comparable, value))
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


@settings(max_examples=5 * settings.default.max_examples)
@given(
    st.lists(tables, max_size=3),
    st.sampled_from([pa.int32(), pa.int64()]),
    st.permutations(range(7)),
    st.sampled_from([1, 2, 5, 1000]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 2]),
)
def test_both_ways_agree(
    tmp_path_factory: pytest.TempPathFactory,
    database: Database,
    days: list[list[Row]],
    count: pa.DataType,
    order: list[int],
    rows_per_group: int,
    element: bool,
    with_dictionary: bool,
    per_day: int,
) -> None:
    lake = tmp_path_factory.mktemp("lake")
    tables = [table_of(checks, count).select(order) for checks in days]
    options: dict[str, Any] = {"use_compliant_nested_type": element, "use_dictionary": with_dictionary}
    options |= {"row_group_size": rows_per_group, "per_day": per_day}
    files = [put(lake, number, table, **options) for number, table in enumerate(tables)]
    assert all(is_usual(file) for file in files)
    assert by_arrow(database, files) == by_sql(database, files)


def offer(price: float | None, **fields: str | None) -> Row:
    """Return a usable offer, unless the price or a field says otherwise."""
    return {"price": price, "condition": "NM", "quantity": 1, "seller": "s"} | fields


CHECK = {
    "id_product": 1, "checked_at": datetime(2026, 1, 5), "offers": 1, "lowest": 1.1, "cheapest_seller": "s",
    "cheapest_condition": "NM", "offer_list": [offer(1.1), None, offer(-2.0, seller=None)],
}  # fmt: skip
SOME_OFFERS = [
    None,
    offer(None),
    *map(offer, [2.5, 7.0, -1.0, math.nan, math.inf, -math.inf]),
    *(offer(price, seller=None) for price in (3.0, math.nan)),
    *(offer(price, condition="XX") for price in (4.0, -2.0)),
]


def test_both_ways_agree_on_all_short_lists(tmp_path: Path, database: Database) -> None:
    lists = [list(some) for length in range(4) for some in itertools.product(SOME_OFFERS, repeat=length)]
    lists += [[offer(2.5, condition=code)] for code in (*CONDITIONS, "nm", "N", "", None)]
    files = [put(tmp_path, 0, table_of([CHECK | {"offer_list": some} for some in [None, *lists]]))]
    assert is_usual(files[0])
    assert by_arrow(database, files) == by_sql(database, files)


@settings(max_examples=40)
@given(tables.filter(bool), st.data())
def test_a_slice_gives_the_rows_of_the_whole(checks: list[Row], data: st.DataObject) -> None:
    batch = with_dictionaries(table_of(checks))
    first = data.draw(st.integers(0, len(checks)))
    length = data.draw(st.integers(0, len(checks) - first))
    whole, part = summaries(batch, FIRST_DAY), summaries(batch.slice(first, length), FIRST_DAY)
    expected = [comparable(tuple(row.values())) for row in whole.slice(first, length).to_pylist()]
    assert [comparable(tuple(row.values())) for row in part.to_pylist()] == expected


def with_dictionaries(table: pa.Table) -> pa.RecordBatch:
    """Return a table with its texts as dictionaries, as from a Parquet file that is read so."""
    text = pa.dictionary(pa.int32(), pa.string())
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    paths = [f"offer_list.list.element.{name}" for name in ("condition", "seller")]
    names = ["cheapest_seller", "cheapest_condition"]
    [batch] = pq.read_table(sink.getvalue(), read_dictionary=[*paths, *names]).to_batches()
    assert batch["offer_list"].type.value_type.field("seller").type == text == batch["cheapest_seller"].type
    return batch


USUAL = table_of([CHECK, CHECK | {"id_product": 2, "offer_list": []}, CHECK | {"id_product": 3, "offer_list": None}])


def changed(column: str, type_: pa.DataType) -> pa.Table:
    """Return the usual table with another type of a column."""
    place = USUAL.schema.get_field_index(column)
    return USUAL.set_column(place, column, pa.array(USUAL[column].to_pylist(), type_))


def offers_of(**types: pa.DataType) -> pa.DataType:
    """Return the type of a list of offers."""
    return pa.list_(pa.struct(list(types.items())))


DOUBLE, TEXT, COUNT = pa.float64(), pa.string(), pa.int32()
DECIMALS = pa.array([[{"price": Decimal("2.50"), "condition": "NM", "quantity": 1, "seller": "s"}], [], None])
UNUSUAL: dict[str, pa.Table] = {
    "no lowest": USUAL.drop_columns("lowest"),
    "no lists": USUAL.drop_columns("offer_list"),
    "another column": USUAL.append_column("extra", pa.array(["x"] * 3)),
    "a day of its own": USUAL.append_column("day", pa.array([date(2020, 1, 1)] * 3)),
    "names in capitals": USUAL.rename_columns([name.upper() for name in USUAL.schema.names]),
    "lowest of 32 bits": changed("lowest", pa.float32()),
    "a count of 16 bits": changed("offers", pa.int16()),
    "a time with a zone": changed("checked_at", pa.timestamp("us", "Europe/Berlin")),
    "a time in nanoseconds": changed("checked_at", pa.timestamp("ns")),
    "large texts": changed("cheapest_seller", pa.large_string()),
    "nulls without a type": USUAL.set_column(4, "cheapest_seller", pa.nulls(3)),
    "offers without quantity": changed("offer_list", offers_of(price=DOUBLE, condition=TEXT, seller=TEXT)),
    "prices of 32 bits": changed(
        "offer_list", offers_of(price=pa.float32(), condition=TEXT, quantity=COUNT, seller=TEXT)
    ),
    "prices as decimals": USUAL.set_column(6, "offer_list", DECIMALS),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_file_is_read_by_sql(tmp_path: Path, database: Database, name: str) -> None:
    files = [put(tmp_path, number, table) for number, table in enumerate([USUAL, UNUSUAL[name], USUAL])]
    assert [is_usual(file) for file in files] == [True, False, True]
    found = by_arrow(database, files)
    assert found == by_sql(database, files)
    assert len(found["check_summaries"][1]) == 9
    assert len(found["newest_checks"][1]) == 3


def test_offers_with_fields_in_another_order(tmp_path: Path, database: Database) -> None:
    reordered = changed("offer_list", offers_of(seller=TEXT, price=DOUBLE, quantity=COUNT, condition=TEXT))
    files = [put(tmp_path, 0, reordered)]
    assert is_usual(files[0])
    assert by_arrow(database, files) == by_sql(database, files)


def test_the_columns_of_the_table(tmp_path: Path, database: Database) -> None:
    file = put(tmp_path, 0, USUAL)
    columns, _ = by_sql(database, [file])["check_summaries"]
    read = read_usual(file, NONE)
    assert read is not None
    database.connection.register("rows", pa.Table.from_batches([rows.summaries for rows in read]))
    assert database.rows("describe from rows") == columns
    database.connection.unregister("rows")


def test_many_rows_are_inserted_in_parts(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [put(tmp_path, number, USUAL) for number in range(5)]
    inserted: list[int] = []
    insert = Database.insert

    def counted(self: Database, table: str, query: str, batch: pa.Table) -> None:
        if table == "check_summaries":
            inserted.append(len(batch))
        insert(self, table, query, batch)

    monkeypatch.setattr(Database, "insert", counted)
    monkeypatch.setattr("generator.lake.filtered_checks._ROWS_PER_INSERT", 6)
    assert by_arrow(database, files) == by_sql(database, files)
    assert inserted == [6, 6, 3]


def damaged(column: int) -> Callable[[Path], LakeFile]:
    """Write a usual file, and overwrite the pages of a column."""

    def write(lake: Path) -> LakeFile:
        file = put(lake, 1, pa.concat_tables([USUAL] * 1000), compression="zstd", use_dictionary=False)
        chunk = pq.read_metadata(file.path).row_group(0).column(column)
        start, size = chunk.data_page_offset, chunk.total_compressed_size
        content = bytearray(Path(file.path).read_bytes())
        content[start + size // 2 : start + size] = bytes(size - size // 2)
        Path(file.path).write_bytes(content)
        return file

    return write


def not_utf8(column: str) -> Callable[[Path], LakeFile]:
    """Write a usual file with a text that is not UTF-8."""

    def write(lake: Path) -> LakeFile:
        checks = [CHECK | {"offer_list": [offer(1.0) | {column: "<wrong>"}]}]
        if column in CHECK:
            checks = [CHECK | {column: "<wrong>"}]
        file = put(lake, 1, table_of(checks), compression="none", write_statistics=False)
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
def test_a_broken_file_gives_the_message_of_sql(tmp_path: Path, database: Database, name: str) -> None:
    files = [put(tmp_path, 0, USUAL), BROKEN[name](tmp_path)]
    messages = []
    for read in (by_sql, by_arrow):
        with pytest.raises(LakeError) as refused:
            read(database, files)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]
    assert files[1].path in messages[0]
