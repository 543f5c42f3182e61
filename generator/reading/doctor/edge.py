"""Checks the nginx that answers from its cache: its configuration, the files that it reads, and the shim's socket."""

import os
import pwd
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from edge_auth.serve.nginx_config import (
    NginxOptions,
    ReadFiles,
    configuration,
    in_quotes,
    written_options,
)
from generator.reading.doctor.findings import Finding, ok, problem, warning

_NGINX_PATHS = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
_ERROR = re.compile(r"\[emerg\] (?:[0-9]+#[0-9]+: )?(.+)")
_AS_SHIM = "run nginx as the user of the shim"
_NGINX_SECONDS, _CONNECT_SECONDS = 30, 2.0


def check_edge(file: Path, store: str, keys: str | None, state: str) -> Iterator[Finding]:
    """Check a configuration that `cardpress edge config` wrote, and what nginx needs for it."""
    text = file.read_text("utf-8", "replace")
    options = written_options(text)
    if options is None:
        yield problem("edge", f"{file} was not written by `cardpress edge config`", "write it with this command")
        return
    files, shim = ReadFiles.of(store, keys, state), {"store": store, "keys": keys, "state": state}
    yield _check_current(file, text, files, options, _command(shim, options))
    yield _check_acceptance(file, text, options)
    yield _check_permissions(files, options)
    yield _check_socket(options.socket)


def _check_current(file: Path, text: str, files: ReadFiles, options: NginxOptions, command: str) -> Finding:
    expected = configuration(files, options)
    lines = enumerate(zip_longest(text.splitlines(), expected.splitlines()), 1)
    different = next((number for number, (have, want) in lines if have != want), None)
    if different is None:
        return ok("edge", f"{file} is current")
    message = f"{file} is not what this version writes for this shim, from line {different}"
    return problem("edge", message, f"`{command} > {shlex.quote(str(file))}`, then reload nginx")


def _command(shim: dict[str, str | None], options: NginxOptions) -> str:
    settings = shim | {"socket": options.socket, "listen": options.listen, "folder": options.folder}
    settings |= {"cache-size": options.cache_size, "workers": options.workers}
    settings |= {"log": options.log or "off", "metrics-listen": options.metrics_listen}
    words = [word for name, value in settings.items() if value for word in (f"--{name}", str(value))]
    return shlex.join(["cardpress", "edge", "config", *words])


def _check_acceptance(file: Path, text: str, options: NginxOptions) -> Finding:
    """Let nginx test the configuration, with a folder and a log of its own so that nothing real is created."""
    nginx = shutil.which("nginx", path=_NGINX_PATHS)
    if nginx is None:
        return warning("edge", "nginx is not installed here", "run this check on the machine that runs nginx")
    with TemporaryDirectory(prefix="cardpress-doctor-") as folder:
        trial = Path(folder) / "nginx.conf"
        elsewhere = text.replace(in_quotes(options.log), f"{folder}/log") if options.log else text
        trial.write_text(elsewhere.replace(in_quotes(options.folder), folder), "utf-8")
        command = [nginx, "-t", "-q", "-e", "stderr", "-c", str(trial)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_NGINX_SECONDS)
        errors = done.stderr.replace(str(trial), str(file)).replace(folder, str(options.folder))
    if done.returncode:
        found = _ERROR.search(errors)
        advice = "install the Debian packages that the file names, or write the file again"
        return problem("edge", f"nginx refuses it: {found[1] if found else f'exit status {done.returncode}'}", advice)
    return ok("edge", "nginx accepts it")


def _check_permissions(files: ReadFiles, options: NginxOptions) -> Finding:
    shim = "start the shim, which writes it"
    needed = [
        (options.folder, "-w", "create it, as the user of the shim"),
        (files.live, "-r", shim),
        (files.keys, "-r", shim if files.copied else "issue a key"),
    ]
    if options.log:
        place = options.log if _may(options.log, "-e", None) else options.log.parent
        needed.append((place, "-w", "create it, or name another --log"))
    for path, permission, advice in needed:
        if not _may(path, permission, options.user):
            if _may(path, "-e", None):
                return problem("edge", f"the user of nginx may not use {path}", _AS_SHIM)
            return problem("edge", f"{path} does not exist", advice)
    if _may(files.counter, "-e", None) and not _may(files.counter, "-w", options.user):  # the first request creates it
        return problem("edge", f"the user of nginx may not use {files.counter}", _AS_SHIM)
    return ok("edge", "nginx may use its folder, its log, the live build, the key records and the counter")


def _may(path: Path, permission: str, user: str | None) -> bool:
    """Return whether a user may use a file. Only root can ask for another user; others ask for themselves."""
    test = ["test", permission, str(path)]
    if user is None or os.geteuid() != 0:
        return subprocess.run(test).returncode == 0
    entry = pwd.getpwnam(user)
    groups = os.getgrouplist(user, entry.pw_gid)
    return subprocess.run(test, user=entry.pw_uid, group=entry.pw_gid, extra_groups=groups).returncode == 0


def _check_socket(path: Path) -> Finding:
    advice = f"start `cardpress serve --socket {shlex.quote(str(path))}`"
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_CONNECT_SECONDS)
            connection.connect(str(path))
    except OSError as error:
        return problem("edge", f"no shim listens on {path} ({error.strerror or error})", advice)
    return ok("edge", f"a shim listens on {path}")
