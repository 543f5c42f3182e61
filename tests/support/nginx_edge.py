"""Whether the nginx of `edge_auth/nginx` can run here, with its packages."""

import shutil
from pathlib import Path

ABSENT = "no nginx with Lua here (Debian: apt-get install nginx libnginx-mod-http-lua lua-resty-core lua-cjson)"
_FOLDERS = (Path("/usr/lib/nginx/modules"), Path("/usr/share/nginx/modules"))


def installed() -> bool:
    """Return whether nginx and its Lua module are installed."""
    binary = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    return binary is not None and any((folder / "ngx_http_lua_module.so").exists() for folder in _FOLDERS)
