"""Runs a command, and prints its cost as JSON: seconds of wall and CPU time, and its greatest memory in MB.

This is a process of its own because Linux counts the memory of the process that starts a command as the command's.
"""

import json
import os
import subprocess
import sys
import time


def main() -> None:
    """Run the command of the arguments, and end with its exit status."""
    began = time.monotonic()
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall, cpu = time.monotonic() - began, used.ru_utime + used.ru_stime
    print(json.dumps({"wall": wall, "cpu": cpu, "peak_mb": used.ru_maxrss * 1024 / 1e6}))
    sys.exit(process.returncode)


if __name__ == "__main__":
    main()
