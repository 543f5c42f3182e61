"""What the tests over HTTP share: one lake, one store, one running shim."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.support.commands import build, issue
from tests.support.keys import KEYS
from tests.support.lakes import FIXED, write
from tests.support.oracle import Oracle, differences
from tests.support.service import Answer, Client, Service

pytest_plugins = ["tests.support.s3_fixtures"]

# A drawn lake costs a build: few of them, the same ones every time, and no shrinking. For a hunt use
# `--hypothesis-profile=hunt`, with `--hypothesis-seed=N` to come back to what it found.
COSTLY = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
settings.register_profile("repeat", derandomize=True, max_examples=8, phases=[Phase.generate], **COSTLY)
settings.register_profile("hunt", max_examples=60, **COSTLY)
settings.load_profile("repeat")


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is remembered from one run to the next, and no command is compiled anew at each of its starts."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    cache = tempfile.mkdtemp(prefix="cardpress-tests-")
    os.environ["XDG_CACHE_HOME"] = cache
    config.add_cleanup(lambda: shutil.rmtree(cache, ignore_errors=True))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Makes `xdist_group` count: xdist 3.8 notes groups in an attribute from which pytest 9.2 takes no names."""
    if getattr(config.option, "loadgroup", False):
        for item in (item for item in items if item.get_closest_marker("xdist_group")):
            if "@" not in item.nodeid.rpartition("]")[2]:
                item._id = type(item.id).parse(item._nodeid)
            assert "@" in item.nodeid.rpartition("]")[2], f"{item.nodeid} is in a group, of which xdist is not told"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden answers, then skip")


@pytest.fixture(scope="session")
def fixed_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(FIXED, tmp_path_factory.mktemp("fixed") / "lake")


@pytest.fixture(scope="session")
def fixed_store(fixed_lake: Path) -> Path:
    """A store with one live build, of the fixed lake; tests that change a store take a copy."""
    store = fixed_lake.parent / "store"
    build(fixed_lake, store)
    return store


@pytest.fixture(scope="session")
def keys(fixed_store: Path) -> dict[str, str]:
    """Every key the tests use by its name, issued before any shim starts."""
    return {name: issue(fixed_store, *scopes, name=name, **more) for name, (scopes, more) in KEYS.items()}


@pytest.fixture(scope="session")
def fixed_key(keys: dict[str, str]) -> str:
    return keys["all"]


@pytest.fixture(scope="session")
def fixed_service(fixed_store: Path, fixed_key: str) -> Iterator[Service]:
    """The shim over the fixed lake, with two workers."""
    with Service(fixed_store, fixed_store.parent / "state", workers=2) as service:
        yield service


@pytest.fixture
def client(fixed_service: Service, fixed_key: str) -> Iterator[Client]:
    client = fixed_service.client(fixed_key)
    yield client
    client.close()


@pytest.fixture(scope="session")
def live_build(fixed_service: Service, fixed_key: str) -> str:
    return fixed_service.client(fixed_key).get("/api/v1/status").json["build"]["id"]


@pytest.fixture(scope="session")
def fixed_oracle(fixed_lake: Path, live_build: str) -> Oracle:
    return Oracle(fixed_lake, build_id=live_build)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str, Answer], None]:
    """Compares an answer with `golden/<name>.json`, or writes it there and skips with `--update-golden`."""

    def check(name: str, asked: str, answer: Answer) -> None:
        file = Path(__file__).parent / "golden" / f"{name}.json"
        got = {"request": asked, "status": answer.status, "body": _settled(answer.json)}
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(json.dumps(got, ensure_ascii=False, indent=1) + "\n", "utf-8")
            pytest.skip(f"wrote {file.name}: read the difference, then run again")
        assert file.exists(), f"no {file}: run with --update-golden"
        assert differences(json.loads(file.read_text("utf-8")), got, name) == []

    return check


def _settled(body: dict) -> dict:
    """The body with what differs from run to run made the same."""
    if "build" in body:
        body["build"]["id"] = "<build>"
    if "prefix" in body:
        body |= {"id": "<id>", "prefix": "<prefix>", "created_at": "<created_at>"}
    if body.get("error", {}).get("code") in ("rate_limited", "expired_api_key"):
        body["error"]["message"] = re.sub("[0-9]+", "<n>", body["error"]["message"])
    return body
