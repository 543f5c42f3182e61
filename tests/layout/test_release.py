"""What `make release` makes: a wheel that is complete, a bill of materials, the same bytes twice."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.ports import free_port
from tests.support.service import API, ROOT, Client, answers, environment, running


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release") / "dist"
    subprocess.run([sys.executable, ROOT / ".ci" / "release.py", folder], check=True, capture_output=True)
    return folder


@pytest.mark.thorough
@pytest.mark.xdist_group("release")
def test_a_release_is_whole_and_has_the_same_bytes_again(release: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / ".ci" / "release.py", tmp_path], check=True, capture_output=True)
    files = {path.name: path.read_bytes() for path in release.iterdir()}
    assert files == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    sums = dict(line.split("  ")[::-1] for line in files["SHA256SUMS"].decode().splitlines())
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in files.items() if name != "SHA256SUMS"}
    assert {Path(name).suffix for name in files} == {".whl", ".gz", ".lock", ".json", ".md", ""}
    [wheel] = [name for name in files if name.endswith(".whl")]
    assert files["NOTES.md"].decode().startswith(f"## [{wheel.split('-')[1]}] - 20")


@pytest.mark.thorough
@pytest.mark.xdist_group("release")
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


PROGRAM = ROOT / ".ci" / "sbom.py"


def bill(lock: object) -> dict:
    return json.loads(subprocess.run([sys.executable, PROGRAM, lock], check=True, capture_output=True).stdout)


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_pinned_package_is_there_with_version_address_and_hashes(lock: str) -> None:
    found = {}
    for part in bill(ROOT / lock)["components"]:
        [files] = part["externalReferences"]
        assert part["purl"] == part["bom-ref"] == f"pkg:pypi/{part['name']}@{part['version']}"
        found[part["name"], part["version"]] = {one["content"] for one in files["hashes"] if one["alg"] == "SHA-256"}
    expected, pin = {}, ("", "")
    for line in (ROOT / lock).read_text().splitlines():
        if not line.startswith((" ", "#")):
            requirement = Requirement(line.rstrip("\\"))
            pin = requirement.name, str(requirement.specifier).removeprefix("==")
            expected[pin] = set()
        elif "--hash=sha256:" in line:
            expected[pin].add(line.partition("sha256:")[2].rstrip(" \\"))
    assert found == expected and all(expected.values())


def test_what_needs_what_is_named_and_reaches_every_package() -> None:
    document = bill(ROOT / "requirements.lock")
    needs = {entry["ref"]: entry["dependsOn"] for entry in document["dependencies"]}
    reached, new = set(), {document["metadata"]["component"]["bom-ref"]}
    while new:
        reached |= new
        new = {other for ref in new for other in needs[ref]} - reached
    assert reached == needs.keys() and len(needs) == len(document["components"]) + 1


def test_a_line_of_another_form_is_refused() -> None:
    result = subprocess.run([sys.executable, PROGRAM, "/dev/stdin"], input="flask>=3\n", capture_output=True, text=True)
    assert result.returncode != 0 and "not a pinned package" in result.stderr and not result.stdout


PACKAGES = ("generator", "edge_auth")


def build_wheel(source: Path, target: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    [wheel] = target.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


def test_each_package_says_that_it_has_types(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)


@pytest.mark.thorough
def test_another_checkout_gives_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    """The files of a checkout have other times and modes, and lie in their folders in another order."""
    source, ignored = tmp_path / "source", shutil.ignore_patterns("__pycache__")
    for folder in (*PACKAGES, "build", "docs"):
        shutil.copytree(ROOT / folder, source / folder, copy_function=shutil.copyfile, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "requirements.lock"):
        shutil.copyfile(ROOT / name, source / name)
    for file in source.rglob("*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    assert build_wheel(source, tmp_path).read_bytes() == wheel.read_bytes()


@pytest.mark.thorough
def test_the_wheel_carries_the_sql_and_the_files_to_deploy_with(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    for words in (
        ("demo", "lake", "--products", "5", "--days", "3", "--end", "2025-11-17"),
        ("build", "--lake", "lake", "--as-of", "2025-11-17"),
        ("docs", "static-tree"),
        ("deploy", "systemd", "units", "--program", "/opt/cardpress/bin/cardpress"),
        ("deploy", "container", "image", "--wheel", wheel),
    ):
        run = [sys.executable, "-P", "-m", "generator", *words]
        variables = environment() | {"PYTHONPATH": str(tmp_path / "installed")}
        result = subprocess.run(run, cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
    assert (tmp_path / "image" / "requirements.lock").read_bytes() == (ROOT / "requirements.lock").read_bytes()
