"""Commands of the product, run in the test's own process: starting a process would take longer than the command."""

import os
import subprocess
import sys
from functools import partial
from unittest.mock import patch

from click.testing import CliRunner

from generator.cli import main
from tests.support import service
from tests.support.service import Failed


def run(*arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `cardpress <arguments>`, with the arguments and the result of `tests.support.service.run`."""
    command = ["cardpress", *map(str, arguments)]
    ours = {name: None for name in os.environ if name.startswith("CARDPRESS_")}
    with patch.object(sys, "argv", command), CliRunner().isolation(env=ours) as (output, errors, _):
        try:
            code = main() or 0
        except SystemExit as end:
            code = int(end.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
        result = subprocess.CompletedProcess(command, code, output.getvalue().decode(), errors.getvalue().decode())
    if code != status:
        raise Failed(f"{' '.join(command[1:])}: exit {code}\n{result.stdout[-500:]}\n{result.stderr[-3000:]}")
    return result


build = partial(service.build, by=run)
issue = partial(service.issue, by=run)
