"""Options and parameter types that several commands share."""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import wraps
from inspect import signature
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from generator import settings
from generator.errors import BuildError
from generator.reading.overview import LIVE, PREVIOUS
from generator.storage import layout
from generator.storage.builds import Build, live_build_id, open_build, read_pointer
from generator.storage.errors import StorageError
from generator.storage.stores.file_cache import default_state_folder
from generator.storage.stores.interface import Store
from generator.storage.stores.open import LOCATION, is_folder, open_store
from generator.terminal import say
from generator.threads import Resources

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
DEFAULT_STORE = "site_out"


class BuildName(click.ParamType):  # type: ignore[type-arg]  # generic only in new versions of click
    """The name of a build, or with `words` also `live` or `previous`. A shell completes it from the store."""

    name = "build"

    def __init__(self, words: bool = True):
        self.words = (LIVE, PREVIOUS) if words else ()

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        store = ctx.params.get("store") or DEFAULT_STORE
        choices = list(self.words)
        with suppress(StorageError, OSError):  # an error message would disturb the command line
            records = open_store(store, 1.0).list(layout.BUILDS)  # a completion should not take longer
            choices += sorted(map(layout.id_of, records), reverse=True)
        return [CompletionItem(choice) for choice in choices if choice.startswith(incomplete)]


def store_exists(location: str) -> bool:
    """Return whether there is such a folder, or anything of a store at the prefix of a bucket."""
    store = open_store(location)
    if is_folder(location):
        return Path(location).is_dir()
    return any(map(store.stat, (layout.POINTER, layout.KEYS))) or any(True for _ in store.list(layout.BUILDS))


def no_builds_message(store: str) -> str:
    exists = not is_folder(store) or Path(store).is_dir()
    where = f"no builds in {store}" if exists else f"the folder {store} does not exist"
    return f"{where}: `cardpress build --lake LAKE --store {store}` makes one"


def named_build(store: Store, name: str | None) -> Build:
    """Open the build with an id, the live build (`live` or None), or the one that was live before (`previous`)."""
    if name in (None, LIVE):
        return open_build(store, live_build_id(store))
    if name != PREVIOUS:
        return open_build(store, name)
    pointer, _ = read_pointer(store)
    if pointer is None or not pointer.previous:
        raise BuildError(
            f"no build was live before in {store.location}: `cardpress builds` lists the ids of all builds"
        )
    return open_build(store, pointer.previous[0])


FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
DAY = click.DateTime(["%Y-%m-%d"])

store_option = click.option(
    "--store", default=DEFAULT_STORE, metavar="STORE", help=f"{LOCATION.capitalize()} of the builds."
)
build_option = click.option(
    "--build", "build_id", metavar="BUILD", type=BuildName(), help="Which build.  [default: the live one]"
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
lake_option = click.option(
    "--lake", required=True, show_envvar=True, help=f"{LOCATION.capitalize()} of the source tables."
)
lake_made_option = click.option("--lake", required=True, help="Folder (made if absent) or s3:// prefix.")
keys_option = click.option("--keys", metavar="LOCATION", help="Location of the key records, if not in the store.")
state_option = click.option(
    "--state",
    default=default_state_folder,
    show_default=False,
    metavar="DIR",
    help="Folder of the shim's own files: the rate limit counter, and copies of files that it reads often.",
)
objects_option = click.option(
    "--objects", type=click.Choice(settings.OBJECTS),
    help="Which plain objects tree/ has: all, hot (what is asked most), none (tree/ stays as it is), or auto: all up "
    "to 20,000 products, hot above.  [default: as the store has it, at first auto]",
)  # fmt: skip
publish_option = click.option("--publish", "publish_it", is_flag=True, help="Make the build the live one.")


def gathered(name: str, make: Callable[..., Any], *options: _Decorator) -> _Decorator:
    """Return what gives a command some options, as the one argument `name` that `make` returns of their values."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_one(*args: Any, **given: Any) -> Any:
            values = {parameter: given.pop(parameter) for parameter in signature(make).parameters}
            return command(*args, **given, **{name: make(**values)})

        decorated: Callable[..., Any] = with_one
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


resources_options = gathered(
    "resources",
    Resources,
    click.option(
        "--threads",
        type=click.IntRange(1),
        help="Threads to use.  [default: one per core that the process may use; one per worker]",
    ),
    click.option(
        "--memory",
        help="Memory that DuckDB may use before it spills to disk.  "
        f"[default: {settings.MEMORY}; {settings.WORKER_MEMORY} for each worker]",
    ),
)
scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Build on the workers of a Dask scheduler such as tcp://host:8786, or local:N for N processes here.",
)
lease_option = click.option(
    "--lease",
    type=click.FloatRange(3),
    default=settings.LEASE_SECONDS,
    metavar="SECONDS",
    help="How long the lock of a killed run blocks the other runs of a bucket.",
)


def _retention_rules(keep: int, grace: float) -> Any:
    from generator.releases.prune import RetentionRules  # quick commands share this module, and need no DuckDB

    return RetentionRules(keep, timedelta(hours=grace))


retention_options = gathered(
    "rules",
    _retention_rules,
    click.option(
        "--keep",
        type=click.IntRange(1),
        default=settings.KEPT_BUILDS,
        metavar="N",
        help="How many builds to keep: the live one, then those that a rollback reaches, then the newest others.",
    ),
    click.option(
        "--grace",
        type=click.FloatRange(0),
        default=settings.GRACE_HOURS,
        metavar="HOURS",
        help="Keep everything younger, and builds that were live within this time: clients may be pinned to them.",
    ),
)


class Parsed(click.ParamType):  # type: ignore[type-arg]  # generic only in new versions of click
    """A text that a function reads. The message of its ValueError is that of the refusal."""

    def __init__(self, name: str, read: Callable[[str], Any]):
        self.name, self._read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._read(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


def plain_text(allowed: str, what: str) -> Parsed:
    """Return the type of a text that goes as it is into the files of another program: only what matches `allowed`."""

    def read(text: str) -> str:
        if not re.fullmatch(allowed, text):
            raise ValueError(f"{text!r} is not {what}")
        return text

    return Parsed("text", read)


def _http_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{text!r} is not a URL that begins with http:// or https://")
    return text


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"{text!r} is not a network such as 10.0.0.0/8") from None


def _counter_url(text: str) -> str:
    from edge_auth.live.redis_counter import plain_url  # its client library is a third of the start of a shim

    url = plain_url(text)
    source = click.get_current_context().get_parameter_source("rate_limit_url")
    if urlsplit(url).password and source is ParameterSource.COMMANDLINE:
        say(
            "warning: the list of processes shows the password in --rate-limit-url; "
            "set the variable CARDPRESS_RATE_LIMIT_URL instead",
            err=True,
        )
    return url


HTTP_URL = Parsed("URL", _http_url)
NETWORK = Parsed("cidr", _network)  # or a single address
COUNTER_URL = Parsed("url", _counter_url)  # of a Redis or Valkey server


def rate_limit_url_option(purpose: str) -> _Decorator:
    """Return the option for the server of a shared counter."""
    return click.option("--rate-limit-url", metavar="URL", type=COUNTER_URL, help=f"Redis or Valkey server {purpose}.")
