"""Runs the product's commands in this process: for tests in which the start of one, a second, is not the point."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import partial

import pytest

from generator.cli import main
from tests import service
from tests.service import Failed, environment


def call(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `cardpress <arguments>` to its end, whatever that is."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "12")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["cardpress", *map(str, arguments)])
        for name in os.environ.keys() - environment().keys():
            patch.delenv(name)
        for name, value in variables.items():
            patch.setenv(name, value)
        try:
            main()
        except SystemExit as end:
            status = end.code
    said, errors = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(sys.argv, int(status or 0), said, errors)


def run(*arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Like `tests.service.run`."""
    done = call(*arguments)
    if done.returncode != status:
        raise Failed(f"{arguments}: exit {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-3000:]}")
    return done


build = partial(service.build, by=run)
issue = partial(service.issue, by=run)
