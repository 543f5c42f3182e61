"""The address of a client behind trusted proxies."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Network = IPv4Network | IPv6Network
_MAX_HOPS = 20  # a client may claim thousands of addresses, each of which takes time to parse


def client_address(peer: str, forwarded: str, trusted: Sequence[Network]) -> str:
    """Return the nearest address that is not a trusted proxy.

    Args:
        peer: The address that opened the connection.
        forwarded: X-Forwarded-For. It is read from the right, as long as each address is a trusted proxy.
        trusted: The networks of the trusted proxies.
    """
    hops = [hop.strip() for hop in forwarded.rsplit(",", _MAX_HOPS)[-_MAX_HOPS:]] if forwarded else []
    current = _address(peer)
    while current is not None and hops and any(current in network for network in trusted):
        before = _address(hops.pop())
        if before is None:
            break
        current = before
    return str(current) if current is not None else peer


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an address, also with a port. IPv4 addresses inside IPv6 become IPv4. Return None for other text."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
