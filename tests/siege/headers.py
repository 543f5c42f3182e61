"""Headers of a client at their largest, in shapes that make a careless parser slow."""

from edge_auth.api.endpoints import ENDPOINTS

BYTES = 60_000
_UNITS = (
    "a",
    " ",
    ",",
    ";",
    '"',
    "=",
    "/",
    "*",
    "0",
    "-",
    ".",
    ":",
    " ,",
    "0-",
    "gzip,",
    "gzip;q=1,",
    "a/b;c=d,",
    'a/b;"',
    "W/",
    '"x",',
)
SHAPES = (*((unit * BYTES)[:BYTES] for unit in _UNITS), f"a/b{' ' * (BYTES - 4)}x", f"{'gzip,' * (BYTES // 5 - 1)};")
HEADERS = (
    *("Accept", "Accept-Encoding", "If-None-Match", "If-Range", "Range", "X-Build", "X-API-Key", "Authorization"),
    *("X-Request-Id", "X-Forwarded-For", "Origin", "Access-Control-Request-Headers", "X-Refusal", "Cookie"),
)
PATHS = (
    *dict.fromkeys(endpoint.path.partition("{")[0] for endpoint in ENDPOINTS),
    "/",
    "/docs",
    "/explore",
    "/nowhere",
)
