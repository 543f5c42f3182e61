"""`make release`: the same bytes twice, and what a stranger installs from them answers a request."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ports import free_port
from tests.support.service import API, ROOT, Client, answers, running

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("release")]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release") / "dist"
    subprocess.run([sys.executable, ROOT / ".ci" / "release.py", folder], check=True, capture_output=True)
    return folder


def test_a_release_is_whole_and_has_the_same_bytes_again(release: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / ".ci" / "release.py", tmp_path], check=True, capture_output=True)
    files = {path.name: path.read_bytes() for path in release.iterdir()}
    assert files == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    sums = dict(line.split("  ")[::-1] for line in files["SHA256SUMS"].decode().splitlines())
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in files.items() if name != "SHA256SUMS"}
    assert {Path(name).suffix for name in files} == {".whl", ".gz", ".lock", ".json", ".md", ""}
    [wheel] = [name for name in files if name.endswith(".whl")]
    assert files["NOTES.md"].decode().startswith(f"## [{wheel.split('-')[1]}] - 20")


def test_what_is_installed_from_it_makes_a_demo_and_serves_it(release: Path, tmp_path: Path) -> None:
    """Nothing of this checkout is on the path, and every file that pip fetches is one that the lock names."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    program = tmp_path / "venv/bin/cardpress"
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_", "REQUESTS_"))}
    env = kept | {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    install = [tmp_path / "venv/bin/pip", "install", "-q", "--disable-pip-version-check", "--require-hashes", "-r"]
    subprocess.run([*install, "install.lock"], cwd=release, env=env, check=True)

    def cardpress(*words: str) -> str:
        found = subprocess.run([program, *words], cwd=tmp_path, env=env, check=True, capture_output=True, text=True)
        return found.stdout.strip()

    cardpress("demo", "lake", "--products", "50", "--days", "3")
    build = cardpress("build", "--lake", "lake", "--publish").splitlines()[-1]
    key, port = cardpress("keys", "issue", "--name", "me"), free_port()
    shim = [program, "serve", "--port", port]
    with running(shim, tmp_path / "log", lambda: answers(port), cwd=tmp_path, env=env):
        answer = Client(port, key).get(f"{API}/cards?limit=1")
        assert answer["X-Build"] == build and answer.json["pagination"]["returned"] == 1
