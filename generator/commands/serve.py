"""`cardpress serve`: run the shim of `edge_auth` with the options of the command line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from edge_auth.api.flask_app import IDLE_SECONDS, Settings
from edge_auth.errors import EdgeError
from edge_auth.serve import server
from generator.commands.options import FILE, NETWORK, keys_option, rate_limit_url_option, state_option, store_option
from generator.storage.builds import open_build, read_pointer
from generator.storage.errors import StorageError
from generator.storage.keys import open_key_file
from generator.storage.stores.open import is_folder, open_store


@click.command()
@store_option
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, help="0: any free port.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, help="Number of processes.")
@keys_option
@rate_limit_url_option("that counts requests, for shims on several machines")
@click.option(
    "--trusted-proxy", "trusted_proxies", multiple=True, type=NETWORK,
    help="Network whose X-Forwarded-For is trusted; may repeat.",
)  # fmt: skip
@state_option
@click.option(
    "--store-timeout", "store_seconds", metavar="SECONDS", type=click.FloatRange(0.1), default=5,
    help="How long a request waits for a store on S3.",
)  # fmt: skip
@click.option(
    "--drain", "drain_seconds", metavar="SECONDS", type=click.FloatRange(0, 300), default=3.5,
    help="How long SIGTERM waits at most for clients that ask: answers then close their connections.",
)  # fmt: skip
@click.option(
    "--socket", type=FILE,
    help="Listen on this unix socket instead, behind the nginx of `cardpress edge config`.",
)  # fmt: skip
@click.option(
    "--guest-limit", type=click.IntRange(0, 1_000_000), default=0,
    help="Answer GET without a key too, so often a minute for each address. 0: a key is needed.",
)  # fmt: skip
@click.option(
    "--behind-cdn", is_flag=True,
    help="A CDN or cache asks before each use of a copy: answers may be shared by keys. See docs/cdn.md.",
)  # fmt: skip
@click.option(
    "--worker-secret", metavar="TEXT",
    help="By which the worker of `cardpress deploy worker` proves that it has counted a request.",
)  # fmt: skip
@click.option(
    "--idle-timeout", "idle_seconds", metavar="SECONDS", type=click.FloatRange(1, 3600), default=IDLE_SECONDS,
    help="How long a connection may stay idle. Longer than at the proxy or load balancer in front.",
)  # fmt: skip
@click.option("--metrics-port", type=click.IntRange(0, 65535), help="Serve metrics to Prometheus. 0: any free port.")
@click.option("--metrics-host", help="Address to serve metrics at.  [default: --host]")
def serve(
    store: str,
    host: str,
    port: int,
    workers: int,
    keys: str | None,
    state: str,
    metrics_port: int | None,
    metrics_host: str | None,
    **settings: Any,  # further ones of Settings
) -> None:
    """Answer the API from the live build. SIGTERM and SIGINT end it.

    \b
    Example: cardpress serve --host 0.0.0.0 --port 8000 --workers 4 --trusted-proxy 10.0.0.0/8
    """
    try:
        Path(state).mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EdgeError(f"--state {state}: {error.strerror}") from error
    if settings["socket"] is not None and settings["rate_limit_url"] is not None:
        raise EdgeError(
            "--socket and --rate-limit-url exclude each other: nginx counts in a file of this machine; "
            "for several machines see docs/edge.md"
        )
    if settings["rate_limit_url"] is not None:
        _check_counter(settings["rate_limit_url"])
    notes = list(missing_steps(store, keys))
    if settings["trusted_proxies"]:  # the server folds both names into one
        notes.append(
            "the proxy must drop headers whose names contain underscores: with X_Forwarded_For a client "
            "chooses the address that counts (docs/security.md)"
        )
    metrics = (metrics_host or host, metrics_port) if metrics_port is not None else None
    server.serve(
        Settings(store=store, state=state, keys=keys, **settings),
        host=host,
        port=port,
        workers=workers,
        metrics=metrics,
        notes=notes,
    )


def _check_counter(url: str) -> None:
    """Refuse a server of another kind. One that does not answer is waited for while the shim runs."""
    from generator.reading.counters import place, wrong_kind  # its client library is a third of the start of a shim

    if kind := wrong_kind(url):
        raise EdgeError(
            f"--rate-limit-url: {place(url)} is {kind}: name a single Redis or Valkey server, with replicas or not"
        )


def missing_steps(store: str, keys: str | None) -> Iterator[str]:
    """Yield what is still to be done before the API can be used. The operator may do it while the shim runs.

    Only folders are checked, because a slow or unreachable server must not delay the start of the shim.
    """
    if not (is_folder(store) and is_folder(keys or "")):
        return
    try:
        pointer, _ = read_pointer(open_store(store))
        if pointer is None:
            yield f"no build is live in {store} yet: run `cardpress build --lake LAKE --store {store} --publish`"
        else:
            open_build(open_store(store), pointer.build)
        if not open_key_file(store, keys).changes().version:
            where = f"--store {store}" + (f" --keys {keys}" if keys else "")
            yield f"there is no key yet: run `cardpress keys issue {where} --name NAME`"
    except StorageError as error:
        yield f"requests will fail: {error}; `cardpress doctor --store {store}` says more"
