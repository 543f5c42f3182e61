"""`cardpress deploy`: its files fit the places given, what they name exists, and tools find nothing wrong in them."""

import json
import os
import re
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from generator.cli import cli
from tests.deploy import containerfile
from tests.support import nginx
from tests.support.commands import run
from tests.support.disks import fill, small_disk
from tests.support.programs import needs
from tests.support.service import ROOT

EXAMPLES = ROOT / "generator" / "deploy" / "examples"
CONTAINER = EXAMPLES / "container"
PINNED_IMAGE = r"[a-z0-9./]+:[A-Za-z0-9.-]+@sha256:[0-9a-f]{64}"
UNITS = sorted((EXAMPLES / "systemd").glob("cardpress-*.*r"))
COMPOSE = yaml.safe_load((CONTAINER / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
IMAGE = f"registry.example/cardpress:{version('cardpress')}"
OURS = [(name, service) for name, service in SERVICES.items() if service["image"] == IMAGE]


def options(command: str) -> set[str]:
    """The environment variables that a command reads."""
    return {parameter.envvar for parameter in cli.commands[command].params if parameter.envvar}


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A folder that `deploy container` wrote, with a file in place of the wheel."""
    wheel = tmp_path / "cardpress-2.0.0-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    run("deploy", "container", tmp_path / "image", "--wheel", wheel, "--image", "ours.example/cards:2")
    return tmp_path / "image"


def test_the_image_copies_what_is_beside_its_file(image: Path) -> None:
    assert all(len(list(image.glob(source))) == 1 for source, _ in containerfile.copied())
    assert (image / "requirements.lock").read_bytes() == (ROOT / "requirements.lock").read_bytes()
    services = yaml.safe_load((image / "compose.yaml").read_text())["services"]
    assert {services[name]["image"] for name, _ in OURS} == {"ours.example/cards:2"}


def test_the_image_runs_without_privileges_and_has_a_health_check() -> None:
    names = [step.name for step in containerfile.steps()]
    last = names[len(names) - names[::-1].index("FROM") :]
    assert last.index("USER") < last.index("ENTRYPOINT") and "HEALTHCHECK" in last
    [user] = [step.rest for step in containerfile.steps() if step.name == "USER"]
    assert int(user.partition(":")[0]) > 0
    variables = {name for name in containerfile.environment() if name.startswith("CARDPRESS_")}
    assert variables <= options(containerfile.listed("CMD")[0])


def test_compose_names_what_there_is(image: Path) -> None:
    volumes = COMPOSE["volumes"]
    for name, service in SERVICES.items():
        assert set(service.get("depends_on", ())) <= set(SERVICES), name
        for source in (volume.partition(":")[0] for volume in service.get("volumes", ())):
            assert (image / source).exists() if source.startswith(".") else source in volumes, name
        assert service["image"] == IMAGE or re.fullmatch(
            rf"\$\{{[A-Z0-9]+_IMAGE:-{PINNED_IMAGE}\}}", service["image"]
        ), f"{name}: not pinned"
    for build in (service["build"] for service in SERVICES.values() if "build" in service):
        assert build["context"] == "." and (image / build.get("dockerfile", "Containerfile")).exists()
        assert build.get("target", "") in containerfile.stages()
        assert set(build["args"]) == {"PYTHON_IMAGE"}
        base = build["args"]["PYTHON_IMAGE"].partition(":-")[2].rstrip("}")
        assert re.fullmatch(PINNED_IMAGE, base)
        assert f"ARG PYTHON_IMAGE={base}\n" in containerfile.FILE.read_text()


def test_compose_sets_what_the_commands_read() -> None:
    assert [name for name, service in OURS if "command" not in service] == ["shim-1", "shim-2"], "these serve"
    every = set().union(*(options(command) for command in ("serve", "nightly")))
    for name, service in OURS:
        assert {key for key in service["environment"] if key.startswith("CARDPRESS_")} <= every, name
    for name in ("shim-1", "shim-2"):
        environment = SERVICES[name]["environment"]
        network = COMPOSE["networks"]["default"]
        assert environment["CARDPRESS_TRUSTED_PROXY"] == network["ipam"]["config"][0]["subnet"]
        assert environment["CARDPRESS_RATE_LIMIT_URL"].startswith("redis://redis:")
    for line in SERVICES["setup"]["command"][0].splitlines():
        if words := re.search(r"cardpress ([a-z]+)", line):
            assert words[1] in cli.commands, line


def test_composes_scripts_are_shell() -> None:
    scripts = [service["command"][-1] for service in SERVICES.values() if isinstance(service.get("command"), list)]
    assert len(scripts) == 2
    for script in scripts:
        assert subprocess.run(["sh", "-n", "-c", script.replace("$$", "$")]).returncode == 0


@needs("nginx")
def test_composes_nginx_is_ours_for_its_addresses(tmp_path: Path) -> None:
    [edit] = re.findall(r"(?s)^sed .*?(?= >)", SERVICES["nginx"]["command"][-1])
    edit = edit.replace("/etc/cardpress/nginx.conf", str(EXAMPLES / "nginx" / "nginx.conf"))
    made = subprocess.run(["sh", "-c", edit], capture_output=True, text=True, check=True).stdout
    assert "server shim-1:8000;" in made and "server shim-2:8000;" in made and "listen 8080;" in made
    assert "ssl" not in made and "127.0.0.1" not in made
    made = made.replace("shim-1", "127.0.0.1").replace("shim-2", "127.0.0.1")
    made = made.replace("/var/cache/nginx/cardpress", str(tmp_path / "cache"))
    main = tmp_path / "nginx.conf"
    main.write_text(f"pid {tmp_path}/pid; events {{}} http {{ {made} }}")
    nginx.check(main)


PLACES = {
    "--program": shutil.which("true"), "--user": "web", "--config": "/etc/cards", "--store": "/srv/big/store",
    "--lake": "/srv/big/lake", "--keys": "s3://keys/of-cards", "--state": "/var/lib/web", "--game": "6",
    "--downloads": "/srv/big/downloads",
}  # fmt: skip


def folder_of(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_each_option_of_systemd_has_its_effect(tmp_path: Path) -> None:
    words = ["--program", "/opt/cardpress/bin/cardpress"]
    run("deploy", "systemd", tmp_path / "plain", *words, "--game", 17)
    plain = folder_of(tmp_path / "plain")
    assert plain == folder_of(EXAMPLES / "systemd")
    for option, value in PLACES.items():
        run("deploy", "systemd", tmp_path / option, *words, "--game", 17, option, value)
        adapted = folder_of(tmp_path / option)
        changed = {name for name in plain if adapted[name] != plain[name]}
        assert changed and all(value in adapted[name] for name in changed), option
    run("deploy", "systemd", tmp_path / "none", *words)
    assert plain.keys() - folder_of(tmp_path / "none").keys() == {"cardpress-nightly.service.d/fetch.conf"}
    run("deploy", "systemd", tmp_path / "s3", *words, "--store", "s3://cards/store", "--lake", "s3://cards/lake")
    units = folder_of(tmp_path / "s3")
    assert "CARDPRESS_STORE=s3://cards/store\n" in units.pop("environment")
    assert not any("s3://" in text or "/srv/cards" in text for text in units.values())


@pytest.mark.parametrize(("folder", "warned"), [("/root/venv", True), ("/opt/cardpress", False)])
def test_units_name_the_command_that_runs(
    folder: str, warned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", f"{folder}/bin/python")
    result = run("deploy", "systemd", tmp_path)
    assert f"ExecStart={folder}/bin/cardpress nightly\n" in (tmp_path / "cardpress-nightly.service").read_text()
    assert ("warning: the units do not see /home, /root and /tmp" in result.stderr) == warned


@needs("systemd-analyze")
@pytest.mark.parametrize("changed", [False, True], ids=["examples", "adapted"])
def test_systemd_understands_the_units(tmp_path: Path, changed: bool) -> None:
    places = PLACES if changed else {"--program": PLACES["--program"], "--game": "17"}
    run("deploy", "systemd", tmp_path, *(word for pair in places.items() for word in pair))
    named = [str(tmp_path / unit.name.replace("@.", "@8001.")) for unit in UNITS]
    (tmp_path / "cardpress-shim@8001.service").symlink_to(tmp_path / "cardpress-shim@.service")
    verify = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *named]
    result = subprocess.run(verify, capture_output=True, text=True)
    ours = [line for line in result.stderr.splitlines() if "cardpress" in line]
    assert (result.returncode, ours) == (0, []), result.stderr


def nginx_elsewhere(folder: Path, certificate: Path, key: Path) -> Path:
    """Write nginx's files with other places than by default. Return their folder."""
    run("deploy", "nginx", folder / "sites", "--name", "prices.example", "--shim", "127.0.0.1:9001",
        "--shim", "127.0.0.1:9002", "--shim", "[::1]:9003", "--listen", "127.0.0.1:9080", "--cache", folder / "cache",
        "--certificate", certificate, "--certificate-key", key)  # fmt: skip
    return folder / "sites"


def test_nginx_files_name_the_places_they_are_given(tmp_path: Path) -> None:
    texts = folder_of(nginx_elsewhere(tmp_path, tmp_path / "certificate", tmp_path / "key"))
    assert texts["nginx.conf"].count("    server ") == 3
    for name, text in texts.items():
        settings = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        assert not re.search(r"cards\.example|127\.0\.0\.1:8080|/etc/|/var/|/srv/", settings), name


@needs("nginx")
def test_nginx_accepts_its_files_with_other_places(tmp_path: Path) -> None:
    for site in nginx_elsewhere(tmp_path, *nginx.certified(tmp_path)).iterdir():
        main = tmp_path / "main.conf"
        main.write_text(f"pid {tmp_path}/pid; events {{}} http {{ access_log off; include {site}; }}")
        nginx.check(main)


def test_files_of_an_operator_stay(tmp_path: Path) -> None:
    units = tmp_path / "units"
    words = ("deploy", "systemd", units, "--program", "/opt/cardpress/bin/cardpress")
    printed = run(*words).stdout.split()
    first = folder_of(units)
    assert sorted(printed) == sorted(str(units / name) for name in first)
    assert (units / "environment").stat().st_mode & 0o777 == 0o600
    run(*words)  # the same files are no reason to refuse
    (units / "environment").write_text("AWS_SECRET_ACCESS_KEY=x\n")
    before = folder_of(units)
    refused = run(*words, "--config", "/etc/cards", status=1)
    assert "differs: give --force to replace it" in refused.stderr and folder_of(units) == before
    run(*words, "--force")
    assert folder_of(units) == first


def test_what_is_in_the_way_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is no folder" in run("deploy", "monitoring", tmp_path / "file" / "below", status=1).stderr
    (tmp_path / "rules" / "alerts.yaml").mkdir(parents=True)
    assert "alerts.yaml is a folder" in run("deploy", "monitoring", tmp_path / "rules", "--force", status=1).stderr
    assert [path.name for path in (tmp_path / "rules").iterdir()] == ["alerts.yaml"]


def test_a_full_disk_leaves_the_files_that_were_there(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 64 << 10) as disk:
        run("deploy", "systemd", disk / "units")
        before = folder_of(disk / "units")
        filler = fill(disk)
        os.truncate(filler, filler.stat().st_size - (12 << 10))  # room for three of them
        said = run("deploy", "systemd", disk / "units", "--store", "/srv/other", "--force", status=1).stderr
        assert "No space left on device" in said and folder_of(disk / "units") == before


@pytest.mark.parametrize(
    "words",
    [
        ("systemd", "--user", "a b"), ("systemd", "--store", "relative"), ("systemd", "--store", "/home/me/store"),
        ("systemd", "--store", "/srv/a b"), ("systemd", "--lake", "/srv/%h"), ("systemd", "--keys", "s3://"),
        ("systemd", "--state", "/srv/x\nExecStart=/bin/sh"), ("systemd", "--game", "0"), ("nginx", "--name", "a;b"),
        ("nginx", "--shim", "a b"), ("nginx", "--listen", "80; deny all"), ("nginx", "--cache", "/srv/$x"),
        ("policies", "--bucket", 'a"'), ("policies",), ("container",),
        ("worker", "--store", "relative"), ("worker", "--shim", "10.0.0.5:8000"), ("worker", "--counts", "/srv/a b"),
        ("action", "--lake", "/srv/cards/lake"), ("action", "--region", "a b"), ("action", "--game", "0"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_places_are_wrong_usage(tmp_path: Path, words: tuple[str, ...]) -> None:
    kind, *options = words
    said = run("deploy", kind, tmp_path / "new", *options, status=2).stderr
    assert (options or ["Missing option"])[0] in said and not (tmp_path / "new").exists()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_call_commands_that_there_are(unit: Path) -> None:
    text = unit.read_text()
    for words in re.findall(r"ExecStart=/opt/cardpress/bin/cardpress (.+)", text):
        command, *given = words.split()
        known = {name for parameter in cli.commands[command].params for name in parameter.opts}
        assert {word for word in given if word.startswith("--")} <= known
    for variable in re.findall(r"Environment=(CARDPRESS_[A-Z_]+)", text):
        assert variable in options("serve") | options("nightly")


def test_policies_grant_no_more_than_named_things_in_the_bucket(tmp_path: Path) -> None:
    run("deploy", "policies", tmp_path / "policies", "--bucket", "our-cards")
    policies = folder_of(tmp_path / "policies")
    assert policies.keys() >= {"builder.json", "operator.json", "reader.json"}
    for document in map(json.loads, policies.values()):
        assert document["Version"] == "2012-10-17"
        for statement in document["Statement"]:
            actions, resources = (
                [value] if isinstance(value, str) else value for value in (statement["Action"], statement["Resource"])
            )
            assert statement["Effect"] == "Allow" and "*" not in "".join(actions)
            assert all(resource.partition("/")[0] == "arn:aws:s3:::our-cards" for resource in resources)
