"""A client in a process of its own. Imports little: eight of them start at once."""

from tests.support.service import API, Answer, Client


def hammer(port: int, key: str, times: int) -> list[Answer]:
    """What it is told, request by request."""
    client = Client(port, key)
    return [client.get(f"{API}/me") for _ in range(times)]
