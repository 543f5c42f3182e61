"""The work of a cluster's worker: one task at a time, in one context for all tasks of a run.

This module does not import Dask.
"""

import os
import socket
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from threading import Lock

from edge_auth.builds import layout
from edge_auth.store.interface import Store
from edge_auth.store.open import is_folder, open_store
from edge_auth.text import UNICODE_VERSION
from generator.errors import BuildError, GeneratorError
from generator.lake.lake import Lake
from generator.making.context import BuildContext
from generator.making.layer import Task
from generator.making.provenance import code_sha256
from generator.making.runners import run_task
from generator.pack.writer import IntermediateStore, TaskOutput
from generator.threads import Resources

_LIBRARIES = ("cardpress", "duckdb", "pyarrow", "numpy", "isal")


def versions() -> dict[str, str]:
    """Return the versions that must be the same on all machines of a build, and the hash of the code.

    Two checkouts may have one version and other code, whose layers would have other bytes under the same digests.
    """
    return {name: version(name) for name in _LIBRARIES} | {"unicode": UNICODE_VERSION, "code": code_sha256()}


@dataclass(frozen=True)
class Job:
    """The values that all tasks of a run share."""

    run: str  # random text
    build: str
    lake: Lake
    store: str
    resources: Resources  # of each task
    resend: bool  # upload also the files that the store has
    digests: dict[str, str]  # of each layer of the build, by name
    versions: dict[str, str] = field(default_factory=versions)

    @property
    def prefix(self) -> str:
        """The folder of the build's intermediate files in the store."""
        return layout.work_folder(self.build)


def identity(job: Job) -> Job:
    """Return the job. As a Dask task it brings the lake's listing to each worker once, and again if it is lost."""
    return job


_one_task_at_a_time = Lock()
_contexts: dict[str, BuildContext] = {}  # by run; at most that of the current run
_begun: set[str] = set()  # the names of the tasks that this context has begun


def run_on_worker(job: Job, task: Task, *inputs: TaskOutput | GeneratorError) -> TaskOutput | GeneratorError:
    """Execute a task. An error that would occur again is returned, so that Dask does not retry; others are raised."""
    outputs = []
    for output in inputs:
        if isinstance(output, GeneratorError):
            return output
        outputs.append(output)
    with _one_task_at_a_time:
        try:
            return run_task(_context(job, task), task, dict(zip(task.needs, outputs, strict=True)))
        except BaseException as failed:
            _close()
            if isinstance(failed, GeneratorError):
                return failed
            raise


def _context(job: Job, task: Task) -> BuildContext:
    """Return the context of the current run. A repeated task gets a new one, since its views exist in the old one."""
    if job.run not in _contexts or task.name in _begun:
        _close()
        store = open_store(job.store)
        _check_machine(job, store)
        intermediates = IntermediateStore(store, job.prefix)
        context = BuildContext(job.lake, store, job.resources, resend=job.resend, intermediates=intermediates)
        context.digests = job.digests
        _contexts[job.run] = context
    _begun.add(task.name)
    return _contexts[job.run]


def _close() -> None:
    _begun.clear()
    while _contexts:
        _contexts.popitem()[1].close()


def _check_machine(job: Job, store: Store) -> None:
    here = f"worker {socket.gethostname()} (process {os.getpid()})"
    has = versions()
    for name, wanted in job.versions.items():
        if has[name] != wanted:
            raise BuildError(f"{here} has {name} {has[name][:12]}, the client {wanted[:12]}: install the same on both")
    shared = "it must be a shared folder or s3://bucket/prefix"
    if not any(True for _ in store.list(f"{layout.INTENTS}{job.build}/")):
        raise BuildError(f"{here} does not see store {job.store}: {shared}")
    if is_folder(job.lake.location) and not Path(job.lake.files[0].path).is_file():
        raise BuildError(f"{here} does not see lake {job.lake.location}: {shared}")
