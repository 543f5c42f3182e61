"""How the peers with a database compress for clients that take gzip: by the product's codec, the quickest there is."""

from edge_auth.contract.codec import compress


def encoded(body: str | bytes, accepts: str | None) -> tuple[bytes, dict[str, str]]:
    """A body as a client takes it that sends this Accept-Encoding, and the headers that say so."""
    data = body.encode() if isinstance(body, str) else body
    return (compress(data), {"Content-Encoding": "gzip"}) if "gzip" in (accepts or "") else (data, {})
