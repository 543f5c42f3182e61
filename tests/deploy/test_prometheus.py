"""A real Prometheus scrapes a shim and a night: each metric that is documented has data, and each rule works."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.test_monitoring import FOLDER, documented
from tests.support.commands import issue, run
from tests.support.file_server import file_server
from tests.support.nginx import cached
from tests.support.nights import demo_lake
from tests.support.ports import free_port
from tests.support.programs import PROGRAMS, needs, require
from tests.support.raw_requests import get
from tests.support.service import API, Service, answers, running, until

pytestmark = [
    needs("Prometheus"),
    pytest.mark.xdist_group("prometheus"),  # one process: it is started once
]
QUIET = {"cardpress_store_errors_total", "cardpress_failed_total"}  # have no series while the store answers
EDGE = "cardpress_edge_"
Query = Callable[[str], Any]


@contextmanager
def prometheus(folder: Path, targets: dict[int, str]) -> Iterator[Query]:
    """Start a Prometheus that scrapes ports by path. Yield a function that calls its API."""
    jobs = [
        {"job_name": str(port), "metrics_path": path, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
        for port, path in targets.items()
    ]
    config = {
        "global": {"scrape_interval": "250ms", "scrape_timeout": "250ms", "evaluation_interval": "250ms"},
        "rule_files": [str(FOLDER / "alerts.yaml")],
        "scrape_configs": jobs,
    }
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    port = free_port()
    words = [f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data"]
    command = ["prometheus", *words, f"--web.listen-address=127.0.0.1:{port}"]
    with running(command, folder / "log", lambda: answers(port, "/-/ready")):
        yield partial(_ask, port)


def _ask(port: int, path: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=60) as answer:
        return json.load(answer)["data"]


@contextmanager
def edge(store: Path, state: Path, key: str) -> Iterator[dict[int, str]]:
    """Yield the port and the path of the metrics of an nginx that has answered, refused and passed on."""
    if not PROGRAMS["nginx with Lua"].installed:
        yield {}
        return
    with Service(store, state, through_nginx=True) as service:
        cached(service.client(key))
        assert get(service.port, b"/<").status == service.client(key).get(f"{API}/cards?limit=x").status == 400
        yield {service.metrics_port: "/metrics"}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    """A Prometheus that has scraped a night, a shim with requests and, if it is installed, an nginx, twice."""
    folder = tmp_path_factory.mktemp("prometheus")
    lake, store = demo_lake(folder / "lake", 8), folder / "store"
    for days in (8, 9):
        options = ("--no-pages", "--textfile", folder / "night.prom")
        run("nightly", "--lake", demo_lake(lake, days), "--store", store, *options)
    key = issue(store, name="a key", rate_limit=3)
    with Service(store, folder / "state", metrics=free_port()) as shim:
        assert {shim.get(f"{API}/cards?limit=2", key).status for _ in range(20)} == {200, 429}
        with (
            file_server(folder) as files,
            edge(store, folder / "behind", issue(store)) as edge_metrics,
            prometheus(folder, {shim.metrics: "/metrics", port_of(files): "/night.prom"} | edge_metrics) as query,
        ):
            scrapes = "query?query=min(count_over_time(up[1m])*up)"
            until(lambda: _value(query(scrapes)) >= 3, 60, "both were scraped three times")
            yield query


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def _value(data: Any) -> float:
    return float(data["result"][0]["value"][1]) if data["result"] else 0


@pytest.mark.parametrize("metric", sorted(documented()))
@pytest.mark.thorough
def test_a_metric_that_is_documented_has_data(metric: str, ask: Query) -> None:
    if metric in QUIET:
        pytest.skip("has no series here")
    if metric.startswith(EDGE):
        require("nginx with Lua")
    series = {f"{metric}{suffix}" for suffix in ("", "_bucket")}
    assert series & set(ask("label/__name__/values"))


@pytest.mark.thorough
def test_the_rules_are_evaluated(ask: Query) -> None:
    def states() -> dict[str, tuple[str, str]]:
        rules = [rule for group in ask("rules")["groups"] for rule in group["rules"]]
        return {rule["name"]: (rule["health"], rule["state"]) for rule in rules}

    until(lambda: {health for health, _ in states().values()} == {"ok"}, 60, "all rules were evaluated")
    found = states()
    assert len(found) > 10
    assert found["CardpressNightMissing"][1] == found["CardpressNightFailed"][1] == "inactive"
    until(lambda: states()["CardpressDataDoesNotAdvance"][1] == "firing", 60, "the demo's prices are old")
