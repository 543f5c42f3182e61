"""Runs a WSGI application as the shim runs: on granian, with one worker and the same number of threads.

python -m bench.peers.wsgi MODULE PORT [ARGUMENT …]: MODULE.create(ARGUMENT …) returns the application
"""

import importlib
import sys

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels


def main(module: str, port: str, *arguments: str) -> None:
    """Serve until SIGINT."""
    server = Granian(
        module,
        port=int(port),
        interface=Interfaces.WSGI,
        workers=1,
        blocking_threads=1,
        log_level=LogLevels.error,
    )
    server.serve(target_loader=lambda *_, **__: importlib.import_module(module).create(*arguments), wrap_loader=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
