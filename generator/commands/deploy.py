"""`cardpress deploy`: writes files to deploy with, adapted to the places of an operator."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from edge_auth.serve.nginx_config import LISTEN
from generator.commands.options import FOLDER, Parsed, plain_text
from generator.deploy import kinds
from generator.terminal import say, say_lines

_Function = TypeVar("_Function", bound=Callable[..., Any])
_FILE = r"/[A-Za-z0-9_.@+-]+(?:/[A-Za-z0-9_.@+-]+)*"
_BUCKET = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
# The units hide these folders from the programs that they start.
_SEEN = rf"(?!/(?:home|root|tmp|var/tmp|run/user)(?:/|$)){_FILE}"
_path = plain_text(_FILE, "an absolute path of letters, digits and . _ @ + -")
_seen_path = plain_text(_SEEN, "an absolute path outside /home, /root and /tmp, which the units do not see")
_location = plain_text(
    rf"{_SEEN}|s3://{_BUCKET}(?:{_FILE})?", "s3://… or an absolute path outside /home, /root and /tmp"
)
_user = plain_text(r"[a-z_][a-z0-9_-]{0,31}", "the name of a user")
_address = plain_text(LISTEN, "an address and a port, such as 127.0.0.1:8080")
_name = plain_text(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", "the name of a host")
_image = plain_text(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*", "the name of an image")
_bucket = plain_text(_BUCKET, "the name of a bucket")


def _writes(function: _Function) -> _Function:
    """Add what all commands of the group take: DIR and --force."""
    force = click.option("--force", is_flag=True, help="Replace files of another content.")
    folder = click.argument("folder", metavar="DIR", type=FOLDER)
    return folder(force(function))


def _setting(option: str, type_: Parsed, default: Any, help: str, **more: Any) -> Callable[[_Function], _Function]:
    return click.option(option, type=type_, default=default, help=help, **more)


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
def systemd(folder: Path, force: bool, program: str | None, **places: Any) -> None:
    """Write units for shims, nights, `verify` and the edge, with their environment file.

    Copy the units to /etc/systemd/system/, the environment file to the folder of --config, and logrotate.conf to
    /etc/logrotate.d/cardpress-edge.

    \b
    Example: cardpress deploy systemd units --store s3://cards/store --lake s3://cards/lake --game 17
    """
    say_lines(
        kinds.write_files(folder, kinds.systemd(kinds.Places(program or _running_program(), **places)), force=force)
    )


@deploy.command()
@_writes
@_setting("--name", _name, "cards.example", "The name of the host.")
@_setting("--shim", _address, ("127.0.0.1:8001", "127.0.0.1:8002"), "A shim; may repeat.", multiple=True)
@_setting("--listen", _address, "127.0.0.1:8080", "The address without TLS.")
@_setting("--certificate", _path, "/etc/cardpress/tls/fullchain.pem", "The certificate.")
@_setting("--certificate-key", _path, "/etc/cardpress/tls/privkey.pem", "Its private key.")
@_setting("--cache", _path, "/var/cache/nginx/cardpress", "A folder for pages that nginx keeps.")
def nginx(folder: Path, force: bool, shim: tuple[str, ...], **options: str) -> None:
    """Write a configuration of nginx before shims.

    For the nginx that answers from its own cache see `cardpress edge config`, for one over an exported tree
    `cardpress docs static-tree`.

    \b
    Example: cardpress deploy nginx sites --name cards.example --shim 10.0.0.5:8001 --shim 10.0.0.6:8001
    """
    say_lines(kinds.write_files(folder, kinds.nginx(shims=shim, **options), force=force))


@deploy.command()
@_writes
def monitoring(folder: Path, force: bool) -> None:
    """Write alert rules for Prometheus with their tests.

    \b
    Example: cardpress deploy monitoring rules
    """
    say_lines(kinds.write_files(folder, kinds.monitoring(), force=force))


@deploy.command()
@_writes
@click.option(
    "--wheel", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The wheel of cardpress, which the image installs.",
)  # fmt: skip
@_setting("--image", _image, "registry.example/cardpress:1.0", "The name of the image in compose.yaml.")
def container(folder: Path, force: bool, wheel: Path, image: str) -> None:
    """Write a Containerfile, what it copies, and an example for compose.

    \b
    Example: cardpress deploy container image --wheel dist/cardpress-2.0.0-py3-none-any.whl
    """
    if not re.fullmatch(r"cardpress-[A-Za-z0-9.+_]+-py3-none-any\.whl", wheel.name):
        raise click.BadParameter(f"{wheel.name} is no wheel of cardpress", param_hint="--wheel")
    say_lines(kinds.write_files(folder, kinds.container(wheel, image), force=force))


@deploy.command()
@_writes
@click.option("--bucket", required=True, type=_bucket, help="The bucket, with the lake at lake/, the store at store/.")
def policies(folder: Path, force: bool, bucket: str) -> None:
    """Write the rights of each role in a bucket on S3.

    \b
    Example: cardpress deploy policies rights --bucket cards
    """
    say_lines(kinds.write_files(folder, kinds.policies(bucket), force=force))
