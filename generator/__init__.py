"""The batch side of cardpress: it turns a lake of Parquet files into builds in an object store. See README.md."""

import os
import signal
import sys

if os.getpid() == 1:
    # The kernel drops a SIGTERM for which process 1 of a container has no handler. This is the first line that runs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
