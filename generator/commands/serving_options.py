"""Parameter types and defaults of the options for serving, which `serve` and `doctor` share."""

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from generator.terminal import say

IpNetwork = IPv4Network | IPv6Network


class Network(click.ParamType):  # type: ignore[type-arg]  # generic only in new versions of click
    """A network in CIDR notation, or a single address."""

    name = "cidr"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> IpNetwork:
        """Return the network."""
        try:
            return ip_network(value, strict=False)
        except ValueError:
            self.fail(f"{value!r} is not a network such as 10.0.0.0/8", param, ctx)


class CounterUrl(click.ParamType):  # type: ignore[type-arg]  # generic only in new versions of click
    """The URL of a Redis or Valkey server."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the URL in its plain form."""
        from edge_auth.live.redis_counter import plain_url  # its client library is a third of the start of a shim

        try:
            url = plain_url(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if urlsplit(url).password and _is_option(param, ctx):
            say(
                "warning: the list of processes shows the password in --rate-limit-url; "
                "set the variable CARDPRESS_RATE_LIMIT_URL instead",
                err=True,
            )
        return url


def _is_option(param: click.Parameter | None, ctx: click.Context | None) -> bool:
    """Return whether a value comes from the command line, and not from a variable of the environment."""
    source = ctx.get_parameter_source(param.name) if ctx and param and param.name else None
    return source is ParameterSource.COMMANDLINE


class PlainText(click.ParamType):  # type: ignore[type-arg]  # generic only in new versions of click
    """A text that goes into the configuration of another program as it is.

    Args:
        allowed: The regular expression that it must match.
        what: What it is, for the message of a refusal.
    """

    name = "text"

    def __init__(self, allowed: str, what: str):
        self._allowed = re.compile(allowed)
        self._what = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text."""
        if not self._allowed.fullmatch(value):
            self.fail(f"{value!r} is not {self._what}", param, ctx)
        return str(value)
