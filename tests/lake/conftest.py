"""A lake for the tests of imports."""

from pathlib import Path

import pytest


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Return the place of a lake that is not there yet."""
    return tmp_path / "lake"
