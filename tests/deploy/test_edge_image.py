"""The stage `edge` of the Containerfile: what its container runs beside a shim."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.cli import cli
from tests.deploy.containerfile import EDGE, ContainerStep, stages
from tests.support.commands import run
from tests.support.ports import free_port
from tests.support.programs import OURS, needs, shell_program
from tests.support.service import PLENTY, Client, answers, environment, until

HOME = "/var/lib/cardpress"
STEPS = stages()[EDGE]
STORE = {"CARDPRESS_STORE": f"{HOME}/store"}  # a volume of both containers


def step(name: str) -> ContainerStep:
    [found] = [step for step in STEPS if step.name == name]
    return found


def variables(steps: list[ContainerStep]) -> dict[str, str]:
    return dict(pair.split("=", 1) for step in steps if step.name == "ENV" for pair in step.rest.split())


def test_the_image_sets_what_the_command_reads() -> None:
    config = cli.commands["edge"].commands["config"]
    assert set(variables(STEPS)) <= {parameter.envvar for parameter in config.params}
    assert step("USER").rest == next(step.rest for step in stages()[""] if step.name == "USER")
    assert variables(STEPS)["CARDPRESS_LISTEN"] == step("EXPOSE").rest


def test_the_image_has_the_packages_that_the_configuration_names(tmp_path: Path) -> None:
    folder = tmp_path / "folder" / "of nginx"
    written = run("edge", "config", "--store", tmp_path, "--socket", tmp_path / "shim", "--folder", folder).stdout
    assert folder.is_dir(), "the command makes the folder"
    [packages] = [line.partition(": ")[2] for line in written.splitlines() if line.startswith("# Debian packages: ")]
    assert f"--no-install-recommends {packages} " in step("RUN").rest


class Containers:
    """A shim and the edge, as processes of this machine with a folder in place of the volume."""

    def __init__(self, folder: Path):
        self.folder, self.port = folder, free_port()
        shell_program(folder / "bin" / "cardpress", OURS)
        self.settings = {"PATH": f"{folder}/bin:{os.environ['PATH']}:/usr/sbin", "CARDPRESS_WORKERS": "1"}

    def start(self, words: list[str]) -> subprocess.Popen:
        named = variables(STEPS) | STORE | {"CARDPRESS_STATE": f"{HOME}/state"}
        placed = {name: value.replace(HOME, str(self.folder)) for name, value in named.items()}
        placed["CARDPRESS_LISTEN"] = f"127.0.0.1:{self.port}"
        return subprocess.Popen(words, cwd=self.folder, env=environment() | placed | self.settings)


@pytest.fixture
def containers(fixed_store: Path, fixed_key: str, tmp_path: Path) -> Iterator[Containers]:
    shutil.copytree(fixed_store, tmp_path / "store")
    example = Containers(tmp_path)
    entry = json.loads(step("ENTRYPOINT").rest)
    processes = [example.start(["cardpress", "serve"]), example.start(entry)]
    yield example
    for process in processes[::-1]:
        process.terminate()
        process.wait(60)


@pytest.mark.thorough
@needs("nginx with Lua")
def test_the_containers_serve_lists_and_bulk_files(containers: Containers, fixed_key: str) -> None:
    client = Client(containers.port, fixed_key)
    until(lambda: answers(containers.port), 60, "the edge answers")
    until(lambda: client.get("/api/v1/bulk")["X-Cache"] == "HIT", 60, "nginx has the list of files")
    left = int(client.get("/api/v1/bulk")["X-RateLimit-Remaining"])
    file = max(client.get("/api/v1/bulk").json["files"], key=lambda file: file["bytes"])
    answer = client.get(file["url"], Range="bytes=-8")
    assert (answer.status, answer["Content-Range"][-len(str(file["bytes"])) :]) == (206, str(file["bytes"]))
    assert answer["X-RateLimit-Limit"] == str(10 * PLENTY) and left < PLENTY, "bulk files count on their own"
    assert answer["X-Cache"] is None and len(client.get(file["url"]).body) == file["bytes"]


def test_a_container_that_is_stopped_while_it_starts_ends(tmp_path: Path) -> None:
    """The kernel drops a signal to process 1 that has no handler: the shell must have ended by itself."""
    example, begun = Containers(tmp_path), tmp_path / "begun"
    shell_program(tmp_path / "bin" / "cardpress", f"touch {begun}", "sleep 1")
    shell_program(tmp_path / "bin" / "nginx")
    process = example.start(json.loads(step("ENTRYPOINT").rest))
    until(begun.exists, 60, "the configuration is being written")
    process.terminate()
    assert process.wait(60) == 143
