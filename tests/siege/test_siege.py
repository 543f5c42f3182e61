"""A short siege: half a second for each attack, few connections. Times on a busy machine say nothing, failures do."""

import shutil
from pathlib import Path

import pytest

from tests.siege.run import ALL, besiege, is_broken, table
from tests.support.programs import needs

THROUGH_NGINX = pytest.param(True, id="nginx", marks=[pytest.mark.thorough, needs("nginx with Lua")])


@pytest.mark.parametrize("through_nginx", [pytest.param(None, id="shim"), THROUGH_NGINX])
@pytest.mark.thorough
def test_a_short_siege(fixed_store: Path, tmp_path: Path, through_nginx: bool | None) -> None:
    store = shutil.copytree(fixed_store, tmp_path / "store")
    results = list(besiege(store, tmp_path / "state", 0.5, 1_300, through_nginx=through_nginx))
    assert [result.attack for result in results] == list(ALL)
    assert not any(is_broken(result.got) for result in results), "\n".join(table(results))
    assert not any(result.figures.failures for result in results), "\n".join(table(results))
