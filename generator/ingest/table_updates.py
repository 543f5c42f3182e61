"""Table files before and after an import: imported rows merged in, values of list pages added."""

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from generator.ingest.games import GameOfFile, add_unnamed, fill_games
from generator.ingest.list_page_values import (
    add_to_expansions,
    add_to_products,
    latest_values,
    list_pages_file,
    merge_list_pages,
)
from generator.ingest.merge import FileChange, count_changes, merge
from generator.ingest.table_files import TableFile, expansions_file, products_file
from generator.lake.writer import LakeWriter, decode_parquet, encode_parquet


@dataclass
class TableUpdate:
    """A table file before and after an import.

    Attributes:
        incoming: The imported rows.
        other_keys: Keys that other files of the same table have.
    """

    file: TableFile
    before: pa.Table
    incoming: pa.Table
    other_keys: pa.ChunkedArray
    after: pa.Table

    @property
    def is_changed(self) -> bool:
        """Whether the import changes the file."""
        return not self.after.equals(self.before)

    def change(self) -> FileChange:
        """Return the new content of the file, if it changed, and the counts."""
        counts = count_changes(self.file, self.before, self.incoming, self.other_keys, self.after)
        return FileChange(self.file.path, counts, encode_parquet(self.after) if self.is_changed else None)


def update_table(lake: LakeWriter, file: TableFile, imported: Iterable[pa.Buffer] = ()) -> TableUpdate:
    """Merge imported rows, each buffer one Parquet file of them, into a table file of the lake, one after the other."""
    before, other_keys = file.read(lake), file.keys_in_other_files(lake)
    tables = [file.imported_schema.empty_table(), *map(decode_parquet, imported)]
    after = before
    for rows in filter(len, tables):
        after = merge(file, after, rows, other_keys)
    return TableUpdate(file, before, pa.concat_tables(tables), other_keys, after)


def complete_catalogue(
    products: TableUpdate,
    expansions: TableUpdate,
    pages: pa.Table,
    of_files: Iterable[GameOfFile] = (),
) -> None:
    """Add the values of list pages to both tables, and to the expansions those without a name, and their games.

    Args:
        of_files: The games that the numbers of files tell.
    """
    if len(pages):
        latest = latest_values(pages)
        products.after = add_to_products(products.after, latest)
        expansions.after = add_to_expansions(expansions.after, products.after, latest, expansions.other_keys)
    expansions.after = add_unnamed(expansions.after, products.after, expansions.other_keys)
    if len(expansions.after):
        expansions.after = fill_games(expansions.after, products.after, of_files)


def update_from_pages(
    lake: LakeWriter,
    pages: pa.Table,
    names: Iterable[pa.Buffer] = (),
    of_files: Iterable[GameOfFile] = (),
) -> tuple[dict[str, pa.Buffer], TableUpdate, TableUpdate]:
    """Add values to those that the lake stores of list pages, and update products and expansions from all of them.

    Args:
        pages: All columns of list pages.
        names: Imported rows of expansions, each buffer one Parquet file of them.
        of_files: As for `complete_catalogue`.

    Returns:
        The file of stored values by its path, if it changed; the products; the expansions.
    """
    before = list_pages_file().read(lake)
    stored = merge_list_pages(before, pages)
    products, expansions = update_table(lake, products_file()), update_table(lake, expansions_file(), names)
    products.incoming = pages.select(["id_product"])  # to count the products that other files have
    complete_catalogue(products, expansions, stored, of_files)
    changed = {} if stored.equals(before) else {list_pages_file().path: encode_parquet(stored)}
    return changed, products, expansions
