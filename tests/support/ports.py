"""Ports for the servers of tests."""

import os
import random
import socket
from itertools import cycle

# The kernel takes ports from 32768 on for clients, also between a choice and its use. Each process of a run has every
# sixteenth port below, in an order of its own, so that no two servers that are starting get the same one.
_OURS = range(10_000 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 16, 32_000, 16)
_PORTS = cycle(random.SystemRandom().sample(_OURS, len(_OURS)))


def free_port() -> int:
    """Return a port of 127.0.0.1 that nothing uses."""
    return next(port for port in _PORTS if is_free(port))


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
