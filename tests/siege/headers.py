"""Headers of a client at their largest, in shapes that make a careless parser slow."""

from edge_auth.api.blueprints import ENDPOINTS

BYTES = 60_000
_UNITS = (*'a ,;"=/*0-.:', " ,", "0-", "gzip,", "gzip;q=1,", "a/b;c=d,", 'a/b;"', "W/", '"x",')


def shapes(size: int) -> tuple[str, ...]:
    """Values of so many bytes."""
    return (*((unit * size)[:size] for unit in _UNITS), f"a/b{' ' * (size - 4)}x", f"{'gzip,' * (size // 5 - 1)};")


SHAPES = shapes(BYTES)
HEADERS = (
    *("Accept", "Accept-Encoding", "If-None-Match", "If-Range", "Range", "X-Build", "X-API-Key", "Authorization"),
    *("X-Request-Id", "X-Forwarded-For", "Origin", "Access-Control-Request-Headers", "X-Refusal", "Cookie"),
)
PATHS = (
    *dict.fromkeys(endpoint.path.partition("{")[0] for endpoint in ENDPOINTS),
    *("/", "/docs", "/explore", "/nowhere"),
)
