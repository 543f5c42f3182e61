"""Every line of the tutorials in order, in one real shell, with the files of an invented game at a real address."""

import os
import re
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.docs.test_transcripts import parts
from tests.lake.test_fetch import FakeShop, shop
from tests.support.ports import free_port
from tests.support.programs import OURS, needs, shell_program
from tests.support.service import ROOT

__all__ = ["shop"]
DOCS = ROOT / "docs"
_CRON = re.compile(r"^```cron\n(?:[0-9*]+ ){5} *(.*)\n```", re.MULTILINE)
_FAILS = re.compile(r"cardpress: (?!listening)|Usage: ")


def prepared(folder: Path, shop: FakeShop) -> dict[str, str]:
    """A folder with a virtual environment whose `cardpress` downloads from the shop; the environment of the shell."""
    fetch = f'[ "$1" = fetch ] && set -- "$@" --url {shop.url}'
    shell_program(folder / ".venv" / "bin" / "cardpress", fetch, OURS)
    (folder / "empty").mkdir()
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}


def script(document: str, port: int, folder: Path) -> str:
    """The lines of a document, each followed by a check of its exit status, and its line of cron as cron runs it."""
    lines = ["activate() { PATH=$PWD/.venv/bin:$PATH; }", "activate"]
    for command, output in parts(document):
        if command is None:
            continue
        here = command.replace("8000", str(port))
        if here.endswith("&"):
            lines += [here, "SERVER=$!", f"until curl -sf http://127.0.0.1:{port}/healthz; do sleep 0.1; done"]
            continue
        told = here.replace("'", r"'\''")
        fails = any(_FAILS.match(line) for line in output)
        wanted = "-ne" if fails else "-eq"
        lines += [here, f"status=$?; [ $status {wanted} 0 ] || {{ echo 'STATUS' $status '{told}' >&2; exit 9; }}"]
    for line in _CRON.findall(document):
        lines.append(f"env -i HOME=$HOME PYTHONPATH=$PYTHONPATH PATH=/usr/bin:/bin sh -c '{line}' || exit 8")
    return "\n".join([*lines, "kill $SERVER; wait $SERVER 2>/dev/null; exit 0", ""]).replace(
        "/srv/cards &&", f"{folder} &&"
    )


@pytest.mark.thorough
@needs("curl")
@pytest.mark.parametrize("name", ["first-five-minutes.md", "your-first-real-game.md"])
def test_every_line_runs(tmp_path: Path, shop: FakeShop, name: str) -> None:
    text = (DOCS / name).read_text("utf-8")
    ours = prepared(tmp_path, shop)
    lines = script(text, free_port(), tmp_path)
    done = subprocess.run(["bash", "-c", lines], cwd=tmp_path, env=ours, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
    if "real-game" in name:
        assert _CRON.search(text), "the line of cron is tested"
        assert shop.asked[-1][0].startswith("/priceGuide/"), "cron fetched"
        numbers = pq.read_table(tmp_path / "lake" / "products-cardmarket.parquet")["number"]
        assert numbers.null_count == 12, "sealed products alone have none, after the night as after the first import"
