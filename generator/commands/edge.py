"""`cardpress edge`: the nginx that answers the API from its cache, in front of a shim on a unix socket."""

import os
import pwd
from pathlib import Path

import click
import jinja2

from edge_auth.contract.keys import open_key_file
from edge_auth.contract.layout import KEYS, POINTER
from edge_auth.contract.store.open import is_folder, open_store
from edge_auth.host.file_counter import counter_file
from edge_auth.host.keyring import KEYS_MAX_AGE_SECONDS
from edge_auth.host.store_copies import READ_AT, copies_folder
from generator.commands.options import store_option
from generator.commands.serving_options import default_state_folder
from generator.terminal import say_lines

_TEMPLATE = Path(__file__).parents[2] / "edge_auth" / "nginx" / "nginx.conf.j2"


@click.group()
def edge() -> None:
    """Configure an nginx that answers from its cache."""


@edge.command()
@store_option
@click.option("--keys", metavar="LOCATION", help="Location of the key records, if not in the store.")
@click.option("--state", default=default_state_folder, metavar="DIR", help="The state folder of the shim.")
@click.option(
    "--socket", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The unix socket of the shim."
)
@click.option("--listen", default="127.0.0.1:8080", show_default=True, help="The address or port to listen on.")
@click.option(
    "--folder", required=True, type=click.Path(file_okay=False, path_type=Path), help="A folder for nginx's own files."
)
@click.option("--cache-size", default="2g", show_default=True, help="Disk space of the cache.")
@click.option("--workers", default="auto", show_default=True, help="Number of nginx's processes.")
def config(
    store: str, keys: str | None, state: str, socket: Path, listen: str, folder: Path, cache_size: str, workers: str
) -> None:
    """Print the configuration of nginx.

    \b
    Example: cardpress edge config --store site_out --socket /run/cardpress/shim --folder /var/cache/cardpress-edge
    """
    location = open_store(store).location
    copies = copies_folder(state, location)
    key_file = open_key_file(store, keys)
    in_folders = is_folder(store) and is_folder(keys or "")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True)
    text = environment.from_string(_TEMPLATE.read_text("utf-8")).render(
        user=pwd.getpwuid(os.geteuid()).pw_name if os.geteuid() == 0 else None,
        lua=_TEMPLATE.parent,
        pointer=Path(location) / POINTER if in_folders else copies / POINTER,
        keys=Path(key_file.store.location) / key_file.name if in_folders else copies / KEYS,
        read_at=None if in_folders else copies / READ_AT,
        counter=counter_file(state, location),
        keys_max_age=int(KEYS_MAX_AGE_SECONDS),
        socket=socket.absolute(),
        listen=listen,
        folder=folder.absolute(),
        cache_size=cache_size,
        workers=workers,
    )
    say_lines(text.splitlines())
