"""One comparison of two builds: a scratch database with a table of each side for everything that is compared.

Every table has the name of its side in front, `old_` or `new_`; the old side is empty where there is no old build.

    <side>_prices       what a build knows of each product: its newest prices and its texts
    <side>_sets         id, name
    <side>_identifiers  id_product, scheme, value: the ids of other catalogues
    <side>_cards        id, card_sha256, product_sha256: the hash of the Card's line, and of the line before its prices
    <side>_objects      key, json_sha256: the stored objects of one layer, or the list pages (`diff`)

`build/checks/two_builds.sql` lists those that only gates read. Each is read once, when it is first asked for: a night
makes one comparison, and the gates, the documents of /changes and the pages read it in turn.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

import duckdb
import pyarrow as pa

from edge_auth.builds import layer_names
from edge_auth.builds.builds import Build
from edge_auth.builds.catalogue import SETS
from edge_auth.builds.index import map_table
from generator.compare.rows import NO_PRICES, card_hashes, newest_prices, read_bulk_table
from generator.database import Database, query_fault
from generator.errors import BuildError
from generator.pack.verify import checked_file
from generator.threads import USUAL, Resources

_NO_SETS = pa.schema([("id", pa.int64()), ("name", pa.string())]).empty_table()
_IDENTIFIERS = pa.schema([("id_product", pa.int64()), ("scheme", pa.string()), ("value", pa.string())])


class Comparison:
    """Two builds, and the database that compares them.

    Args:
        old: The earlier build, or None.
        resources: What DuckDB may use.
    """

    def __init__(self, old: Build | None, new: Build, resources: Resources = USUAL):
        self.old, self.new = old, new
        self.db = Database(resources)

    @property
    def sides(self) -> tuple[tuple[str, Build | None], ...]:
        """Both builds with the names of their sides."""
        return ("old", self.old), ("new", self.new)

    def close(self) -> None:
        """Drop the database."""
        self.db.close()

    def is_of(self, old: str, new: str) -> bool:
        """Return whether this compares the builds with these ids."""
        return self.old is not None and (self.old.id, self.new.id) == (old, new)

    @cached_property
    def products(self) -> dict[str, pa.Table]:
        """The tables <side>_prices, by side; <side>_sets is made with them.

        Raises:
            DamageError: A file differs from its hash.
            StoreError: A file cannot be read.
        """
        made = {}
        for side, build in self.sides:
            made[side], sets = NO_PRICES, _NO_SETS
            if build:
                catalogue = build.layers[layer_names.CATALOGUE]
                made[side], sets = newest_prices(catalogue), map_table(checked_file(catalogue, SETS))
            self.db.connection.register(f"{side}_prices", made[side])
            self.db.connection.register(f"{side}_sets", sets)
        return made

    @cached_property
    def identifiers(self) -> dict[str, pa.Table]:
        """The tables <side>_identifiers, by side.

        Raises:
            DamageError, StoreError: As `products`.
        """
        made = {}
        for side, build in self.sides:
            made[side] = read_bulk_table(build, "identifiers", _IDENTIFIERS) if build else _IDENTIFIERS.empty_table()
            self.db.connection.register(f"{side}_identifiers", made[side])
        return made

    @cached_property
    def cards(self) -> dict[str, pa.Table]:
        """The tables <side>_cards, by side.

        Raises:
            StoreError: A catalogue cannot be read.
        """
        made = {side: card_hashes(build) for side, build in self.sides if build}
        for side, table in made.items():
            self.db.connection.register(f"{side}_cards", table)
        return made


@contextmanager
def compare(old: Build | None, new: Build, resources: Resources = USUAL) -> Iterator[Comparison]:
    """Compare two builds. The comparison is valid inside the `with` block.

    Raises:
        BuildError, StoreError: A build cannot be read, or DuckDB fails.
    """
    comparison = Comparison(old, new, resources)
    try:
        with named_faults(comparison):
            yield comparison
    finally:
        comparison.close()


@contextmanager
def named_faults(comparison: Comparison) -> Iterator[None]:
    """Name the builds in an error of DuckDB inside the `with` block.

    Raises:
        BuildError: DuckDB failed.
    """
    try:
        yield
    except duckdb.Error as error:
        builds = f"{comparison.old.id} and {comparison.new.id}" if comparison.old else comparison.new.id
        raise query_fault(error, f"{builds} cannot be compared", BuildError) from error
