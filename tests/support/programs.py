"""The programs that tests start: whether this machine has them, and the command that installs them on Debian.

A test names what it needs, and is left out where that is missing. This module imports the standard library alone, so
that `python3 -m tests.support.programs` runs on a fresh machine: it prints the packages of all that is missing.
"""

import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

# The one without windows takes a third of the CPU less.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
LUA_MODULE = "nginx/modules/ngx_http_lua_module.so"
# The last line of a `cardpress` that is this checkout's.
OURS = f'exec "{sys.executable}" -m generator "$@"'
_REASON = re.compile(r"needs (.+)$", re.MULTILINE)


class Program(NamedTuple):
    """Its Debian packages, and its commands: each is one name, or several of which one is enough."""

    packages: tuple[str, ...]
    commands: tuple[str | tuple[str, ...], ...]
    file: str = ""  # below /usr/lib or /usr/share

    @property
    def installed(self) -> bool:
        names = [(names,) if isinstance(names, str) else names for names in self.commands]
        has_file = not self.file or any(Path(folder, self.file).exists() for folder in ("/usr/lib", "/usr/share"))
        return has_file and all(any(map(path_of, either)) for either in names)


PROGRAMS = {
    "Ceph": Program(
        ("radosgw", "ceph-mon", "ceph-osd"), ("radosgw", "radosgw-admin", "ceph-mon", "ceph-osd", "monmaptool", "ceph")
    ),
    "Varnish": Program(("varnish",), ("varnishd",)),
    "Squid": Program(("squid",), ("squid",)),
    "Redis": Program(("redis-server",), (("redis-server", "valkey-server"),)),
    "nginx": Program(("nginx", "openssl"), ("nginx", "openssl")),
    "nginx with Lua": Program(
        ("nginx", "libnginx-mod-http-lua", "lua-resty-core", "lua-cjson"), ("nginx",), LUA_MODULE
    ),
    "openssl": Program(("openssl",), ("openssl",)),
    "Chromium": Program(("chromium-headless-shell",), (BROWSERS,)),
    "Prometheus": Program(("prometheus",), ("prometheus", "promtool")),
    "curl": Program(("curl",), ("curl",)),
    "make": Program(("make",), ("make",)),
    "Node.js": Program(("nodejs",), ("node",)),
    "Java and npm": Program(("default-jre-headless", "npm"), ("java", "npm")),
    "npm": Program(("npm",), ("npx",)),
    "systemd-analyze": Program(("systemd",), ("systemd-analyze",)),
    "strace": Program(("strace",), ("strace",)),
    "LibreOffice": Program(("libreoffice-calc-nogui",), ("soffice",)),
    "mkfs.ext4": Program(("e2fsprogs",), ("mkfs.ext4",)),
}


def shell_program(path: Path, *lines: str) -> Path:
    """Write a program of the shell, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def path_of(command: str) -> str | None:
    """Return where a command is. Those of administrators are found without their folders in PATH, too."""
    return shutil.which(command) or shutil.which(command, path="/usr/sbin:/sbin")


def needs(*names: str):
    """Return the mark of tests that are left out where one of these programs is missing."""
    import pytest

    missing = [name for name in names if not PROGRAMS[name].installed]
    return pytest.mark.skipif(bool(missing), reason=_reason(missing))


def require(*names: str) -> None:
    """Leave out the test that runs, or that needs the fixture, where one of these programs is missing."""
    import pytest

    if missing := [name for name in names if not PROGRAMS[name].installed]:
        pytest.skip(_reason(missing))


def _reason(missing: list[str]) -> str:
    return f"needs {', '.join(missing)}"


def left_out(reasons: Iterable[str]) -> str:
    """Return the sentence about tests that were skipped for these reasons; "" if none was for want of a program."""
    wanted = [found[1].split(", ") for reason in reasons if (found := _REASON.search(reason))]
    names = [name for name in PROGRAMS if any(name in each for each in wanted)]
    if not names:
        return ""
    count = "1 test was" if len(wanted) == 1 else f"{len(wanted):,} tests were"
    install = f"apt-get install --no-install-recommends {' '.join(packages(names))}"
    return f"{count} left out for want of {', '.join(names)}. On Debian this installs all: {install}"


def packages(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(package for name in names for package in PROGRAMS[name].packages))


if __name__ == "__main__":
    sys.stdout.write(" ".join(packages(name for name in PROGRAMS if not PROGRAMS[name].installed)) + "\n")
