"""What a new operator stumbles over: stores that do not exist, kept keys, owners of files, libraries, older demos."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.service import ROOT, environment


def test_a_key_for_a_store_that_does_not_exist(tmp_path: Path) -> None:
    store = tmp_path / "stroe"
    result = run("keys", "issue", "--store", store, "--name", "n", status=1)
    assert (result.stdout, store.exists()) == ("", False)
    assert re.fullmatch(rf"cardpress: there is no store {store}: .*--create.*\n", result.stderr)
    assert run("keys", "issue", "--store", store, "--name", "n", "--create").stdout.startswith("cpm_live_")
    assert run("keys", "issue", "--store", store, "--name", "n").stdout.startswith("cpm_live_")


def test_a_kept_key_is_used_again_until_it_is_revoked(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    words = ("keys", "issue", "--store", tmp_path, "--name", "n", "--reuse", kept)
    first, second = run(*words), run(*words)
    assert first.stdout == second.stdout == kept.read_text()
    assert json.loads(first.stderr) == json.loads(second.stderr)
    run("keys", "revoke", json.loads(first.stderr)["id"], "--store", tmp_path)
    third = run(*words)
    assert third.stdout == kept.read_text() != first.stdout
    assert len(json.loads(run("keys", "list", "--store", tmp_path, "--json").stdout)) == 2


def test_a_broken_record_is_named_and_the_other_keys_are_listed(tmp_path: Path) -> None:
    for name in ("broken", "other"):
        run("keys", "issue", "--store", tmp_path, "--name", name)
    records = json.loads(run("keys", "list", "--store", tmp_path, "--json").stdout)
    ids = {record["name"]: record["id"] for record in records}
    [file] = tmp_path.rglob(f"{ids['broken'].removeprefix('key_')}*.json")
    file.write_bytes(b"{")
    for more in ((), ("--json",)):
        listed = run("keys", "list", "--store", tmp_path, *more, status=1)
        assert ids["other"] in listed.stdout and ids["broken"] not in listed.stdout
        assert listed.stderr.startswith(f"cardpress: the record of {ids['broken']} cannot be read (")


@pytest.mark.thorough
def test_a_game_is_named_by_its_number_or_its_name(tmp_path: Path) -> None:
    wrong = run("fetch", "cardmarket", "Pokmon", tmp_path, status=2).stderr
    assert "'Pokmon' is no game of the marketplace" in wrong and "6 Pokémon, 7 Force of Will" in wrong
    for name in ("pokemon", "Pokémon", "6"):
        failed = run("fetch", "cardmarket", name, tmp_path, "--url", "http://127.0.0.1:9", "--timeout", 1, status=1)
        assert "_6.json" in failed.stderr


def test_a_missing_option_names_its_variable() -> None:
    for command in (("build",), ("ingest", "cardmarket"), ("nightly",)):
        assert "'--lake' (env var: 'CARDPRESS_LAKE')" in run(*command, status=2).stderr


def test_show_of_a_missing_store_fails(tmp_path: Path) -> None:
    for more in ((), ("--json",)):
        result = run("show", "--store", tmp_path / "none", *more, status=1)
        assert (result.stdout, result.stderr.count("\n")) == ("", 1)
        assert "does not exist" in result.stderr
    assert "no builds" in run("show", "--store", tmp_path).stdout


def test_the_demo_says_that_it_replaces_an_older_one(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    words = ("demo", lake, "--products", 10, "--end", "2025-11-16", "--days")
    assert "replaced" not in run(*words, 2).stderr
    older, newer = "10 products, 2 days to 2025-11-16, seed 1", "10 products, 1 day to 2025-11-16, seed 1"
    replaced = f"replaced the older demo in {lake} ({older}) by {newer}"
    assert replaced in run(*words, 1).stderr
    assert f"{lake} held this demo already" in run(*words, 1).stderr


@pytest.fixture
def others_file(tmp_path: Path) -> Iterator[Path]:
    """A store whose key records belong to the user 65534, for a process that is user 12345."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    store = tmp_path / "store"
    run("keys", "issue", "--store", store, "--name", "n", "--create")
    for path in (store / "private" / "keys.json", store / "private"):
        os.chown(path, 65534, 65534)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    yield store


def test_a_permission_error_names_the_owner_and_the_remedy(others_file: Path) -> None:
    import pwd

    modules = "generator.cli, generator.commands.keys, generator.commands.permissions"  # root alone may read the code
    code = f"import os, {modules}; os.setuid(12345); generator.cli.main()"
    command = [sys.executable, "-c", code, "keys", "list", "--store", str(others_file)]
    result = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60)
    owner = pwd.getpwuid(65534).pw_name
    assert (result.returncode, result.stderr.count("\n")) == (1, 1), result.stderr
    assert f"{others_file}/private belongs to {owner}, and you are user 12345" in result.stderr
    assert f"sudo -u {owner}" in result.stderr and "sudo chown" in result.stderr


@pytest.mark.parametrize(
    "words", [("serve", "--store", "none"), ("doctor", "--lake", "none")], ids=lambda words: words[0]
)
def test_a_shared_counter_without_its_library_names_the_command(words: tuple[str, ...]) -> None:
    code = "import sys; sys.modules['redis'] = None; import generator.cli; generator.cli.main()"
    command = [sys.executable, "-c", code, *words, "--rate-limit-url", "redis://127.0.0.1:1"]
    result = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1), result.stderr
    assert "pip install 'redis[hiredis]>=8.0'" in result.stderr


def test_the_lines_that_install_optional_libraries_are_those_of_the_package() -> None:
    """No index has the package, so the lines name the libraries."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    output = {
        "dask": ("generator/making/make.py", "docs/where-it-runs.md"),
        "fingerprint": ("generator/fingerprints/pictures.py", "docs/fingerprint.md"),
        "redis": ("edge_auth/live/redis_counter.py", "docs/serving.md"),
    }
    for extra, files in output.items():
        for file in files:
            text = (ROOT / file).read_text("utf-8")
            assert f"pip install '{extras[extra][0]}'" in text, file
            assert f"pip install 'cardpress[{extra}]'" not in text, file
