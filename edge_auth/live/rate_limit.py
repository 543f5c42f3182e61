"""The rate limit: requests per clock minute.

The counters themselves are in `edge_auth.live`: `file_counter` for one machine, `redis_counter` for several.
"""

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NamedTuple, Protocol

WINDOW_SECONDS = 60
_ADDRESS = "address "
_IPV6_PREFIX_LENGTH = 64  # what a provider gives to one customer at least


class Usage(NamedTuple):
    """The use of a limit in the current minute.

    Attributes:
        used: The requests that were counted, this one included.
        window: The number of the minute.
        allowed: Whether the request is within the limit.
    """

    limit: int
    used: int
    window: int
    allowed: bool

    @property
    def remaining(self) -> int:
        """How many more requests the limit allows."""
        return max(0, self.limit - self.used)

    @property
    def reset(self) -> int:
        """The end of the minute in Unix time."""
        return (self.window + 1) * WINDOW_SECONDS

    def headers(self) -> dict[str, str]:
        """Return the headers that report the usage to the client."""
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


class KeyWindow(NamedTuple):
    """A window in which requests with a key count: the first word of its names, and its multiple of the key's limit."""

    word: str
    factor: int = 1

    def name(self, id_: str) -> str:
        """Return the name under which requests with a key are counted."""
        return f"{self.word} {id_}"


PER_KEY = KeyWindow("key")
PER_KEY_FOR_FILES = KeyWindow("bulk", 10)


@lru_cache(1024)
def address_name(client: str) -> str:
    """Return the name under which requests without a key are counted: an IPv4 address, or the /64 of an IPv6 one."""
    try:
        address = ip_address(client)
    except ValueError:
        return _ADDRESS + client
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is None:
            return f"{_ADDRESS}{ip_network((int(address), _IPV6_PREFIX_LENGTH), strict=False)}"
        address = address.ipv4_mapped
    return f"{_ADDRESS}{address}"


def is_address(name: str) -> bool:
    """Return whether a name stands for an address, of which there may be any number, and not for a key."""
    return name.startswith(_ADDRESS)


def window_of(now: float) -> int:
    """Return the number of the minute that contains `now` (Unix time)."""
    return int(now) // WINDOW_SECONDS
