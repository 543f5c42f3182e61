"""Reads the Containerfile of `cardpress deploy container`, and runs its steps without a container engine.

    python -m tests.deploy.containerfile          (make container-steps)

Absolute paths of the image become paths below a clean folder; adding the user is left out. What remains is what can
go wrong: files that are not there, a lock that does not fit, a command or a setting that does not exist.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.support.ports import free_port
from tests.support.service import ROOT, Client, run, until

FILE = ROOT / "generator" / "deploy" / "examples" / "container" / "Containerfile"
EDGE = "edge"  # the stage of the image with nginx
# Folders of the image that its steps make or use.
PLACES = ("/opt/cardpress", "/src", "/var/lib/cardpress")


class ContainerStep(NamedTuple):
    """One instruction: its name in capitals, and the rest of its lines as one."""

    name: str
    rest: str

    def words(self) -> list[str]:
        return [word for word in self.rest.split() if not word.startswith("--")]


def stages() -> dict[str, list[ContainerStep]]:
    """The instructions of each stage, in order, by its name. "" is the last stage, which makes the image."""
    text = re.sub(r"\\\n\s*", "", re.sub(r"(?m)^#.*\n", "", FILE.read_text()))
    all_steps = [ContainerStep(*line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]
    found: dict[str, list[ContainerStep]] = {}
    for step in all_steps:
        if step.name == "FROM":
            name = step.rest.partition(" AS ")[2]
        if step.name != "ARG":
            found.setdefault(name, []).append(step)
    return found


def steps() -> list[ContainerStep]:
    """The instructions that make the image `cardpress`, in order."""
    return [step for name, stage in stages().items() if name != EDGE for step in stage]


def copied() -> Iterator[tuple[str, str]]:
    """What is copied from the folder of the Containerfile, and to where."""
    for step in steps():
        if step.name == "COPY" and "--from" not in step.rest:
            *sources, target = step.words()
            yield from ((source, target) for source in sources)


def environment() -> dict[str, str]:
    """What the image sets."""
    return dict(pair.split("=", 1) for step in steps() if step.name == "ENV" for pair in step.rest.split())


def listed(name: str) -> list[str]:
    """The words of an instruction in JSON, such as ENTRYPOINT."""
    [step] = [step for step in steps() if step.name == name]
    return json.loads(step.rest[step.rest.index("[") :])


def deployed(folder: Path) -> Path:
    """A folder that `cardpress deploy container` wrote for a wheel of this checkout."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder.parent / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = (folder.parent / "dist").glob("*.whl")
    run("deploy", "container", folder, "--wheel", wheel)
    return folder


def main() -> None:
    """Run the steps, then the command as the image would, until its own health check succeeds."""
    with TemporaryDirectory(prefix="cardpress-image-") as folder:
        root = Path(folder)
        for place in PLACES:
            (root / place[1:]).mkdir(parents=True)
        _build(root)
        _use(root, root / "var/lib/cardpress")


def _build(root: Path) -> None:
    context = deployed(root / "context")
    for source, target in copied():
        print(f"COPY {source} {target}", flush=True)
        for file in context.glob(source):
            shutil.copy(file, root / "src" / target.removeprefix("./"))
    for step in steps():
        if step.name == "RUN" and not step.rest.startswith("useradd"):
            command = _placed(re.sub("^python ", f"{sys.executable} ", step.rest), root)
            print(f"RUN {step.rest}", flush=True)
            subprocess.run(["sh", "-euc", command], cwd=root / "src", env=_clean({}), check=True)


def _use(root: Path, work: Path) -> None:
    port = free_port()
    settings = {
        name: _placed(value, root).replace("$PATH", os.environ["PATH"]) for name, value in environment().items()
    }
    env = _clean(settings | {"CARDPRESS_PORT": str(port), "CARDPRESS_STORE": "store"})
    for words in (["demo", "lake", "--products", "50", "--days", "3"], ["nightly", "--lake", "lake"]):
        subprocess.run([*_entry(root), *words], cwd=work, env=env, check=True)
    shim = subprocess.Popen([*_entry(root), *listed("CMD")], cwd=work, env=env)
    try:
        until(lambda: _answers(port), 60, "the shim answers")
        check = [part.replace(":8000", f":{port}") for part in listed("HEALTHCHECK")]
        subprocess.run(check, cwd=work, env=env, check=True)
    finally:
        shim.terminate()
        shim.wait(60)
    print(f"all steps done; the health check passed; {sum(1 for _ in root.rglob('*')):,} files")


def _entry(root: Path) -> list[str]:
    [command] = listed("ENTRYPOINT")
    return [str(root / "opt/cardpress/bin" / command)]


def _answers(port: int) -> bool:
    try:
        return Client(port).get("/healthz").status == 200
    except OSError:
        return False


def _placed(text: str, root: Path) -> str:
    return re.sub("|".join(PLACES), lambda found: f"{root}{found[0]}", text)


def _clean(more: dict[str, str]) -> dict[str, str]:
    """Nothing of the environment but what is named, a way to programs, and where packages come from."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_")) or name == "PATH"}
    return kept | {"HOME": "/nonexistent"} | more


if __name__ == "__main__":
    main()
