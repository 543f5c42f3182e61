"""An nginx that runs one of the configurations of `generator/deploy`, on free ports and in its own folder."""

import os
import ssl
import subprocess
from pathlib import Path

from tests.support.ports import free_port
from tests.support.programs import path_of
from tests.support.service import API, ROOT, Client, patient, running, until

_MIME = Path("/etc/nginx/mime.types")
# What stands around a file in conf.d, as Debian ships it; its own gzip must not get through to us.
_AROUND = """
{user}
worker_processes 2;
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
    include {mime};
    default_type application/octet-stream;
    access_log off;
    gzip on;
    gzip_types application/json text/css application/javascript;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


class Nginx:
    def __init__(self, folder: Path, port: int, text: str):
        self.port, self.folder = port, folder
        folder.mkdir(parents=True)
        (folder / "site.conf").write_text(text)
        user = "user root;" if os.geteuid() == 0 else ""  # else its workers may not read folders of the tests
        (folder / "nginx.conf").write_text(_AROUND.format(folder=folder, mime=_MIME, user=user))
        self._command = _command(folder / "nginx.conf", "error.log")

    @classmethod
    def of_files(cls, folder: Path, root: Path) -> "Nginx":
        """Return an nginx with its defaults that serves a folder of files."""
        return cls.of_text(folder, f"server {{ listen 8080; root {root}; }}")

    @classmethod
    def of_text(cls, folder: Path, text: str) -> "Nginx":
        """Return an nginx with a text as its file in conf.d, in which it listens on port 8080."""
        port = free_port()
        return cls(folder, port, replaced(text, {"listen 8080;": f"listen 127.0.0.1:{port};"}))

    @classmethod
    def before(cls, folder: Path, shims: list[int]) -> "Nginx":
        """Return an nginx in front of shims, with its own certificate."""
        certificate, key = certified(folder.parent)
        port, tls_port = free_port(), free_port()
        changes = {  # what an operator changes: ports and places
            "listen 127.0.0.1:8080;": f"listen 127.0.0.1:{port};",
            "server 127.0.0.1:8001;": f"server 127.0.0.1:{shims[0]};",
            "server 127.0.0.1:8002;": f"server 127.0.0.1:{shims[-1]};",
            "/var/cache/nginx/cardpress": str(folder / "cache"),
            "/etc/cardpress/tls/fullchain.pem": str(certificate),
            "/etc/cardpress/tls/privkey.pem": str(key),
        }
        text = (ROOT / "generator" / "deploy" / "examples" / "nginx" / "nginx.conf").read_text()
        text = patient(replaced(text, changes)).replace("listen 443 ssl", f"listen 127.0.0.1:{tls_port} ssl")
        nginx = cls(folder, port, text)
        nginx.tls_port = tls_port
        return nginx

    def __enter__(self) -> "Nginx":
        tested = subprocess.run([*self._command, "-t"], capture_output=True, text=True)
        assert tested.returncode == 0 and "[warn]" not in tested.stderr, tested.stderr
        self._running = running(self._command, self.folder / "printed", self._listens)
        self._running.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.__exit__(None, None, None)

    @property
    def log(self) -> str:
        path = self.folder / "error.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def trusted(self) -> ssl.SSLContext:
        """Return a TLS context that trusts this server's certificate and speaks HTTP/1.1."""
        return ssl.create_default_context(cafile=str(self.folder.parent / "tls.pem"))

    def _listens(self) -> bool:
        return (self.folder / "pid").exists() and bool((self.folder / "pid").read_text().strip())


def replaced(text: str, changes: dict[str, str]) -> str:
    """Return a text with other parts, each of which must be there once."""
    for old, new in changes.items():
        assert text.count(old) == 1, f"{old!r} is not there once"
        text = text.replace(old, new)
    return text


def _command(conf: Path, log: str) -> list[str]:
    return [path_of("nginx") or "", "-p", str(conf.parent), "-e", str(conf.parent / log), "-c", str(conf)]


def check(conf: Path) -> None:
    result = subprocess.run([*_command(conf, "log"), "-t", "-q"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def certified(folder: Path) -> tuple[Path, Path]:
    """Create a certificate for `localhost`. Return its path and the path of its key."""
    certificate, key = folder / "tls.pem", folder / "tls.key"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=cards.example", "-addext", "subjectAltName=DNS:cards.example,DNS:localhost"]
    subprocess.run([*command, "-out", str(certificate), "-keyout", str(key)], check=True, capture_output=True)
    return certificate, key


CARDS = f"{API}/cards?limit=7"
LIMIT = 60  # seconds until a test fails


def cached(client: Client) -> None:
    """Request a page until nginx answers it."""
    until(lambda: client.get(CARDS)["X-Cache"] == "HIT", LIMIT, "nginx has the answer")
