"""`cardpress deploy` and `edge`: files of other programs, adapted to the places of an operator."""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click

from generator.commands import options
from generator.errors import DeployError
from generator.reading import nginx_config
from generator.site.worker_tables import tables
from generator.templates import packaged
from generator.terminal import say, say_lines

_Function = TypeVar("_Function", bound=Callable[..., Any])
_FILE = r"/[A-Za-z0-9_.@+-]+(?:/[A-Za-z0-9_.@+-]+)*"
_BUCKET = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
_EXAMPLES = Path(__file__).parents[1] / "deploy" / "examples"
_FETCH = "cardpress-nightly.service.d/fetch.conf"
_BUCKET_PATHS = re.compile(r"^Read(?:Write|Only)Paths=-s3://.*\n", re.MULTILINE)
_REGION = "eu-central-1"
_OF_SHIM = re.compile(r"^.*(?:SHIM|[Ss]him|WORKER_SECRET).*\n", re.MULTILINE)  # lines of the configurations
_PRIVATE = {"environment": 0o600}  # operators add secrets to it
# The units hide these folders from the programs that they start.
_SEEN = rf"(?!/(?:home|root|tmp|var/tmp|run/user)(?:/|$)){_FILE}"
_path = options.plain_text(_FILE, "an absolute path of letters, digits and . _ @ + -")
_seen_path = options.plain_text(_SEEN, "an absolute path outside /home, /root and /tmp, which the units do not see")
_location = options.plain_text(
    rf"{_SEEN}|s3://{_BUCKET}(?:{_FILE})?", "s3://… or an absolute path outside /home, /root and /tmp"
)
_bucket_place = options.plain_text(rf"s3://{_BUCKET}(?:{_FILE})?", "s3://bucket/prefix")
_place = options.plain_text(rf"{_FILE}|s3://{_BUCKET}(?:{_FILE})?", "s3://… or an absolute path")
_user = options.plain_text(r"[a-z_][a-z0-9_-]{0,31}", "the name of a user")
_address = options.plain_text(nginx_config.LISTEN, "an address and a port, such as 127.0.0.1:8080")
_name = options.plain_text(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", "the name of a host")
_image = options.plain_text(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*", "the name of an image")
_bucket = options.plain_text(_BUCKET, "the name of a bucket")
_size = options.plain_text(nginx_config.MEMORY_SIZE, "a number of bytes, such as 256m")
_processes = options.plain_text(nginx_config.PROCESSES, "auto or a number of processes")


def _writes(function: _Function) -> _Function:
    """Add what all commands of the group take: DIR and --force."""
    force = click.option("--force", is_flag=True, help="Replace files of another content.")
    folder = click.argument("folder", metavar="DIR", type=options.FOLDER)
    return folder(force(function))


def _setting(
    option: str, type_: options.Parsed, default: Any, help: str, **more: Any
) -> Callable[[_Function], _Function]:
    return click.option(option, type=type_, default=default, help=help, **more)


_GAME = " cardmarket 17 "


def _in_place(*texts: str, **chosen: str) -> dict[str, str]:
    """Return what an operator chose by the default of the option, which is what the examples have there.

    Args:
        texts: Where a default alone says too little: a text with the name of the option in braces.
    """
    defaults = {one.name or "": one.default for one in click.get_current_context().command.params}
    alone = {name for name in chosen if not any(f"{{{name}}}" in text for text in texts)}
    pairs = [*texts, *(f"{{{name}}}" for name in alone)]
    return {text.format(**defaults): text.format(**chosen) for text in pairs}


def _running_program() -> str:
    """Return the path of the command that runs, with a warning if the units do not see it."""
    program = str(_path.convert(str(Path(sys.executable).with_name("cardpress")), None, None))
    if not re.fullmatch(_SEEN, program):
        say(
            f"warning: the units do not see /home, /root and /tmp, and this command is {program}: "
            "install it in another folder, such as /opt/cardpress, or name one that is with --program",
            err=True,
        )
    return program


def _adapted(kind: str, instead: Mapping[str, str]) -> dict[str, str]:
    """Return the files of the folder `examples/KIND` by their path below it.

    Args:
        instead: What stands in place of which text, wherever the examples have it. A text is a value, or a line with
            its end. Where two begin at one place, the longer one counts.
    """
    folder = _EXAMPLES / kind
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    texts = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}
    if not instead:
        return texts
    pattern = re.compile("|".join(map(re.escape, sorted(instead, key=len, reverse=True))))
    return {name: pattern.sub(lambda found: instead[found[0]], text) for name, text in texts.items()}


def _write_files(folder: Path, files: Mapping[str, str | bytes], force: bool) -> None:
    """Write files by their path below a folder, which is made if absent, all of them or none, and print their paths."""
    contents = {folder / name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    _check_free(folder, contents, force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder) as unfinished:
            written = {path: Path(unfinished, str(number)) for number, path in enumerate(contents)}
            for path, data in contents.items():
                written[path].write_bytes(data)
                written[path].chmod(_PRIVATE.get(path.name, 0o644))
            for path, file in written.items():
                path.parent.mkdir(exist_ok=True)
                file.replace(path)
    except OSError as error:
        raise DeployError(f"{error.filename or folder}: {error.strerror}") from error
    say_lines(contents)


def _check_free(folder: Path, contents: Mapping[Path, bytes], force: bool) -> None:
    for path in (folder, *contents):
        if path.parent.exists() and not path.parent.is_dir():
            raise DeployError(f"{path.parent} is no folder: choose another one")
    for path, data in contents.items():
        if path.is_dir():
            raise DeployError(f"{path} is a folder: choose another one for these files")
        if path.exists() and not force and path.read_bytes() != data:
            raise DeployError(f"{path} is there and differs: give --force to replace it, or choose another folder")


@click.group()
def deploy() -> None:
    """Write files to deploy with into a folder, adapted to your places.

    \b
    Example: cardpress deploy systemd units --store /srv/cards/store --lake /srv/cards/lake
    """


@deploy.command()
@_writes
@click.option("--program", type=_seen_path, help="The path of cardpress.  [default: the one that runs]")
@_setting("--user", _user, "cardpress", "The user of the units, and its group.")
@_setting("--config", _path, "/etc/cardpress", "The folder of the environment file and of nginx's configuration.")
@_setting("--store", _location, "/srv/cards/store", "Location of the builds.")
@_setting("--lake", _location, "/srv/cards/lake", "Location of the source tables.")
@click.option("--keys", type=_location, help="Location of the key records, if not in the store.")
@click.option("--state", type=_seen_path, help="The state folder of the shims.  [default: /var/lib/cardpress]")
@click.option("--game", type=click.IntRange(1, 999), help="Fetch the files of this game before each night.")
@_setting("--downloads", _seen_path, "/srv/cards/downloads", "Where these files are kept.")
def systemd(
    folder: Path,
    force: bool,
    program: str | None,
    keys: str | None,
    state: str | None,
    game: int | None,
    **places: str,
) -> None:
    """Write units for shims, nights, `verify` and the edge, with their environment file.

    Copy the units to /etc/systemd/system/, the environment file to the folder of --config, and logrotate.conf to
    /etc/logrotate.d/cardpress-edge.

    \b
    Example: cardpress deploy systemd units --store s3://cards/store --lake s3://cards/lake --game 17
    """
    instead = _in_place("User={user}\n", "su {user} {user}\n", "{config}/", **places)
    instead |= {"/opt/cardpress/bin/cardpress": program or _running_program(), _GAME: f" cardmarket {game} "}
    if state:
        instead["CARDPRESS_STATE=%S/cardpress\n"] = f"CARDPRESS_STATE={state}\n"
        instead["StateDirectory=cardpress\n"] = f"ReadWritePaths=-{state}\n"
    files = {name: _BUCKET_PATHS.sub("", text) for name, text in _adapted("systemd", instead).items()}
    if game is None:
        del files[_FETCH]
    if keys:
        files["environment"] += f"CARDPRESS_KEYS={keys}\n"
    _write_files(folder, files, force)


@deploy.command()
@_writes
@_setting("--name", _name, "cards.example", "The name of the host.")
@_setting("--shim", _address, ("127.0.0.1:8001", "127.0.0.1:8002"), "A shim; may repeat.", multiple=True)
@_setting("--listen", _address, "127.0.0.1:8080", "The address without TLS.")
@_setting("--certificate", _path, "/etc/cardpress/tls/fullchain.pem", "The certificate.")
@_setting("--certificate-key", _path, "/etc/cardpress/tls/privkey.pem", "Its private key.")
@_setting("--cache", _path, "/var/cache/nginx/cardpress", "A folder for pages that nginx keeps.")
def nginx(folder: Path, force: bool, shim: tuple[str, ...], **places: str) -> None:
    """Write a configuration of nginx before shims.

    For the nginx that answers from its own cache see `cardpress edge config`, for one over an exported tree
    `cardpress deploy tree`.

    \b
    Example: cardpress deploy nginx sites --name cards.example --shim 10.0.0.5:8001 --shim 10.0.0.6:8001
    """
    instead = _in_place("server_name {name};", "listen {listen};", **places)
    shims = "".join(f"    server {one};\n" for one in shim)
    instead["    server 127.0.0.1:8001;\n    server 127.0.0.1:8002;\n"] = shims
    _write_files(folder, _adapted("nginx", instead), force)


@deploy.command()
@_writes
@_setting("--tree", _path, "/srv/cardpress/tree", "The folder of the tree.")
@_setting("--shim", _address, "127.0.0.1:8000", "The shim, which checks keys and answers what has no file.")
@_setting("--listen", _address, "127.0.0.1:8080", "The address of nginx.")
def tree(folder: Path, force: bool, **places: str) -> None:
    """Write a configuration of nginx over an exported tree.

    `cardpress docs static-tree` says how to use it, also without keys, and without a shim.

    \b
    Example: cardpress deploy tree sites --tree /srv/cards/tree
    """
    instead = _in_place("server {shim};", "listen {listen};", **places)
    _write_files(folder, _adapted("tree", instead), force)


@deploy.command()
@_writes
def monitoring(folder: Path, force: bool) -> None:
    """Write alert rules for Prometheus with their tests.

    \b
    Example: cardpress deploy monitoring rules
    """
    _write_files(folder, _adapted("monitoring", {}), force)


@deploy.command()
@_writes
@click.option(
    "--wheel", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The wheel of cardpress, which the image installs.",
)  # fmt: skip
@_setting("--image", _image, "registry.example/cardpress:2.0.0", "The name of the image in compose.yaml.")
def container(folder: Path, force: bool, wheel: Path, image: str) -> None:
    """Write a Containerfile, what it copies, and an example for compose.

    \b
    Example: cardpress deploy container image --wheel dist/cardpress-2.0.0-py3-none-any.whl
    """
    if not re.fullmatch(r"cardpress-[A-Za-z0-9.+_]+-py3-none-any\.whl", wheel.name):
        raise click.BadParameter(f"{wheel.name} is no wheel of cardpress", param_hint="--wheel")
    try:
        data = wheel.read_bytes()
    except OSError as error:
        raise DeployError(f"{wheel}: {error.strerror}: name the wheel of cardpress") from error
    files: dict[str, str | bytes] = {
        **_adapted("container", {"registry.example/cardpress:2.0.0": image}),
        "nginx.conf": _adapted("nginx", {})["nginx.conf"],
        "requirements.lock": packaged("requirements.lock").read_text("utf-8"),
        wheel.name: data,
    }
    _write_files(folder, files, force)


@deploy.command()
@_writes
@click.option("--bucket", required=True, type=_bucket, help="The bucket, with the lake at lake/, the store at store/.")
def policies(folder: Path, force: bool, bucket: str) -> None:
    """Write the rights of each role in a bucket on S3.

    \b
    Example: cardpress deploy policies rights --bucket cards
    """
    _write_files(folder, _adapted("policies", {"BUCKET": bucket}), force)


@deploy.command()
@_writes
@_setting("--lake", _bucket_place, "s3://cards/lake", "Location of the source tables.")
@_setting("--store", _bucket_place, "s3://cards/store", "Location of the builds.")
@_setting(
    "--endpoint", options.HTTP_URL, f"https://s3.{_REGION}.amazonaws.com", "The S3 server; of R2 that of your account."
)
@_setting("--region", _name, _REGION, "Its region; of R2 `auto`.")
@click.option("--game", type=click.IntRange(1, 999), default=17, help="Fetch the files of this game before.")
def action(folder: Path, force: bool, game: int, **places: str) -> None:
    """Write a workflow of GitHub Actions that runs the nights, over a bucket of S3 or R2.

    \b
    Example: cardpress deploy action .github/workflows --lake s3://cards/lake --store s3://cards/store --game 6
    """
    instead = _in_place("AWS_REGION: {region}", **places)
    _write_files(folder, _adapted("action", instead | {_GAME: f" cardmarket {game} "}), force)


@deploy.command()
@_writes
@_setting("--store", _place, "/srv/cards/store", "Location of the store.")
@click.option("--endpoint", type=options.HTTP_URL, help="The S3 server of a bucket, for workerd. R2 needs none.")
@click.option("--shim", type=options.HTTP_URL, help="The shim that answers what is no object.  [default: none]")
@_setting("--listen", _address, "127.0.0.1:8080", "The address of workerd.")
@_setting("--counts", _path, "/var/lib/cardpress-worker", "A folder in which workerd counts; it must exist.")
@click.option("--guest-limit", type=click.IntRange(0), default=0, help="As of `serve`.")
def worker(folder: Path, force: bool, store: str, endpoint: str | None, shim: str | None, **places: str) -> None:
    """Write a worker that answers from a store, with keys: for workerd, and for Cloudflare with R2.

    See docs/worker.md.

    \b
    Example: cardpress deploy worker worker --store s3://cards/store --shim https://shim.cards.example
    """
    instead = _in_place('GUEST_LIMIT", text = "{guest_limit}"', 'GUEST_LIMIT = "{guest_limit}"', store=store, **places)
    if store.startswith("s3://"):
        bucket, _, prefix = f"{store.removeprefix('s3://')}/".partition("/")
        address = endpoint or f"https://s3.{_REGION}.amazonaws.com"
        instead |= {
            'disk = "/srv/cards/store"': _external(address),
            '"http://store/"': f'"{address.rstrip("/")}/{bucket}/{prefix}"',
            'STORE_AT = ""': f'STORE_AT = "{prefix}"',
            'bucket_name = "cards"': f'bucket_name = "{bucket}"',
        }
    if shim:
        instead['external = (address = "127.0.0.1:8000", http = ())'] = _external(shim)
        instead |= dict.fromkeys(('"http://127.0.0.1:8000"', '"https://shim.cards.example"'), f'"{shim.rstrip("/")}"')
    files = _adapted("worker", instead)
    if not shim:
        configurations = ("workerd.capnp", "wrangler.toml")
        files |= {name: _OF_SHIM.sub("", files[name]) for name in configurations}
    _write_files(folder, {**files, "tables.json": json.dumps(tables(), ensure_ascii=False, indent=1) + "\n"}, force)


def _external(url: str) -> str:
    """Return a server as a service of workerd."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    if parts.scheme == "http":
        return f'external = (address = "{host}:{parts.port or 80}", http = ())'
    tls = f'https = (options = (), tlsOptions = (trustBrowserCas = true), certificateHost = "{parts.hostname}")'
    return f'external = (address = "{host}:{parts.port or 443}", {tls})'


@click.group()
def edge() -> None:
    """Configure an nginx that answers from its cache."""


@edge.command()
@options.store_option
@options.keys_option
@options.state_option
@click.option("--socket", required=True, type=options.FILE, help="The unix socket of the shim.")
@_setting("--listen", _address, "127.0.0.1:8080", "The address or port to listen on.")
@click.option("--folder", required=True, type=options.FOLDER, help="A folder for nginx's own files.")
@_setting("--cache-size", _size, "256m", "Memory for answers.")
@_setting("--workers", _processes, "auto", "Number of nginx's processes.")
@click.option("--log", metavar="FILE", help="The file of the log, or `off`.  [default: access.log in --folder]")
@click.option("--metrics-listen", type=_address, help="Serve metrics to Prometheus at this address or port.")
def config(
    store: str,
    keys: str | None,
    state: str,
    folder: Path,
    log: str | None,
    **more: Any,  # further ones of NginxOptions
) -> None:
    """Print the configuration of nginx, and make the folder for its own files.

    `cardpress doctor --edge FILE` checks the file that you wrote it to.

    \b
    Example: cardpress edge config --store site_out --socket /run/cardpress/shim --folder /var/cache/cardpress-edge
    """
    chosen = nginx_config.NginxOptions(folder=folder, log=_log_file(log, folder), user=nginx_config.own_user(), **more)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DeployError(f"{folder} cannot be made: {error.strerror}: choose another --folder") from error
    read = nginx_config.ReadFiles.of(store, keys, state, chosen.socket)
    say_lines(nginx_config.configuration(read, chosen).splitlines())


def _log_file(chosen: str | None, folder: Path) -> Path | None:
    if chosen == "off":
        return None
    file = Path(chosen) if chosen else folder / "access.log"
    if "$" in str(file.absolute()):
        why = f"nginx reads the $ in {file} as a variable: name another file, or `off`"
        raise click.BadParameter(why, param_hint="--log")
    return file
