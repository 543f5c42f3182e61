"""What goes into the shim and what comes out, free of any framework."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple

Network = IPv4Network | IPv6Network


class Request(NamedTuple):
    """A request as it came in.

    Attributes:
        path: percent-decoded.
        query: raw, each character a byte.
        headers: those that were sent, by lower-case name; one that could not be read is "".
        client: address of the client, proxies seen through.
        id: what the log calls the request; it is the client's own where he sent one that can be used.
    """

    method: str
    path: bytes
    query: str
    headers: Mapping[str, str]
    client: str
    id: str


@dataclass
class Answer:
    """What goes out. For log and metrics alone: the key's id and the endpoint's path, None where there is none."""

    status: int
    headers: dict[str, str]
    body: bytes = b""
    key_id: str | None = None
    endpoint: str | None = None


@dataclass
class ResponseContext:
    """What every later answer to the same request carries, refusals included, once it is known."""

    headers: dict[str, str] = field(default_factory=dict)
    key_id: str | None = None
    endpoint: str | None = None


def client_address(peer: str, forwarded: str, trusted: Sequence[Network]) -> str:
    """The nearest address that no trusted proxy has: X-Forwarded-For is believed hop by hop, from the right."""
    hops = [hop.strip() for hop in forwarded.split(",")] if forwarded else []
    current = _address(peer)
    while current is not None and hops and any(current in network for network in trusted):
        before = _address(hops.pop())
        if before is None:
            break
        current = before
    return str(current) if current is not None else peer


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """An address, an IPv4 one also where it comes wrapped in IPv6 or with a port; None for anything else."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
