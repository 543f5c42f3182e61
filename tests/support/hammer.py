"""A client for a process of its own. It imports little, because eight of them start at once."""

from tests.support.service import API, Client, HttpAnswer


def hammer(port: int, key: str, times: int) -> list[HttpAnswer]:
    """Send the same request several times. Return the answers in order."""
    client = Client(port, key)
    return [client.get(f"{API}/me") for _ in range(times)]
