"""Where `cardpress` begins, and `python -m generator`."""

import os
import signal
import sys

if os.getpid() == 1:
    # The kernel drops a SIGTERM for which process 1 of a container has no handler. This is the first line that runs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def main() -> None:
    """Run the command line, whose modules take a while to load."""
    from generator.cli import main as run

    run()


if __name__ == "__main__":  # spawned worker processes import this module too
    main()
