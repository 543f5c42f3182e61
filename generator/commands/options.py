"""Options and parameter types that several commands share."""

from urllib.parse import urlsplit

import click

from edge_auth.store.open import LOCATION
from generator import settings
from generator.commands.build_names import BuildName

store_option = click.option(
    "--store",
    default="site_out",
    show_default=True,
    metavar="STORE",
    help=f"{LOCATION.capitalize()} of the builds.",
)
build_option = click.option(
    "--build", "build_id", metavar="BUILD", type=BuildName(), help="Which build.  [default: the live one]"
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
lake_option = click.option(
    "--lake", required=True, show_envvar=True, help=f"{LOCATION.capitalize()} of the source tables."
)
threads_option = click.option(
    "--threads",
    type=click.IntRange(1),
    help="Threads to use.  [default: one per core that the process may use; one per worker]",
)
memory_option = click.option(
    "--memory",
    help="Memory that DuckDB may use before it spills to disk.  "
    f"[default: {settings.MEMORY}; {settings.WORKER_MEMORY} for each worker]",
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
    show_default=True,
    metavar="SECONDS",
    help="How long the lock of a killed run blocks other runs.",
)


class HttpUrl(click.ParamType):  # type: ignore[type-arg]  # generic only in new versions of click
    """A URL with http or https."""

    name = "URL"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the URL."""
        parts = urlsplit(str(value))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            self.fail(f"{value!r} is not a URL that begins with http:// or https://", param, ctx)
        return str(value)
