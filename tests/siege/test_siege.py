"""A short siege: every attack for a second, with few connections. Times on a busy machine say nothing, failures do."""

import shutil
from pathlib import Path

from tests.siege.attacks import ATTACKS
from tests.siege.run import BROKEN, besiege, table


def test_a_short_siege(fixed_store: Path, tmp_path: Path) -> None:
    store = shutil.copytree(fixed_store, tmp_path / "store")
    results = list(besiege(store, tmp_path / "state", 1, 1_300))
    assert [result.attack for result in results] == list(ATTACKS)
    assert not any(BROKEN in result.got for result in results), "\n".join(table(results))
    assert not any(result.figures.failures for result in results), "\n".join(table(results))
