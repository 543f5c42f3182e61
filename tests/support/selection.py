"""Which of the collected tests a run is about. Marks and fixtures decide; there are no lists of files."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.support.recorded import records

SHIMS = {"Service", "open_client"}  # what starts a shim, behind nginx with --through-nginx


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--update-golden"):
        _keep(config, items, records)
    if config.getoption("--through-nginx"):
        _keep(config, items, asks_a_shim)


def _keep(config: pytest.Config, items: list[pytest.Item], wanted: Callable[[pytest.Item], bool]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    items[:] = filter(wanted, items)


def asks_a_shim(item: pytest.Item) -> bool:
    """Return whether a test's module imports what starts a shim, or one of the test's fixtures calls it."""
    fixtures = (found[-1].func for found in item._fixtureinfo.name2fixturedefs.values())
    return not SHIMS.isdisjoint(vars(item.module)) or any(
        not SHIMS.isdisjoint(getattr(getattr(fixture, "__code__", None), "co_names", ())) for fixture in fixtures
    )


def mostly_thorough(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """Return the parameters of a test. Those that are not kept are for `make test-thorough`."""
    return [
        case
        if case in kept
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.thorough)
        for case in cases
    ]
