"""The configuration of the nginx in `edge_auth/nginx`: written for a shim, and read back to compare it."""

import json
import os
import pwd
from dataclasses import dataclass
from pathlib import Path

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
_OPTIONS = "# options: "  # with which the first line of a configuration begins; JSON follows
_PLACES = ("socket", "folder", "log")  # the options that are paths
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
    """Return the configuration of nginx. Its first line has the options as JSON."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        finalize=lambda value: in_quotes(value.absolute()) if isinstance(value, Path) else value,
    )
    template = environment.from_string(_TEMPLATE.read_text("utf-8"))
    chosen = json.dumps(vars(options), default=lambda path: str(path.absolute()))
    return f"{_OPTIONS}{chosen}\n{template.render(lua=_TEMPLATE.parent, **vars(files), **vars(options))}"


def in_quotes(path: Path) -> str:
    """Return a path as it stands between double quotes, for nginx as well as for Lua."""
    return "".join(_ESCAPES.get(character, character) for character in str(path))


def own_user() -> str | None:
    """Return the name of this process's user if it is root, else None: only root may choose nginx's user."""
    return pwd.getpwuid(os.geteuid()).pw_name if os.geteuid() == 0 else None


def written_options(text: str) -> NginxOptions | None:
    """Return the options that a configuration was written with, or None if it is none of this module."""
    try:
        values = json.loads(text.partition("\n")[0].removeprefix(_OPTIONS))
        values |= {name: Path(values[name]) for name in _PLACES if values[name]}
        return NginxOptions(**values)
    except (ValueError, TypeError, KeyError):
        return None
