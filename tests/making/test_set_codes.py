"""The index of set codes: a code belongs to a set with more than nine of ten of its cards."""

from contextlib import closing
from datetime import date
from pathlib import Path

from generator.lake.lake import open_lake
from generator.making.lake_tables import CATALOGUE, IDENTIFIERS
from generator.making.work import BuildContext
from generator.storage.stores.folder import FolderStore
from generator.threads import ONE_THREAD
from tests.support.lakes.rows import Rows
from tests.support.lakes.writer import write

ELSEWHERE = {"tie": (9, 1), "few": (10, 1), "all": (1, 0), "none": (0, 3)}  # cards in set 1, and outside it


def test_a_code_of_nine_in_ten_cards_means_no_set(tmp_path: Path) -> None:
    sets = {
        f"{code}/{n}": 1 if n < inside else None
        for code, (inside, out) in ELSEWHERE.items()
        for n in range(inside + out)
    }
    ids = dict(enumerate(sets, 1))
    products = [
        {"id_product": id_, "name": "Emberfox", "kind": "single", "id_expansion": sets[value]}
        for id_, value in ids.items()
    ]
    rows = [{"id_product": id_, "scheme": "set_number", "value": value} for id_, value in ids.items()]
    expansions = [{"id": 1, "name": "Ashen Peaks", "game": "Mythgrove"}]
    folder = write(Rows(products=products, expansions=expansions, identifiers=rows), tmp_path / "lake")
    lake = open_lake(str(folder), date(2026, 2, 3))
    with closing(BuildContext(lake, FolderStore(str(tmp_path / "store")), ONE_THREAD)) as context:
        context.tables.open(CATALOGUE)
        context.tables.open(IDENTIFIERS)
        context.db.run("views/set_codes")
        assert context.db.rows("from set_codes") == [("all", 1), ("few", 1)]
