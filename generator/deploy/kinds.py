"""The kinds of files, and which text of their examples stands for which option."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from generator.errors import DeployError
from generator.templates import packaged

_PRIVATE = {"environment": 0o600}  # operators add secrets to it


def write_files(folder: Path, files: Mapping[str, str | bytes], *, force: bool) -> list[Path]:
    """Write files by their path below a folder, which is made if absent, and return their paths.

    Raises:
        DeployError: A file of another content is there, and `force` is false; or something else is in the way. Nothing
            was written.
    """
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    _check_free(folder, contents, force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder) as unfinished:
            for name, data in contents.items():
                _write(Path(unfinished, name), data)
            for name in contents:
                (folder / name).parent.mkdir(exist_ok=True)
                Path(unfinished, name).replace(folder / name)
    except OSError as error:
        raise DeployError(f"{error.filename or folder}: {error.strerror}") from error
    return [folder / name for name in contents]


def _check_free(folder: Path, contents: Mapping[str, bytes], force: bool) -> None:
    for path in (folder, *(folder / name for name in contents)):
        if path.parent.exists() and not path.parent.is_dir():
            raise DeployError(f"{path.parent} is no folder: choose another one")
    for name, data in contents.items():
        path = folder / name
        if path.is_dir():
            raise DeployError(f"{path} is a folder: choose another one for these files")
        if path.exists() and not force and path.read_bytes() != data:
            raise DeployError(f"{path} is there and differs: give --force to replace it, or choose another folder")


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    path.chmod(_PRIVATE.get(path.name, 0o644))


# Files of a folder, by their path below it.
Files = dict[str, str | bytes]
EXAMPLES = Path(__file__).with_name("examples")
_FETCH = "cardpress-nightly.service.d/fetch.conf"
_BUCKET_PATHS = re.compile(r"^Read(?:Write|Only)Paths=-s3://.*\n", re.MULTILINE)


@dataclass(frozen=True)
class Places:
    """What the units of systemd name.

    Attributes:
        program: The path of `cardpress`.
        user: The user of all units. Its group has the same name.
        config: The folder of the environment file and of nginx's configuration.
        store, lake, keys: Locations; `keys` is None for the records in the store.
        state: The state folder of the shims, None for the one that systemd makes.
        game, downloads: The game whose files each night fetches first, None for no game, and where they are kept.
    """

    program: str
    user: str
    config: str
    store: str
    lake: str
    keys: str | None
    state: str | None
    game: int | None
    downloads: str


def systemd(places: Places) -> Files:
    """Return units for systemd, their environment file and the rotation of nginx's log."""
    instead = {
        "/opt/cardpress/bin/cardpress": places.program,
        "User=cardpress\n": f"User={places.user}\n",
        "su cardpress cardpress\n": f"su {places.user} {places.user}\n",
        "/etc/cardpress/": f"{places.config}/",
        "/srv/cards/store": places.store,
        "/srv/cards/lake": places.lake,
        "/srv/cards/downloads": places.downloads,
        " cardmarket 17 ": f" cardmarket {places.game} ",
    }
    if places.state:
        instead["CARDPRESS_STATE=%S/cardpress\n"] = f"CARDPRESS_STATE={places.state}\n"
        instead["StateDirectory=cardpress\n"] = f"ReadWritePaths=-{places.state}\n"
    found = {name: _BUCKET_PATHS.sub("", text) for name, text in _adapted("systemd", instead).items()}
    if places.game is None:
        del found[_FETCH]
    if places.keys:
        found["environment"] += f"CARDPRESS_KEYS={places.keys}\n"
    return dict(found)


def nginx(*, name: str, shims: Sequence[str], listen: str, certificate: str, certificate_key: str, cache: str) -> Files:
    """Return a configuration of nginx in front of shims."""
    servers = "".join(f"    server {shim};\n" for shim in shims)
    instead = {
        "server_name cards.example;": f"server_name {name};",
        "    server 127.0.0.1:8001;\n    server 127.0.0.1:8002;\n": servers,
        "listen 127.0.0.1:8080;": f"listen {listen};",
        "/etc/cardpress/tls/fullchain.pem": certificate,
        "/etc/cardpress/tls/privkey.pem": certificate_key,
        "/var/cache/nginx/cardpress": cache,
    }
    return dict(_adapted("nginx", instead))


def monitoring() -> Files:
    """Return alert rules for Prometheus, and their tests."""
    return dict(_adapted("monitoring", {}))


def container(wheel: Path, image: str) -> Files:
    """Return what images are built and started with: a Containerfile, what it copies, and an example for compose.

    Raises:
        DeployError: The wheel cannot be read.
    """
    try:
        data = wheel.read_bytes()
    except OSError as error:
        raise DeployError(f"{wheel}: {error.strerror}: name the wheel of cardpress") from error
    return {
        **_adapted("container", {"registry.example/cardpress:1.0": image}),
        "nginx.conf": _adapted("nginx", {})["nginx.conf"],
        "requirements.lock": packaged("requirements.lock").read_text("utf-8"),
        wheel.name: data,
    }


def policies(bucket: str) -> Files:
    """Return the rights of each role in a bucket whose lake is at lake/ and whose store is at store/."""
    return dict(_adapted("policies", {"BUCKET": bucket}))


def _adapted(kind: str, instead: Mapping[str, str]) -> dict[str, str]:
    """Return the files of the folder `examples/KIND` by their path below it.

    Args:
        instead: What stands in place of which text, wherever the examples have it. A text is a value, or a line with
            its end. Where two begin at one place, the longer one counts.
    """
    folder = EXAMPLES / kind
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    texts = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}
    if not instead:
        return texts
    pattern = re.compile("|".join(map(re.escape, sorted(instead, key=len, reverse=True))))
    return {name: pattern.sub(lambda found: instead[found[0]], text) for name, text in texts.items()}
