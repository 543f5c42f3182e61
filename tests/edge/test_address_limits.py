"""Limits by address: which addresses share one, and that no choice of addresses gives a key more than its limit."""

import struct
from hashlib import blake2b
from ipaddress import ip_address, ip_network
from itertools import count, islice

import pytest

from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.rate_limits import in_one_window
from tests.support.shim_clients import open_client

DESCRIPTION = "/api/v1/openapi.json"
LIMIT = 50


@pytest.fixture
def behind_proxy(tmp_path):
    """A client on a trusted proxy, which can claim any address."""
    small_store.add_build(FolderStore(str(tmp_path / "store")))
    trusted = (ip_network("127.0.0.1/32"),)
    place = (str(tmp_path / "store"), str(tmp_path / "state"), LIMIT)
    with open_client(*place, trusted_proxies=trusted) as client:
        yield client


def _bucket(name: str) -> int:
    """The bucket of a name by a hash without a secret, which anyone can compute."""
    return struct.unpack("<IQ", blake2b(name.encode(), digest_size=12).digest())[0] % 8192


def test_chosen_addresses_do_not_push_a_key_out(behind_proxy):
    bucket = _bucket(f"key {behind_proxy.get('/api/v1/me').json['id']}")
    every = (str(ip_address((10 << 24) + number)) for number in count())
    chosen = list(islice((address for address in every if _bucket(f"address {address}") == bucket), 9))

    def attempt() -> tuple[set[str], int]:
        answers = [behind_proxy.get("/api/v1/me") for _ in range(LIMIT)]
        for address in chosen:
            for _ in range(LIMIT + 2):
                behind_proxy.get(DESCRIPTION, key=None, x_forwarded_for=address)
        answers += [behind_proxy.get("/api/v1/me") for _ in range(LIMIT)]
        resets = {answer.headers["X-RateLimit-Reset"] for answer in answers}
        return resets, sum(answer.status == 200 for answer in answers)

    assert in_one_window(attempt) <= LIMIT


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("203.0.113.1", "203.0.113.2", False),
        ("::ffff:203.0.113.1", "203.0.113.1", True),
        ("::ffff:203.0.113.1", "::ffff:203.0.113.2", False),
    ],
)
def test_which_addresses_share_a_limit(behind_proxy, first, second, shared):
    """Addresses of one IPv6 /64 belong to one customer."""

    def attempt() -> tuple[set[str], int]:
        asked = (second, first, second)
        answers = [behind_proxy.get(DESCRIPTION, key=None, x_forwarded_for=address) for address in asked]
        left = [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers]
        return {answer.headers["X-RateLimit-Reset"] for answer in answers}, left[0] - left[2]

    assert in_one_window(attempt) == 1 + shared


@pytest.mark.shim_only("clients of other addresses")
@pytest.mark.parametrize("peer", ["2001:db8::1", "::ffff:192.0.2.1", "not an address"])
def test_peers_without_a_proxy(own, peer):
    other = {"2001:db8::1": "2001:db8::2", "::ffff:192.0.2.1": "192.0.2.1"}.get(peer, peer)

    def attempt() -> tuple[set[str], int]:
        answers = [own.get(DESCRIPTION, key=None, remote=address) for address in (peer, other)]
        left = [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers]
        return {answer.headers["X-RateLimit-Reset"] for answer in answers}, left[0] - left[1]

    assert in_one_window(attempt) == 1
