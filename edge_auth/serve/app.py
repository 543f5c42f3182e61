"""The application that a worker serves: the API over the parts of the shim, and /healthz."""

import sys
from contextlib import suppress
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from flask import Flask, request

from edge_auth.api.blueprints import create_api
from edge_auth.api.flask_app import ApiFlask, Cardpress, Settings
from edge_auth.live.background import Jobs
from edge_auth.live.build_copies import BuildCopies
from edge_auth.live.build_registry import BuildRegistry
from edge_auth.live.bulk_files import MAX_DOWNLOADS, StoredBulkFiles
from edge_auth.live.counter import Counter, FileCounter
from edge_auth.live.keyring import Keyring, UsedKeys
from edge_auth.live.log import Log
from edge_auth.live.metrics import Metrics
from edge_auth.live.places import counter_file, live_file, store_name, used_keys_folder
from generator.storage.keys import KeyFile, open_key_file
from generator.storage.stores.file_cache import FileCache, default_state_folder
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.interface import Store
from generator.storage.stores.open import is_folder, open_store

_NO_STORE = {"Cache-Control": "no-store"}
_MAX_WAITING = 48  # requests for slow work, such as opening a build
# Of a worker. A download that is being sent has a thread of its own, and so has a request that waits.
THREADS = _MAX_WAITING + MAX_DOWNLOADS + 16
_SWITCH_SECONDS = 0.0005  # a tenth of Python's: a short request waits less for one that computes for long


def create_app(store: str = "site_out", *, state: str | None = None, **settings: Any) -> Flask:
    """Return the application of a store, for more views and extensions, by what `Settings` has.

    It reads nothing before its first request, and starts no thread: a server may fork after it is made.
    """
    state = state or default_state_folder()
    Path(state).mkdir(0o700, parents=True, exist_ok=True)
    proxies = tuple(ip_network(network, strict=False) for network in settings.pop("trusted_proxies", ()))
    open_store(store)  # raises before a request does
    return _application(Settings(store=store, state=state, trusted_proxies=proxies, **settings), Log())


def make_app(settings: Settings, log: Log | None = None) -> Flask:
    """Return the application of the process that serves it, with its builds and keys opened."""
    app = _application(settings, log or Log())
    with app.app_context(), suppress(Exception):  # if a build cannot be read, answers are 500 until it can
        _check_ready(app.service())
    return app


def _application(settings: Settings, log: Log) -> ApiFlask:
    app = create_api(partial(_service, settings, log))
    _add_health_check(app, log, settings.guest_limit)
    sys.setswitchinterval(_SWITCH_SECONDS)
    return app


def _service(settings: Settings, log: Log) -> Cardpress:
    """Return what a process answers from. This starts threads."""
    metrics = Metrics(settings.metrics, log.once)
    store = metrics.watch(open_store(settings.store, settings.store_seconds))
    keyring = _keyring(settings, log, metrics)
    jobs = Jobs(settings.store_seconds, _MAX_WAITING)
    builds = _builds(settings, store, jobs, log, metrics)
    counter = _counter(settings, store.location, log, metrics)
    files = StoredBulkFiles(builds, store, jobs)
    return Cardpress(
        builds=builds,
        keyring=keyring,
        counter=counter,
        files=files,
        log=log,
        metrics=metrics,
        settings=settings,
    )


def _keyring(settings: Settings, log: Log, metrics: Metrics) -> Keyring:
    """Return the key records. Those that are used across a network, or by an nginx, are written to the state folder."""
    file = open_key_file(settings.store, settings.keys, settings.store_seconds)
    file = KeyFile(metrics.watch(file.store), file.name)
    away = not is_folder(settings.keys or settings.store)
    if not away and settings.socket is None:
        return Keyring(file, log)
    folder = FolderStore(str(used_keys_folder(settings.state, file, settings.socket)), private=True)
    return Keyring(file, log, UsedKeys(folder, settings.guest_limit, away))


def _builds(settings: Settings, store: Store, jobs: Jobs, log: Log, metrics: Metrics) -> BuildRegistry:
    """Return the builds of a store. Those of a bucket are copied to the state folder."""
    builds = Path(settings.state) / f"builds-{store_name(store.location)}"
    copies = None if is_folder(settings.store) else BuildCopies(store, builds)
    live = live_file(settings.state, store.location) if copies or settings.socket else None
    return BuildRegistry(store, FileCache(Path(settings.state) / "copies"), jobs, log, metrics, copies, live)


def _add_health_check(app: ApiFlask, log: Log, guest_limit: int) -> None:
    """Add /healthz. The pages read there whether they need a key."""
    guests = {"guests": str(guest_limit)} if guest_limit else {}

    @app.get("/healthz")
    def healthz() -> tuple[dict[str, str], int, dict[str, str]]:
        if "live" in request.args:
            return {"status": "ok"}, 200, _NO_STORE
        service = app.service()
        try:
            build_id = _check_ready(service)
        except Exception as error:
            log.line(f"not ready: {error}")
            return {"status": "unavailable"}, 503, _NO_STORE
        failing = service.builds.problem or (service.keyring and service.keyring.last_error)
        return {"status": "ok", "build": build_id, "store": "failing" if failing else "ok"} | guests, 200, _NO_STORE


def _check_ready(service: Cardpress) -> str:
    """Return the id of the live build, if it and the key records can be read."""
    if service.keyring is not None:
        service.keyring.check()
    build = service.builds.select()
    build.catalogue.card_lines  # noqa: B018  (opened here, so that the first search need not open it)
    return build.id


def _counter(settings: Settings, store_location: str, log: Log, metrics: Metrics) -> Counter:
    """Return the counter of a store, shared by its shims that have the same state folder or the same counter URL."""
    file_counter = FileCounter(counter_file(settings.state, store_location), log.once)
    if settings.rate_limit_url is None:
        return file_counter
    from edge_auth.live.redis_counter import RedisCounter  # most shims do not need the client library

    name = f"cardpress:{store_name(store_location)}"
    fell_back = partial(metrics.count, "rate_limit_fallbacks")
    return RedisCounter(settings.rate_limit_url, name, file_counter, log.line, fell_back)
