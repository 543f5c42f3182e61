"""The runner on a Dask cluster: `--scheduler tcp://host:8786`, or `local:N` for N processes on this machine.

This is the only module that imports Dask. A task of the plan is a Dask task of the same name. Workers exchange data
through the store; the client receives index rows and file names. A task moves to another worker when its worker dies,
and is tried again when the store fails. A worker checks itself before its first task. It executes one task at a time,
in one context for all tasks of a run (`run_on_worker`).
"""

import logging
import os
import secrets
import socket
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

from distributed import Client, Future, LocalCluster, wait
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

from generator.errors import BuildError, GeneratorError
from generator.lake.lake import Lake
from generator.making.layer import Task, code_sha256
from generator.making.plan import Plan
from generator.making.runners import Tick, run_task
from generator.making.work import BuildContext
from generator.pack.layer_writer import IntermediateStore, TaskOutput
from generator.storage import layout
from generator.storage.errors import StorageError
from generator.storage.stores.interface import Store
from generator.storage.stores.open import is_folder, open_store
from generator.storage.text import UNICODE_VERSION
from generator.terminal import say
from generator.threads import Resources

LOCAL = "local:"
_RETRIES = 2
_CONNECT_SECONDS = 10
_CLOSE_SECONDS = 5
# When a client without workers says so, and when it gives up.
_SILENT_SECONDS = 8.0
_WITHOUT_WORKERS_SECONDS = 120.0
_CONNECTION_ERRORS = (CommClosedError, CancelledError, TimeoutError, ConnectionError)
_LIBRARIES = ("cardpress", "duckdb", "pyarrow", "numpy", "isal")


class DaskRunner:
    """Executes the tasks of a plan on the workers of a Dask scheduler, as a `Runner`; BuildError if none answers."""

    def __init__(self, scheduler: str, context: BuildContext, plan: Plan):
        self._scheduler, self._lake = scheduler, context.lake
        resend, run = context.uploads.resend, secrets.token_hex(3)
        job = Job(run, plan.build, context.lake, context.store.location, context.resources, resend, context.digests)
        self._store, self._folder = context.store, layout.work_folder(plan.build)  # of the intermediate files
        self._alone_since: float | None = None
        # Dask logs each reconnection and lost worker; this runner reports in one line what matters.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._local_cluster, self._client = _connect(scheduler)
        shared = self._client.submit(identity, job, key=f"job ({run})", pure=False)
        self._futures: dict[str, Future[Any]] = {}
        for number, task in enumerate(plan.tasks):
            self._futures[task.name] = self._client.submit(
                run_on_worker,
                shared,
                task,
                *(self._futures[name] for name in task.needs),
                key=f"{task.name} ({run})",
                priority=-number,
                retries=_RETRIES,
                pure=False,
            )

    def results(self, tasks: list[Task], tick: Tick) -> list[TaskOutput]:
        """Return the outputs of tasks; see `Runner.results`."""
        of_future = {self._futures[task.name].key: task for task in tasks}
        outputs: dict[str, TaskOutput] = {}
        with self._one_line_errors():
            for future in self._completed({self._futures[task.name] for task in tasks}):
                result = future.result()
                if not isinstance(result, TaskOutput):
                    raise result
                outputs[of_future[future.key].name] = result
                tick(of_future[future.key].objects)
        self._lake.backend.check_unchanged(self._lake.files)
        return [outputs[task.name] for task in tasks]

    def _completed(self, pending: set[Future[Any]]) -> Iterator[Future[Any]]:
        """Yield futures as they end. Raise BuildError if there was no worker for too long."""
        while pending:
            try:
                with self._client.as_current():
                    done, pending = wait(pending, timeout=_SILENT_SECONDS, return_when="FIRST_COMPLETED")
            except TimeoutError:
                self._wait_for_workers()
                continue
            self._alone_since = None
            yield from done

    def _wait_for_workers(self) -> None:
        """Say that there is no worker, if so. One that was lost counts until the scheduler misses it."""
        if self._client.nthreads():
            self._alone_since = None
            return
        if self._alone_since is None:
            self._alone_since = time.monotonic()
            say(f"the Dask scheduler {self._scheduler} has no worker: waiting for one", err=True)
        elif time.monotonic() - self._alone_since > _WITHOUT_WORKERS_SECONDS:
            raise BuildError(f"the Dask scheduler {self._scheduler} has no worker: start one with `dask worker`")

    def close(self) -> None:
        """Cancel what is left, delete the intermediate files, and disconnect."""
        with suppress(*_CONNECTION_ERRORS, OSError):
            self._client.cancel(list(self._futures.values()), force=True)
        with suppress(StorageError):  # a prune deletes what is left
            self._store.delete(self._store.list(self._folder))
        with suppress(*_CONNECTION_ERRORS, OSError):
            self._client.close(timeout=_CLOSE_SECONDS)
            if self._local_cluster:
                self._local_cluster.close(timeout=_CLOSE_SECONDS)

    @contextmanager
    def _one_line_errors(self) -> Iterator[None]:
        again = "nothing was published; run the build again, it continues with the layers that are done"
        try:
            yield
        except (GeneratorError, StorageError):
            raise
        except KilledWorker as error:
            name = str(error.task).rpartition(" (")[0]
            deaths = f"{error.allowed_failures + 1} workers died in task {name}"
            raise BuildError(f"{deaths}: look into their logs, or give them more memory; {again}") from error
        except (*_CONNECTION_ERRORS, OSError, RuntimeError) as error:
            raise BuildError(f"the Dask scheduler {self._scheduler} is gone: {again}") from error
        except (ImportError, AttributeError, TypeError) as error:
            same = "install on the workers what the client has"
            raise BuildError(f"a worker cannot run this version of cardpress ({error}): {same}") from error


def _connect(scheduler: str) -> tuple[LocalCluster | None, Client]:
    if not scheduler.startswith(LOCAL):
        try:
            return None, Client(scheduler, set_as_default=False, timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise BuildError(
                f"no Dask scheduler answers at {scheduler}: start one, or use --scheduler local:N"
            ) from error
    count = scheduler.removeprefix(LOCAL)
    if not count.isdecimal() or not int(count):
        raise BuildError(f"--scheduler {scheduler}: give the number of worker processes, such as local:2")
    cluster = LocalCluster(
        n_workers=int(count),
        threads_per_worker=1,
        memory_limit=0,  # each task keeps to its own bound; see docs/where-it-runs.md
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )
    return cluster, Client(cluster, set_as_default=False)


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
        intermediates = IntermediateStore(store, layout.work_folder(job.build))
        _contexts[job.run] = BuildContext(
            job.lake, store, job.resources, resend=job.resend, intermediates=intermediates, digests=job.digests
        )
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
