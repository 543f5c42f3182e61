"""Errors of a night name the step that failed."""

import json
from pathlib import Path
from unittest.mock import patch

import pytest

from edge_auth.builds.pointer import live_build_id
from edge_auth.errors import StoreError
from tests.support.commands import run
from tests.support.nights import demo_lake, published

pytestmark = pytest.mark.xdist_group("nights")


@pytest.mark.thorough
def test_a_prune_that_fails_after_the_publish_says_so(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    metrics = tmp_path / "prom"
    command = ("nightly", "--lake", lake, "--store", store.root, "--no-pages", "--json", "--textfile", metrics)
    with patch("generator.nightly.steps.prune", side_effect=StoreError("the disk is read-only")):
        failed = run(*command, status=1)
    report = json.loads(failed.stdout)
    assert (report["outcome"], report["failed_step"]) == ("published", "prune")
    assert live_build_id(store) == report["build"] == report["live"]
    last = failed.stderr.splitlines()[-1]
    assert last == f"cardpress: the step prune failed: the disk is read-only; {report['build']} is live"
    assert report["error"] in last
    assert 'cardpress_nightly_failed_step{step="prune"} 1\n' in metrics.read_text()
    assert "cardpress_nightly_success 0\n" in metrics.read_text()


@pytest.mark.thorough
def test_an_error_of_the_system_without_a_file_names_the_step(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7)
    with patch("generator.nightly.steps.verify", side_effect=OSError(22, "Invalid argument")):
        failed = run("nightly", "--lake", lake, "--store", store.root, "--no-pages", status=1)
    assert failed.stderr.splitlines()[-1] == "cardpress: the step verify failed: [Errno 22] Invalid argument"


def test_an_error_of_the_system_without_a_file_names_the_command(tmp_path: Path) -> None:
    with patch("generator.commands.build.open_lake", side_effect=OSError(22, "Invalid argument")):
        failed = run("build", "--lake", tmp_path, "--store", tmp_path, status=1)
    assert failed.stderr.startswith(
        "cardpress: `cardpress build` failed: [Errno 22] Invalid argument; set CARDPRESS_DEBUG"
    )
