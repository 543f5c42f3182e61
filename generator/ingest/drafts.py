"""A table of the import's own between what it was and what it will be."""

from dataclasses import dataclass

import pyarrow as pa

from generator.ingest.merge import Change, count, merge
from generator.ingest.pages import fill_expansions, fill_products, last_told
from generator.ingest.tables import LakeTable, LakeWriter, decode, encode, owned_schema


@dataclass
class Draft:
    """A table before and after an import; `elsewhere` are the keys that other files of the lake have."""

    table: LakeTable
    before: pa.Table
    incoming: pa.Table
    elsewhere: pa.ChunkedArray
    after: pa.Table

    @classmethod
    def of(cls, lake: LakeWriter, table: LakeTable, sheets: list[pa.Buffer]) -> "Draft":
        """The table merged with what files say."""
        before, elsewhere = lake.read(table), lake.keys_elsewhere(table)
        incoming = pa.concat_tables([owned_schema(table).empty_table(), *map(decode, sheets)])
        after = merge(table, before, incoming, elsewhere) if len(incoming) else before
        return cls(table, before, incoming, elsewhere, after)

    @property
    def changed(self) -> bool:
        return not self.after.equals(self.before)

    def change(self) -> Change:
        counts = count(self.table, self.before, self.incoming, self.elsewhere, self.after)
        return Change(self.table.name, counts, encode(self.after) if self.changed else None)


def fill(products: Draft, expansions: Draft, pages: pa.Table) -> None:
    """Add to both drafts what list pages say."""
    if len(pages):
        told = last_told(pages)
        products.after = fill_products(products.after, told)
        expansions.after = fill_expansions(expansions.after, products.after, told, expansions.elsewhere)
