"""The nginx of `edge_auth/nginx`: whether it can run here, with its packages, and whether it has an answer."""

import shutil
from pathlib import Path

from tests.support.service import API, Client, until

CARDS = f"{API}/cards?limit=7"
LIMIT = 60  # seconds until a test fails
ABSENT = "no nginx with Lua here (Debian: apt-get install nginx libnginx-mod-http-lua lua-resty-core lua-cjson)"
_FOLDERS = (Path("/usr/lib/nginx/modules"), Path("/usr/share/nginx/modules"))


def installed() -> bool:
    """Return whether nginx and its Lua module are installed."""
    binary = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    return binary is not None and any((folder / "ngx_http_lua_module.so").exists() for folder in _FOLDERS)


def cached(client: Client) -> None:
    """Request a page until nginx answers it."""
    until(lambda: client.get(CARDS)["X-Cache"] == "HIT", LIMIT, "nginx has the answer")
