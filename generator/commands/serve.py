"""`cardpress serve`: run the shim. All of it is in `edge_auth`; here are only its options."""

import os
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import click

from edge_auth.contract.builds import read_pointer
from edge_auth.contract.keys import open_key_file
from edge_auth.contract.store.open import is_folder, open_store
from edge_auth.errors import EdgeError, ServeError
from generator.commands.options import store_option


class Network(click.ParamType):
    """A network in CIDR notation, or one address."""

    name = "cidr"

    def convert(self, value, param, ctx):
        try:
            return ip_network(value, strict=False)
        except ValueError:
            self.fail(f"{value!r} is not a network such as 10.0.0.0/8", param, ctx)


class CounterUrl(click.ParamType):
    """Where a Redis or Valkey server is."""

    name = "url"

    def convert(self, value, param, ctx):
        from edge_auth.host.redis_counter import plain_url  # only who names a server needs its client

        try:
            return plain_url(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def default_state() -> str:
    """The folder for state that outlives a restart (XDG base directories)."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return str(Path(base) / "cardpress")


@click.command()
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any free port.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes.")
@click.option("--keys", metavar="LOCATION", help="Key records elsewhere than in the store.")
@click.option(
    "--rate-limit-url", metavar="URL", type=CounterUrl(),
    help="Redis or Valkey server to count at, for shims on several machines.",
)  # fmt: skip
@click.option(
    "--trusted-proxy", "trusted_proxies", multiple=True, type=Network(),
    help="Network whose X-Forwarded-For is believed; may repeat.",
)  # fmt: skip
@click.option(
    "--state",
    default=default_state,
    metavar="DIR",
    help="Folder of the shim's own files: the rate limit's counter, copies of what it reads all the time.",
)
@click.option(
    "--store-timeout", metavar="SECONDS", type=click.FloatRange(0.1), default=5, show_default=True,
    help="Longest wait of a request for a store on S3.",
)  # fmt: skip
@click.option(
    "--keys-max-age", metavar="SECONDS", type=click.FloatRange(10), default=3600, show_default=True,
    help="How long key records stay in force that cannot be read anew.",
)  # fmt: skip
@click.option("--metrics-port", type=click.IntRange(0, 65535), help="Serve metrics to Prometheus. 0: any free port.")
@click.option("--metrics-host", help="Address to serve metrics at.  [default: --host]")
def serve(
    store: str,
    host: str,
    port: int,
    workers: int,
    keys: str | None,
    rate_limit_url: str | None,
    trusted_proxies: tuple,
    state: str,
    store_timeout: float,
    keys_max_age: float,
    metrics_port: int | None,
    metrics_host: str | None,
) -> None:
    """Answer the API from the live build. SIGTERM and SIGINT end it.

    \b
    Example: cardpress serve --host 0.0.0.0 --port 8000 --workers 4 --trusted-proxy 10.0.0.0/8
    """
    from edge_auth.host import app, server  # the other commands need neither flask nor granian

    try:
        Path(state).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ServeError(f"--state {state}: {error.strerror}") from error
    waits = {"store_seconds": store_timeout, "keys_seconds": keys_max_age}
    settings = app.Settings(store, state, keys, trusted_proxies, rate_limit_url, **waits)
    metrics = (metrics_host or host, metrics_port) if metrics_port is not None else None
    server.serve(settings, host, port, workers, metrics, list(lacking(store, keys)))


def lacking(store: str, keys: str | None) -> Iterator[str]:
    """For those who serve for the first time: what is still to be done. It may come while the shim runs."""
    if not (
        is_folder(store) and is_folder(keys or "")
    ):  # a server that is slow or away must not keep the shim from starting
        return
    try:
        if read_pointer(open_store(store))[0] is None:
            yield f"no build is live in {store} yet: run `cardpress build --lake LAKE --store {store} --publish`"
        if not open_key_file(store, keys).records():
            where = f"--store {store}" + (f" --keys {keys}" if keys else "")
            yield f"there is no key yet: run `cardpress keys issue {where} --name NAME`"
    except EdgeError as error:
        yield f"answers will fail: {error}; `cardpress doctor --store {store}` says more"
