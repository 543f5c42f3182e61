"""The rate limit: requests per clock minute (contract, section 2, rate limit).

The counters themselves are in `edge_auth.host`: `file_counter` for one machine, `redis_counter` for several.
"""

from typing import NamedTuple, Protocol

WINDOW_SECONDS = 60


class Usage(NamedTuple):
    """The use of a limit in the current minute.

    Attributes:
        reset: The end of the minute in Unix time.
        allowed: Whether the request is within the limit.
    """

    limit: int
    remaining: int
    reset: int
    allowed: bool

    def headers(self) -> dict[str, str]:
        """Return the headers that tell the client."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }


class Counter(Protocol):
    """Counts requests by name, such as `key <id>` or `address <IP>`."""

    def hit(self, name: str, limit: int, now: float) -> Usage:
        """Count a request at `now` (Unix time) unless it is over the limit. Never raises."""
        ...


def window_of(now: float) -> int:
    """Return the number of the minute that contains `now` (Unix time)."""
    return int(now) // WINDOW_SECONDS


def usage(limit: int, used: int, window: int, allowed: bool) -> Usage:
    """Return the usage after `used` requests in a window."""
    return Usage(limit, max(0, limit - used), (window + 1) * WINDOW_SECONDS, allowed)
