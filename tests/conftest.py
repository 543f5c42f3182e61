"""Fixtures for tests over HTTP: one lake, one store, one running shim."""

import gc
import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.support import programs, recorded, selection, shared
from tests.support.copies import copy_of_fixed
from tests.support.keys import issue_all
from tests.support.lakes import FIXED, write
from tests.support.oracle import Oracle, differences
from tests.support.recorded import Recorded
from tests.support.service import Client, HttpAnswer, Service

pytest_plugins = ["tests.support.s3_fixtures"]

# Each drawn lake costs a build, so `make test` draws few, the same in each run, without shrinking; `make test-thorough`
# draws more. Use `--hypothesis-profile=hunt` to search for errors, with `--hypothesis-seed=N` to repeat a search.
COSTLY = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
SAME = {"derandomize": True, "phases": [Phase.explicit, Phase.generate], **COSTLY}
settings.register_profile("few", max_examples=2, **SAME)
settings.register_profile("many", max_examples=20, **SAME)
settings.register_profile("hunt", max_examples=60, **COSTLY)
settings.load_profile("few")


def pytest_configure(config: pytest.Config) -> None:
    """Use a new cache folder for each run, and let Python write bytecode, so that commands start faster."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests send it, and a job in the background ignores it
    Service.through_nginx = config.getoption("--through-nginx")
    os.environ["XDG_CACHE_HOME"] = _temporary(config)
    if not hasattr(config, "workerinput"):  # the processes of xdist have it from the first one
        os.environ[shared.VARIABLE] = _temporary(config)


def _temporary(config: pytest.Config) -> str:
    folder = tempfile.mkdtemp(prefix="cardpress-tests-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    return folder


def pytest_collection_finish() -> None:
    """Keep the collected modules out of each later garbage collection: there are many, and they stay."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the tests of this run, skip what is about the shim alone, and make `xdist_group` work."""
    selection.select(config, items)
    if config.getoption("--through-nginx"):
        for item in items:
            if mark := item.get_closest_marker("shim_only"):
                item.add_marker(pytest.mark.skip(reason=f"about the shim alone: {mark.args[0]}"))
    _name_groups(config, items)


def _name_groups(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Append its group to the id of an item: xdist 3.8 writes it to an attribute that pytest 9.2 does not read."""
    if getattr(config.option, "loadgroup", False):
        for item in (item for item in items if item.get_closest_marker("xdist_group")):
            if "@" not in item.nodeid.rpartition("]")[2]:
                item._id = type(item.id).parse(item._nodeid)
            assert "@" in item.nodeid.rpartition("]")[2], f"{item.nodeid} is in a group that xdist does not know"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--through-nginx", action="store_true", help="run what asks a shim, through edge_auth/nginx")
    parser.addoption("--update-golden", action="store_true", help="write the recorded files: run only what records")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say in a last line how many tests were left out because a program is missing, and what installs it."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter and not hasattr(config, "workerinput"):
        reasons = [report.longrepr[2] for report in reporter.stats.get("skipped", [])]
        if sentence := programs.left_out(reasons):
            reporter.write_line(sentence)


@pytest.fixture(scope="session")
def fixed_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(FIXED, tmp_path_factory.mktemp("fixed") / "lake")


@pytest.fixture(scope="session")
def fixed_store(fixed_lake: Path) -> Path:
    """Return a store with one live build, of the fixed lake. Tests that change a store copy it."""
    store = fixed_lake.parent / "store"
    copy_of_fixed(store)
    return store


@pytest.fixture(scope="session")
def keys(fixed_store: Path) -> dict[str, str]:
    """Issue all keys that the tests use, before any shim starts. Return them by name."""
    return issue_all(fixed_store)


@pytest.fixture
def fixed_key(keys: dict[str, str]) -> str:
    return keys["all"]


@pytest.fixture(scope="session")
def fixed_service(fixed_store: Path, keys: dict[str, str]) -> Iterator[Service]:
    """Start a shim over the fixed lake, with two workers."""
    with Service(fixed_store, fixed_store.parent / "state", workers=2) as service:
        yield service


@pytest.fixture
def client(fixed_service: Service, fixed_key: str) -> Iterator[Client]:
    client = fixed_service.client(fixed_key)
    yield client
    client.close()


@pytest.fixture
def live_build(fixed_service: Service, fixed_key: str) -> str:
    return fixed_service.client(fixed_key).get("/api/v1/status").json["build"]["id"]


@pytest.fixture
def fixed_oracle(fixed_lake: Path, live_build: str) -> Oracle:
    return _oracle(fixed_lake, live_build)


@cache
def _oracle(lake: Path, build: str) -> Oracle:
    return Oracle(lake, build_id=build)


@pytest.fixture(name=recorded.FIXTURE)
def recorded_files(request: pytest.FixtureRequest) -> Recorded:
    """Return what writes the files that a test records, with --update-golden."""
    return Recorded(request.config.getoption("--update-golden"))


@pytest.fixture
def golden(recorded: Recorded) -> Callable[[str, str, HttpAnswer], None]:
    """Return a check that compares an answer with the recorded one in `golden/<name>.json`."""

    def check(name: str, path: str, answer: HttpAnswer) -> None:
        file = Path(__file__).parent / "golden" / f"{name}.json"
        got = {"request": path, "status": answer.status, "body": _settled(answer.json)}
        if not recorded.write(file, json.dumps(got, ensure_ascii=False, indent=1) + "\n"):
            assert file.exists(), f"no {file}: run make golden"
            assert differences(json.loads(file.read_text("utf-8")), got, name) == []

    return check


def _settled(body: dict) -> dict:
    """Return the body with fixed values in place of those that differ between runs."""
    if "build" in body:
        body["build"]["id"] = "<build>"
    if "prefix" in body:
        body |= {"id": "<id>", "prefix": "<prefix>", "created_at": "<created_at>"}
    if body.get("error", {}).get("code") in ("rate_limited", "expired_api_key"):
        body["error"]["message"] = re.sub("[0-9]+", "<n>", body["error"]["message"])
    return body
