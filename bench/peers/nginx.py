"""Lower bound: nginx with one worker sends static files: answers of the product, plain and compressed.

`tcp_nopush` is off. With it, answers of this size wait for delayed acknowledgements, 40 ms each.
"""

import shutil
from pathlib import Path

from bench.peers.peer import Peer

_CONFIG = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors error; user root;
events {{ worker_connections 1024; }}
http {{
    access_log off; sendfile on; tcp_nopush off; tcp_nodelay on; keepalive_requests 100000000; gzip_static on;
    open_file_cache max=100 inactive=600s; open_file_cache_valid 600s; types {{ application/json json; }}
    client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
    uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
    server {{ listen 127.0.0.1:{port}; root {files}; }}
}}
"""


def page_file(target: str) -> str:
    """Return the name of the file that holds the answer of a target."""
    path = target.partition("?")[0]
    kind = "-card" if "/cards/" in path else "-watchlist" if "/watchlist/" in path else ""
    return f"page{kind}.json"


class NginxPeer(Peer):
    """nginx with a static file."""

    name = "nginx, static file"
    offers = frozenset({"page"})
    ready = "/page.json"
    encodings = ("identity", "gzip")

    def lacks(self) -> str | None:
        return None if shutil.which("nginx") else "apt-get install nginx-light"

    def command(self, port: int) -> list[str]:
        folder = self.data.state
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "nginx.conf"
        config.write_text(_CONFIG.format(folder=folder, port=port, files=self.data.folder))
        return ["nginx", "-p", str(folder), "-c", str(config)]

    def target(self, target: str) -> str:
        return f"/{page_file(target)}"

    def files(self) -> Path:
        return self.data.folder
