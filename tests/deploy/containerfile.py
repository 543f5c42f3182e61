"""Reads the Dockerfile and the Containerfile of `deploy container`, and runs their steps without a container engine.

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
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.support.ports import free_port
from tests.support.service import API, ROOT, Client, answers, run, running

FILE = ROOT / "generator" / "deploy" / "examples" / "container" / "Containerfile"
OF_CHECKOUT = ROOT / "Dockerfile"
EDGE = "edge"  # the stage of the image with nginx
# Folders of the image that its steps make or use.
PLACES = ("/opt/cardpress", "/src", "/var/lib/cardpress")


class ContainerStep(NamedTuple):
    """One instruction: its name in capitals, and the rest of its lines as one."""

    name: str
    rest: str

    def words(self) -> list[str]:
        return [word for word in self.rest.split() if not word.startswith("--")]


def stages(file: Path = FILE) -> dict[str, list[ContainerStep]]:
    """The instructions of each stage, in order, by its name. "" is the last stage, which makes the image."""
    text = re.sub(r"\\\n\s*", "", re.sub(r"(?m)^#.*\n", "", file.read_text()))
    all_steps = [ContainerStep(*line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]
    found: dict[str, list[ContainerStep]] = {}
    for step in all_steps:
        if step.name == "FROM":
            name = step.rest.partition(" AS ")[2]
        if step.name != "ARG":
            found.setdefault(name, []).append(step)
    return found


def steps(file: Path = FILE) -> list[ContainerStep]:
    """The instructions that make the image `cardpress`, in order."""
    return [step for name, stage in stages(file).items() if name != EDGE for step in stage]


def copied(file: Path = FILE) -> Iterator[tuple[str, str]]:
    """What is copied from the folder of the file, and to where."""
    for step in steps(file):
        if step.name == "COPY" and "--from" not in step.rest:
            *sources, target = step.words()
            yield from ((source, target) for source in sources)


def environment(file: Path = FILE) -> dict[str, str]:
    """What the image sets."""
    return dict(pair.split("=", 1) for step in steps(file) if step.name == "ENV" for pair in step.rest.split())


def listed(name: str, file: Path = FILE) -> list[str]:
    """The words of an instruction in JSON, such as ENTRYPOINT."""
    [step] = [step for step in steps(file) if step.name == name]
    return json.loads(step.rest[step.rest.index("[") :])


def deployed(folder: Path) -> Path:
    """A folder that `cardpress deploy container` wrote for a wheel of this checkout."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder.parent / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = (folder.parent / "dist").glob("*.whl")
    run("deploy", "container", folder, "--wheel", wheel)
    return folder


def main() -> None:
    """Run the steps of each file, then what the image runs, until its own health check succeeds."""
    with TemporaryDirectory(prefix="cardpress-image-") as folder:
        root = Path(folder) / "operator"
        make_image(root, FILE, deployed(Path(folder) / "context"))
        _use(root, root / "var/lib/cardpress")
        serve_demo(make_image(Path(folder) / "demo", OF_CHECKOUT, ROOT), free_port())


def make_image(root: Path, file: Path, context: Path) -> Path:
    """Run the steps of a file with a folder in place of the root of the image. Return this folder."""
    for place in PLACES:
        (root / place[1:]).mkdir(parents=True)
    for step in steps(file):
        if step.name == "COPY" and "--from" not in step.rest:
            *sources, target = step.words()
            for found in (found for source in sources for found in context.glob(source)):
                _copy(found, root / "src" / target)
        if step.name == "RUN" and not step.rest.startswith("useradd"):
            command = _placed(re.sub("^python ", f"{sys.executable} ", step.rest), root)
            print(f"RUN {step.rest}", flush=True)
            subprocess.run(["sh", "-euc", command], cwd=root / "src", env=_clean({}), check=True)
    return root


def _copy(found: Path, target: Path) -> None:
    if found.is_dir():
        shutil.copytree(found, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(found, target)


def started(root: Path, port: int, is_up: Callable[[], object]) -> AbstractContextManager[subprocess.Popen[str]]:
    """Run what the image of the checkout runs without a command. It prints to a file `printed` beside the volume."""
    env = _environment(root, OF_CHECKOUT) | {"CARDPRESS_PORT": str(port), "CARDPRESS_HOST": "127.0.0.1"}
    command, work = listed("CMD", OF_CHECKOUT), root / "var/lib/cardpress"
    return running(command, root / "printed", is_up, cwd=work, env=env)


def serve_demo(root: Path, port: int) -> None:
    """Let the image of the checkout serve its demo, open the link that it prints, and stop it."""
    before = _files(root)
    with started(root, port, lambda: answers(port)):
        key = re.findall(rf"http://127.0.0.1:{port}/explore#key=(\w+)\n", (root / "printed").read_text())[-1]
        assert Client(port, key).get(f"{API}/cards").json["data"] and Client(port).get("/explore").status == 200
        _check_health(root, port, OF_CHECKOUT)
        stopped = time.monotonic()
    seconds = 5 * max(1, os.getloadavg()[0] / (os.cpu_count() or 1))  # of a machine that does nothing else
    assert time.monotonic() < stopped + seconds, f"it ends within {seconds:.0f} seconds"
    written = {path for path, of in _files(root).items() if before.get(path) != of}
    outside = {path for path in written if not path.startswith("var/lib/cardpress/")} - {"printed"}
    assert not outside, "it writes into its volume alone"


def _files(root: Path) -> dict[str, tuple[int, int]]:
    found = ((path, path.lstat()) for path in root.rglob("*") if not path.is_dir())
    return {path.relative_to(root).as_posix(): (stat.st_size, stat.st_mtime_ns) for path, stat in found}


def _environment(root: Path, file: Path) -> dict[str, str]:
    settings = environment(file).items()
    return _clean({name: _placed(value, root).replace("$PATH", os.environ["PATH"]) for name, value in settings})


def _check_health(root: Path, port: int, file: Path) -> None:
    env = _environment(root, file) | {"CARDPRESS_PORT": str(port)}
    subprocess.run(listed("HEALTHCHECK", file), cwd=root, env=env, check=True)


def _use(root: Path, work: Path) -> None:
    port = free_port()
    env = _environment(root, FILE) | {"CARDPRESS_PORT": str(port), "CARDPRESS_STORE": "store"}
    for words in (["demo", "lake", "--products", "50", "--days", "3"], ["nightly", "--lake", "lake"]):
        subprocess.run([*_entry(root), *words], cwd=work, env=env, check=True)
    with running([*_entry(root), *listed("CMD")], root / "printed", lambda: answers(port), cwd=work, env=env):
        _check_health(root, port, FILE)
    print(f"all steps done; the health check passed; {sum(1 for _ in root.rglob('*')):,} files")


def _entry(root: Path) -> list[str]:
    [command] = listed("ENTRYPOINT")
    return [str(root / "opt/cardpress/bin" / command)]


def _placed(text: str, root: Path) -> str:
    return re.sub("|".join(PLACES), lambda found: f"{root}{found[0]}", text)


def _clean(more: dict[str, str]) -> dict[str, str]:
    """Nothing of the environment but what is named, a way to programs, and where packages come from."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_")) or name == "PATH"}
    return kept | {"HOME": "/nonexistent"} | more


if __name__ == "__main__":
    main()
