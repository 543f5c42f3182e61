"""Damages nights of a real lake in many ways, and prints which gates and remarks see each.

    python -m tests.real.disasters DATA [KIND…]

The lake has two real games and all tables (`two_games_lake`). Each kind of `damages` comes in tonight's files, or in
those of the last nights. Each such night is built and judged against the night before, as `nightly` does. A kind is
silent if no gate refuses one of its nights, and no remark is made on one, beyond what is said of these nights without
damage. A harmless change is refused if a gate refuses one of its nights.
"""

import shutil
import sys
import tempfile
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import duckdb

from generator.clock import utc_now
from generator.compare.run_reports import NO_PAST, Judgement, Past
from generator.storage.builds import Build, open_build
from generator.storage.stores.folder import FolderStore
from tests.real import two_games_lake
from tests.real.damages import HARMLESS, KINDS, DamageKind, Edit
from tests.support.nights import judge, make

WEEK = timedelta(days=6)
LATE_DAY = two_games_lake.LAST - timedelta(days=10)  # it comes with the kind that damages it


@dataclass
class Nights:
    """The real lake, and a store with the builds of its last days."""

    folder: Path
    days: list[date]
    builds: dict[date, Build] = field(default_factory=dict)
    past: Past = NO_PAST

    @property
    def store(self) -> FolderStore:
        return FolderStore(str(self.folder / "store"))

    def judge(self, kind: DamageKind) -> list[Judgement]:
        lake, builds, said = self.folder / "damaged", dict(self.builds), []
        tonights = self.days[-kind.nights :]
        for number, tonight in enumerate(tonights, 1):
            shutil.rmtree(lake, ignore_errors=True)
            self.copy(lake, tonight)
            for night, day in enumerate(tonights[:number], 1):
                for edit in kind.edits:
                    self._damage(lake, replace(edit, query=edit.query.replace("{night}", str(night))), day)
            before = [build for day, build in sorted(builds.items()) if day < tonight]
            builds[tonight] = open_build(self.store, make(lake, self.store))
            week = [build for build in before if build.as_of <= tonight - WEEK]
            past = replace(self.past, week=week[-1] if week else None, before=before[-2] if len(before) > 1 else None)
            said.append(judge(before[-1], builds[tonight], now=utc_now(), past=past))
        return said

    def copy(self, lake: Path, until: date, late: bool = False) -> None:
        """Copy the lake with its days up to one."""

        def newer(folder: str, names: list[str]) -> list[str]:
            return [name for name in names if name.startswith("day=") and self._is_absent(name, until, late)]

        shutil.copytree(self.folder / "lake", lake, ignore=newer)

    def _is_absent(self, name: str, until: date, late: bool) -> bool:
        return name > f"day={until}" or (name == f"day={LATE_DAY}" and not late)

    def _damage(self, lake: Path, edit: Edit, night: date) -> None:
        day = night - timedelta(days=edit.back)
        file = (
            f"{edit.table}.parquet"
            if (lake / f"{edit.table}.parquet").exists()
            else f"{edit.table}/day={day}/part.parquet"
        )
        (lake / file).parent.mkdir(exist_ok=True)
        with duckdb.connect() as db:
            db.execute(
                f"create table rows as from read_parquet('{self.folder}/lake/{file}', hive_partitioning = false)"
            )
            db.execute(
                f"""create view products as select p.id_product, kind, id_expansion, game
                from '{self.folder}/lake/products.parquet' as p
                join '{self.folder}/lake/expansions.parquet' as e on id_expansion = e.id"""
            )
            for age in (1, 3, 7):
                before = max((known for known in self.days if known <= day - timedelta(days=age)), default=self.days[0])
                older = f"{self.folder}/lake/{edit.table}/day={before}/part.parquet"
                if Path(older).exists():
                    db.execute(f"create view d{age} as from read_parquet('{older}', hive_partitioning = false)")
            db.execute(f"copy (from ({edit.query}) order by all) to '{lake}/{file}'")


def prepare(folder: Path, data: Path) -> Nights:
    """Write the lake, and build the nights before the last ones."""
    nights = Nights(folder, two_games_lake.main(str(data), folder / "lake"))
    for day in nights.days[-12:-1]:
        shutil.rmtree(folder / "damaged", ignore_errors=True)
        nights.copy(folder / "damaged", day)
        nights.builds[day] = open_build(nights.store, make(folder / "damaged", nights.store))
    known = [nights.builds[day] for day in sorted(nights.builds)]
    columns = tuple(judge(old, new, now=utc_now()).columns for old, new in pairwise(known))
    nights.past = Past(columns=columns)
    return nights


def said(judgements: list[Judgement]) -> tuple[set[str], set[str]]:
    """Return the gates and the remarks of some nights."""
    gates = {verdict.gate for judgement in judgements for verdict in judgement.breaches}
    return gates, {remark.gate for judgement in judgements for remark in judgement.remarks}


def main(data: Path, *kinds: str) -> None:
    """Print a table: each kind, and the gates or remarks that see it; then how many are silent."""
    if not data.is_dir():
        print(f"skipped: there is no real data at {data}")
        return
    silent: list[str] = []
    refused: list[str] = []
    usual: dict[int, set[str]] = {}  # what is said of the same nights without damage, by their number
    with tempfile.TemporaryDirectory(prefix="cardpress-disasters-") as folder:
        nights = prepare(Path(folder), data)
        known = {"nothing": DamageKind(())} | HARMLESS | KINDS
        chosen = {name: known[name] for name in kinds or known}
        for name, kind in chosen.items():
            gates, remarks = said(nights.judge(kind))
            if kind.nights not in usual:
                usual[kind.nights] = set().union(*said(nights.judge(DamageKind((), kind.nights))))
            silent += [name] * (name in KINDS and gates | remarks <= usual[kind.nights])
            refused += [name] * (name not in KINDS and not gates <= usual[kind.nights])
            print(f"| {name} | {', '.join(sorted(gates)) or '-'} | {', '.join(sorted(remarks)) or '-'} |", flush=True)
    damages = len(KINDS.keys() & chosen.keys())
    print(f"{damages} kinds of damage, {len(silent)} of them silent: {', '.join(silent) or '-'}")
    print(f"{len(chosen) - damages} harmless changes, {len(refused)} of them refused: {', '.join(refused) or '-'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
