"""No command lets texts of the data control the terminal."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from generator.terminal import printable
from tests.support.commands import run
from tests.support.lakes import Rows, write
from tests.support.service import ROOT

EVIL = "\x1b]0;owned\x07\x1b[2J\rfine \x9b31m\u202egnp"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def evil_rows(day: str, name: str) -> Rows:
    product = {"id_product": 1, "name": name, "kind": "single", "id_expansion": 1}
    check = {"slug": EVIL, "checked_at": f"{day}T12:00:00", "num_offers": 1, "lowest_price": 1.0}
    guide = {day: [{"id_product": 1, "trend": 5.0 if name == EVIL else 9.0}]}
    return Rows(
        products=[product], expansions=[{"id": 1, "name": EVIL}], price_guide=guide, watch_checks={day: [check]}
    )


def printed(*arguments: object, status: int = 0) -> str:
    result = run(*arguments, status=status)
    return result.stdout + result.stderr


@pytest.mark.thorough
def test_build_show_and_diff(tmp_path: Path) -> None:
    store, ids, output = tmp_path / "store", [], ""
    for day, name in (("2026-08-01", "plain"), ("2026-08-02", EVIL)):
        lake = write(evil_rows(day, name), tmp_path / day)
        output += printed("build", "--lake", lake, "--store", store, "--publish")
        ids.append(run("build", "--lake", lake, "--store", store).stdout.split()[-1])
    output += printed("show", "live", "--store", store) + printed("diff", *ids, "--store", store)
    assert "\\x1b]0;owned" in output and not CONTROL.search(output), CONTROL.findall(output)
    assert "Layers" in output and "Seconds" not in output, "no night has made the build"
    for format_ in ("json", "html"):
        page = printed("diff", *ids, "--store", store, "--format", format_)
        assert "]0;owned" in page and not CONTROL.search(page), CONTROL.findall(page)
    record = json.loads(run("show", "live", "--store", store, "--json").stdout)["record"]
    assert record["left_out"][0]["example"].endswith(EVIL), "JSON holds the text itself"


def test_imports_and_errors(tmp_path: Path) -> None:
    lines = tmp_path / f"{EVIL.replace('/', '')}.jsonl"
    lines.write_text(json.dumps({"slug": EVIL, "checked_at": EVIL}) + "\n", "utf-8")
    output = printed("ingest", "watch-checks", "--lake", tmp_path / "lake", lines, status=1)
    output += printed("cat", EVIL, "--store", tmp_path / EVIL, status=1)
    assert "\\x1b]0;owned" in output and not CONTROL.search(output), CONTROL.findall(output)


@pytest.mark.parametrize("text", ["", "plain", "Éclair – ¥ 5 🂡 日本"])
def test_other_texts_stay(text: str) -> None:
    assert printable(text) == text


def test_commands_print_in_one_place() -> None:
    """What a command prints goes through `terminal`; documents (`cat`, `report`, `diff`) are written as they are."""
    printing = re.compile(r"click\.s?echo\(|(?<![\w.])print\(")
    files = [file for file in (ROOT / "generator").rglob("*.py") if "templates" not in file.parts]
    assert {file.name for file in files if printing.search(file.read_text("utf-8"))} == {"terminal.py"}


def test_ctrl_c_inside_a_query_is_one_line() -> None:
    """DuckDB raises RuntimeError for it, not KeyboardInterrupt."""
    script = """
import os, signal, threading, time
from generator import cli
from generator.database import Database
from generator.threads import ONE_THREAD

def command(**_):
    database, clock = Database(ONE_THREAD), time.pthread_getcpuclockid(threading.get_ident())
    inside = time.clock_gettime(clock) + 0.2  # of this thread, which computes in the query alone
    def interrupt():
        while time.clock_gettime(clock) < inside: time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    database.rows("select sum(a.range * b.range) from range(1000000) as a, range(1000000) as b")

cli.cli = command
cli.main()
"""
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "Aborted!\n")
