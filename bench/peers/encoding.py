"""Compression for the peers with a database: the product's own codec, the quickest one."""

from edge_auth.store.codec import compress


def encoded(body: str | bytes, accepts: str | None) -> tuple[bytes, dict[str, str]]:
    """Return a body in the encoding that fits an Accept-Encoding header, and the headers for it."""
    data = body.encode() if isinstance(body, str) else body
    return (compress(data), {"Content-Encoding": "gzip"}) if "gzip" in (accepts or "") else (data, {})
