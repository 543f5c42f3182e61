"""A short siege: half a second for each attack, few connections. Times on a busy machine say nothing, failures do."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from generator.storage.stores.open import open_store
from tests.siege.attacks import ATTACKS
from tests.siege.run import besiege, is_broken, table
from tests.support import small_store
from tests.support.commands import issue
from tests.support.programs import needs
from tests.support.s3_proxy import ALWAYS, Proxy
from tests.support.s3_servers import S3Server
from tests.support.service import API, Service

THROUGH_NGINX = pytest.param(True, id="nginx", marks=[pytest.mark.thorough, needs("nginx with Lua")])


@pytest.mark.parametrize("through_nginx", [pytest.param(None, id="shim"), THROUGH_NGINX])
@pytest.mark.thorough
def test_a_short_siege(fixed_store: Path, tmp_path: Path, through_nginx: bool | None) -> None:
    store = shutil.copytree(fixed_store, tmp_path / "store")
    results = list(besiege(store, tmp_path / "state", 0.5, 1_300, through_nginx=through_nginx))
    assert [result.attack for result in results] == list(ATTACKS)
    assert not any(is_broken(result.got) for result in results), "\n".join(table(results))
    assert not any(result.figures.failures for result in results), "\n".join(table(results))


@pytest.mark.shim_only("a store that throttles is asked by the shim")
@pytest.mark.xdist_group("s3")
@pytest.mark.thorough
def test_a_store_that_answers_nearly_half_of_all_reads_429(server: S3Server, proxy: Proxy, tmp_path: Path) -> None:
    store = f"s3://{server.bucket()}/out"
    small_store.add_build(open_store(store))
    key = issue(store)
    with Service(store, tmp_path / "state") as service:
        proxy.break_next("throttle", ALWAYS)
        paths = [f"{API}/cards/{product['id_product']}" for product in small_store.products()[:174]]
        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(lambda path: service.client(key).get(path).status, paths))
    assert statuses.count(200) >= len(statuses) * 19 // 20
