"""The nginx of `edge_auth/nginx`: whether it has an answer, and its processes."""

from pathlib import Path

from tests.support.service import API, Client, until

CARDS = f"{API}/cards?limit=7"
LIMIT = 60  # seconds until a test fails


def cached(client: Client) -> None:
    """Request a page until nginx answers it."""
    until(lambda: client.get(CARDS)["X-Cache"] == "HIT", LIMIT, "nginx has the answer")


def children(pid: int) -> set[str]:
    return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
