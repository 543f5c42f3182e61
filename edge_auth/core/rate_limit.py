"""The rate limit: clock-aligned windows of one minute (contract, section 2, rate limit).

`counter_file` counts over the shims of a machine, `counter_redis` over machines.
"""

from typing import NamedTuple, Protocol

WINDOW_SECONDS = 60


class Usage(NamedTuple):
    """How a key stands in the current minute."""

    limit: int
    remaining: int
    reset: int
    allowed: bool

    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }


class Counter(Protocol):
    """What counts requests, under any name: a key's, or a client's address."""

    def hit(self, name: str, limit: int, now: float) -> Usage:
        """Count a request at `now` (Unix time) unless it is over the limit. Never raises."""
        ...


def window_of(now: float) -> int:
    """The minute that a moment lies in, as a number."""
    return int(now) // WINDOW_SECONDS


def usage(limit: int, used: int, window: int, allowed: bool) -> Usage:
    """How a key stands that has used so much of its limit in a window."""
    return Usage(limit, max(0, limit - used), (window + 1) * WINDOW_SECONDS, allowed)
