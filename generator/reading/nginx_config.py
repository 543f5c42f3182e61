"""The configuration of the nginx in `edge_auth/nginx`: written for a shim, and read back to compare it."""

import os
import pwd
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

import edge_auth
from edge_auth.live.places import counter_file, live_file, used_keys_folder
from generator.storage.keys import open_key_file
from generator.storage.layout import KEYS
from generator.storage.stores.open import open_store

_TEMPLATE = Path(edge_auth.__file__).parent / "nginx" / "nginx.conf.j2"
# What the options without a path may be, since nginx gets them as they are: more words would be more settings.
LISTEN = r"[A-Za-z0-9_.*-]+(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?|unix:/[A-Za-z0-9_./-]+"
MEMORY_SIZE = r"[1-9][0-9]{0,9}[kKmM]?"
PROCESSES = r"auto|[1-9][0-9]{0,3}"
_WRITTEN = {
    "socket": re.compile(r'server "unix:(.+)";'),
    "listen": re.compile(rf"(?m)^ *listen ({LISTEN}) backlog="),
    "folder": re.compile(r'pid "(.+)/nginx\.pid";'),
    "cache_size": re.compile(rf"lua_shared_dict answers ({MEMORY_SIZE});"),
    "workers": re.compile(rf"(?m)^worker_processes ({PROCESSES});"),
    "log": re.compile(r'access_log "(.+)" edge buffer='),
    "metrics_listen": re.compile(rf"(?m)^ *listen ({LISTEN});"),
    "user": re.compile(r"(?m)^user (.+);"),
}
_OPTIONAL = ("log", "metrics_listen", "user")
_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


@dataclass(frozen=True)
class ReadFiles:
    """The files that a shim writes for its nginx, which writes `counter` too."""

    live: Path
    keys: Path
    counter: Path

    @classmethod
    def of(cls, store: str, keys: str | None, state: str, socket: Path | None) -> "ReadFiles":
        """Return the files of a shim, by its options."""
        location, key_file, state = open_store(store).location, open_key_file(store, keys), str(Path(state).absolute())
        used_keys = used_keys_folder(state, key_file, socket) / KEYS
        return cls(live_file(state, location), used_keys, counter_file(state, location))


@dataclass(frozen=True)
class NginxOptions:
    """What an operator chooses for nginx, in the forms above.

    `folder` is for its own files. `log` has no `$`. `user` is None if nginx will not start as root.
    """

    socket: Path
    listen: str
    folder: Path
    cache_size: str
    workers: str
    log: Path | None
    metrics_listen: str | None
    user: str | None


def configuration(files: ReadFiles, options: NginxOptions) -> str:
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True, finalize=_in_quotes_if_path
    )
    template = environment.from_string(_TEMPLATE.read_text("utf-8"))
    return template.render(lua=_TEMPLATE.parent, **vars(files), **vars(options))


def _in_quotes_if_path(value: object) -> object:
    return in_quotes(value.absolute()) if isinstance(value, Path) else value


def in_quotes(path: Path) -> str:
    """Return a path as it stands between double quotes, for nginx as well as for Lua."""
    return "".join(_ESCAPES.get(character, character) for character in str(path))


def _unquoted(text: str) -> Path:
    meanings = {escape: character for character, escape in _ESCAPES.items()}
    return Path(re.sub(r"\\.", lambda found: meanings.get(found[0], found[0]), text))


def own_user() -> str | None:
    """Return the name of this process's user if it is root, else None: only root may choose nginx's user."""
    return pwd.getpwuid(os.geteuid()).pw_name if os.geteuid() == 0 else None


def written_options(text: str) -> NginxOptions | None:
    """Return the options that a configuration was written with, or None if it is none of this module."""
    found = {name: pattern.search(text) for name, pattern in _WRITTEN.items()}
    values: dict[str, Any] = {name: match[1] if match else None for name, match in found.items()}
    if any(value is None for name, value in values.items() if name not in _OPTIONAL):
        return None
    values |= {name: _unquoted(values[name]) for name in ("socket", "folder", "log") if values[name]}
    return NginxOptions(**values)
