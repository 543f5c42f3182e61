"""Leaves the rows of a game out of day files: a quarantine may hold one game's rows, and let builds read the others."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from generator.database import Database
from generator.lake.files import LakeFile, LakeFiles
from generator.lake.quarantine import PRICE_TABLES, FileKey
from generator.lake.tables import open_table


def games_left_out(file: LakeFile, left_out: Collection[FileKey]) -> list[str]:
    """Return the games whose rows of a file are left out, sorted."""
    whole = FileKey(file.table, str(file.day), file.sha256)
    return sorted(key.game for key in left_out if key.game is not None and key.whole == whole)


def without_games(files: list[LakeFile], backend: LakeFiles, left_out: Collection[FileKey]) -> list[LakeFile]:
    """Return the files of a lake, each with the ids of the products whose rows are left out.

    Raises:
        LakeError: The products or expansions, or a file with such rows, cannot be read.
    """
    games = {file.name: games for file in files if (games := games_left_out(file, left_out))}
    if not games:
        return files
    database = Database(threads=1)
    try:
        for table in ("products", "expansions"):
            open_table(database, table, backend.fetch(table, [file for file in files if file.table == table]))
        return [
            replace(file, held=tuple(_held(database, backend, file, games[file.name]))) if file.name in games else file
            for file in files
        ]
    finally:
        database.close()


def _held(database: Database, backend: LakeFiles, file: LakeFile, games: Iterable[str]) -> Iterator[int]:
    """Yield the ids in a file that belong to games, ascending."""
    assert file.table in PRICE_TABLES, f"rows of {file.table} are of no game"
    open_table(database, file.table, backend.fetch(file.table, [file]))
    database.set(games=list(games))
    rows = database.rows(
        f"""
        select distinct r.id_product
        from raw.{file.table} as r
        join raw.products as p using (id_product)
        left join raw.expansions as e on p.id_expansion = e.id
        where coalesce(fold(e.game), '') in (select fold(unnest(getvariable('games')::varchar[])))
        order by 1
        """
    )
    return (id_ for (id_,) in rows)
