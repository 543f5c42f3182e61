"""A plain host of files: Python's own, with its defaults, as `python -m http.server` runs it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class Files(SimpleHTTPRequestHandler):
    """Serves a folder. A textfile of metrics is served as a node exporter does it."""

    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".prom": "text/plain"}  # noqa: RUF012

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def file_server(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
