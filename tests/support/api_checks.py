"""Requests and facts that tests of the API share, whether one shim answers or a fleet."""

from tests.support.service import API, Client, HttpAnswer

EXPOSED = {
    "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after", "etag", "x-build",
    "x-total-count", "accept-ranges", "content-range",
}  # fmt: skip


def crawl(client: Client, target: str, limit: int) -> list[dict]:
    """Return all rows of a list; follow `next_offset` from page to page and check each page's `pagination`."""
    rows: list[dict] = []
    offset: int | None = 0
    while offset is not None:
        answer = client.get(f"{target}limit={limit}&offset={offset}")
        assert answer.status == 200, answer.text
        page = answer.json["pagination"]
        assert page["limit"] == limit and page["offset"] == offset
        assert page["returned"] == len(answer.json["data"]) <= limit
        assert page["has_more"] == (page["next_offset"] is not None)
        rows += answer.json["data"]
        assert page["next_offset"] in (None, offset + limit)
        offset = page["next_offset"]
    return rows


def both(client: Client, path: str) -> tuple[HttpAnswer, HttpAnswer]:
    plain, packed = client.get(f"{API}/{path}"), client.get(f"{API}/{path}", Accept_Encoding="gzip, br")
    assert (plain["Content-Encoding"], packed["Content-Encoding"]) == (None, "gzip")
    return plain, packed
