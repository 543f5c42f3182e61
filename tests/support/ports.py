"""Ports for the servers of tests."""

import secrets
import socket

_FIRST, _LAST = 10_000, 32_000  # the kernel takes ports from 32768 on for clients, also between a choice and its use


def free_port() -> int:
    """Return a port of 127.0.0.1 that nothing uses. It is a random one, for tests of other processes choose as well."""
    while True:
        port = _FIRST + secrets.randbelow(_LAST - _FIRST)
        if is_free(port):
            return port


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
