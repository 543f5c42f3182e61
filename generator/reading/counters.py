"""What is wrong with a shared counter of the rate limit."""

from typing import cast
from urllib.parse import urlsplit

from edge_auth.live.redis_counter import COUNT_SCRIPT, NO_LIMIT, connect, redis

_PROBE_TIMEOUT_SECONDS = 3.0
_KIND_TIMEOUT_SECONDS = 0.5


def place(url: str) -> str:
    """Return where a server is, without a password."""
    address = urlsplit(url)
    return f"{address.hostname or address.path}{f':{address.port}' if address.port else ''}"


def wrong_kind(url: str) -> str | None:
    """Return what a server is, if it answers and is of a kind that cannot count for several shims, or None."""
    try:
        with connect(url, _KIND_TIMEOUT_SECONDS) as server:
            information = cast("dict[str, object]", server.info())
    except (redis.RedisError, OSError, ValueError):  # it may be down now; `server_problem` tells
        return None
    if information.get("cluster_enabled"):
        return "a Redis Cluster, whose servers each refuse the counts of the others"
    return "a Sentinel, which counts nothing" if information.get("redis_mode") == "sentinel" else None


def server_problem(url: str) -> str | None:
    """Return why a server cannot count, or None if it can. This waits longer than a request would."""
    try:
        with connect(url, _PROBE_TIMEOUT_SECONDS) as server:
            server.eval(COUNT_SCRIPT, 1, "cardpress:look", NO_LIMIT, 1)
    except (redis.RedisError, OSError, ValueError) as error:
        return str(error)
    return None
