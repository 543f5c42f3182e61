"""`cardpress edge`: the nginx that answers the API from its cache, in front of a shim on a unix socket."""

from pathlib import Path
from typing import Any

import click

from edge_auth.serve.nginx_config import (
    LISTEN,
    MEMORY_SIZE,
    PROCESSES,
    NginxOptions,
    ShimPlaces,
    configuration,
    own_user,
)
from generator.commands.options import FILE, FOLDER, keys_option, plain_text, state_option, store_option
from generator.errors import DeployError
from generator.terminal import say_lines


@click.group()
def edge() -> None:
    """Configure an nginx that answers from its cache."""


@edge.command()
@store_option
@keys_option
@state_option
@click.option("--socket", required=True, type=FILE, help="The unix socket of the shim.")
@click.option(
    "--listen", type=plain_text(LISTEN, "an address and a port, such as 127.0.0.1:8080"), default="127.0.0.1:8080",
    help="The address or port to listen on.",
)  # fmt: skip
@click.option("--folder", required=True, type=FOLDER, help="A folder for nginx's own files.")
@click.option(
    "--cache-size", type=plain_text(MEMORY_SIZE, "a number of bytes, such as 256m"), default="256m",
    help="Memory for answers.",
)  # fmt: skip
@click.option(
    "--workers", type=plain_text(PROCESSES, "auto or a number of processes"), default="auto",
    help="Number of nginx's processes.",
)  # fmt: skip
@click.option("--log", metavar="FILE", help="The file of the log, or `off`.  [default: access.log in --folder]")
@click.option(
    "--metrics-listen", type=plain_text(LISTEN, "an address and a port, such as 127.0.0.1:9101"),
    help="Serve metrics to Prometheus at this address or port.",
)  # fmt: skip
def config(
    store: str,
    keys: str | None,
    state: str,
    folder: Path,
    log: str | None,
    **options: Any,  # further ones of NginxOptions
) -> None:
    """Print the configuration of nginx, and make the folder for its own files.

    `cardpress doctor --edge FILE` checks the file that you wrote it to.

    \b
    Example: cardpress edge config --store site_out --socket /run/cardpress/shim --folder /var/cache/cardpress-edge
    """
    chosen = NginxOptions(folder=folder, log=_log_file(log, folder), user=own_user(), **options)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DeployError(f"{folder} cannot be made: {error.strerror}: choose another --folder") from error
    say_lines(configuration(ShimPlaces(store, keys, state), chosen).splitlines())


def _log_file(chosen: str | None, folder: Path) -> Path | None:
    if chosen == "off":
        return None
    file = Path(chosen) if chosen else folder / "access.log"
    if "$" in str(file.absolute()):
        why = f"nginx reads the $ in {file} as a variable: name another file, or `off`"
        raise click.BadParameter(why, param_hint="--log")
    return file
