"""The alert rules: promtool accepts them, and they name metrics that exist."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from generator.compare.run_reports import Judgement, Verdict
from generator.nightly import monitoring
from tests.support.programs import needs
from tests.support.service import ROOT

FOLDER = ROOT / "generator" / "deploy" / "examples" / "monitoring"
RULES = [rule for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"] for rule in group["rules"]]
METRIC = re.compile(r"\bcardpress_[a-z_]+")


def documented() -> set[str]:
    """The metrics that the document for operators lists by their whole names."""
    return set(re.findall(r"`(cardpress_[a-z_]+)`", (ROOT / "docs" / "monitoring.md").read_text()))


def existing() -> set[str]:
    """The metrics of nights, and those that the document lists."""
    nights = {f"cardpress_nightly_{name}" for name in monitoring._HELP}
    return nights | documented() | {"cardpress_request_seconds_bucket"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_rules_name_metrics_that_exist(rule: dict) -> None:
    found = set(METRIC.findall(rule["expr"]))
    assert found and found <= existing()


def promtool(*arguments: object) -> None:
    result = subprocess.run(["promtool", *map(str, arguments)], cwd=FOLDER, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@needs("Prometheus")
def test_promtool_accepts_the_rules_and_they_fire() -> None:
    promtool("check", "rules", "alerts.yaml")
    promtool("test", "rules", "alerts.test.yaml")


def test_a_forced_gate_is_no_alarm(tmp_path: Path) -> None:
    report = monitoring.RunReport("r", "l", "s", "", finished="2026-01-01T00:00:00Z", outcome="published")
    verdicts = (("sets-lost", True, True), ("prices-moved", True, False), ("day-ahead", False, False))
    report.judgement = Judgement("live", [Verdict(name, 1.0, 0.0, *how, "", {}) for name, *how in verdicts], {}, [])
    monitoring.write_textfile(tmp_path / "night.prom", report)
    lines = (tmp_path / "night.prom").read_text().splitlines()
    breached = {line.split('"')[1]: line[-1] for line in lines if line.startswith("cardpress_nightly_gate_breached{")}
    assert breached == {"sets-lost": "0", "prices-moved": "1", "day-ahead": "0"}
