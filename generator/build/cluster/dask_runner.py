"""The runner on a Dask cluster: `--scheduler tcp://host:8786`, or `local:N` for N processes of this machine.

The one module that imports Dask. A task of the plan is a task of the cluster under the name that the plan prints.
Data goes between workers by way of the store; here arrive parts of indexes and names of files. A worker that is lost
loses its task to another one; a task is done once more where the store failed.
"""

import logging
import secrets
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress

from distributed import Client, Future, LocalCluster, as_completed
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from edge_auth.errors import EdgeError
from generator.build.cluster.worker import Job, identity, run_on_worker
from generator.build.context import BuildContext
from generator.build.plan import BuildPlan
from generator.build.runners import Tick
from generator.build.tasks import Task
from generator.clock import timestamp, utc_now
from generator.errors import BuildError, GeneratorError
from generator.pack.intermediate_store import IntermediateStore
from generator.pack.output import TaskOutput

LOCAL = "local:"
_RETRIES = 2
_CONNECT_SECONDS = 10
_GONE = (CommClosedError, CancelledError, TimeoutError, ConnectionError)


class DaskRunner:
    """Does the tasks of a plan on the workers of a Dask scheduler; see `generator.runners.Runner`.

    Args:
        ours: says what workers need: lake, store, threads of each task, memory of each worker.

    Raises:
        BuildError: there is no such scheduler.
    """

    def __init__(self, scheduler: str, context: BuildContext, build: str):
        store, resend = context.store, context.uploads.resend
        self._job = Job(
            secrets.token_hex(3), build, context.lake, store.location, context.threads, context.memory, resend
        )
        self._scratch = IntermediateStore(store, self._job.prefix)
        self._scheduler = scheduler
        self._futures: dict[str, Future] = {}
        # It would report each reconnection and lost worker on its own; what matters is said in one line.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._own, self._client = _connected(scheduler)

    def begin(self, plan: BuildPlan) -> None:
        self._scratch.store.put(f"{self._scratch.prefix}job", f"{timestamp(utc_now())}\n".encode())
        layers = {layer.name: (layer.folder, layer.pattern) for layer in plan.layers}
        job = self._client.submit(identity, self._job, key=f"job ({self._job.run})", pure=False)
        for number, task in enumerate(plan.tasks):
            self._futures[task.name] = self._client.submit(
                run_on_worker,
                job,
                task,
                *layers.get(task.layer, ("", "")),
                *(self._futures[name] for name in task.needs),
                key=f"{task.name} ({self._job.run})",
                priority=-number,
                retries=_RETRIES,
                pure=False,
            )

    def results(self, tasks: list[Task], tick: Tick) -> list[TaskOutput]:
        of = {self._futures[task.name].key: task for task in tasks}
        made: dict[str, TaskOutput] = {}
        with self._told():
            futures = [self._futures[task.name] for task in tasks]
            for future, result in as_completed(futures, loop=self._client.loop, with_results=True):
                if not isinstance(result, TaskOutput):
                    raise result
                made[of[future.key].name] = result
                tick(len(result.rows) if result.rows is not None else 0)
        return [made[task.name] for task in tasks]

    def settle(self) -> None:
        """A worker gives nothing before it is in the store."""

    def close(self, *, clear: bool) -> None:
        with suppress(*_GONE, OSError):
            self._client.cancel(list(self._futures.values()), force=True)
        if clear:
            self._scratch.clear()
        with suppress(*_GONE, OSError):
            self._client.close(timeout=5)
            if self._own:
                self._own.close(timeout=5)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong with the cluster, in one line."""
        again = "nothing was published; run it again, and what is done is not done again"
        try:
            yield
        except (GeneratorError, EdgeError):
            raise
        except KilledWorker as error:
            name = str(error.task).rpartition(" (")[0]
            lost = f"{error.allowed_failures + 1} workers died of task {name}"
            raise BuildError(f"{lost}: see their logs, or give them more memory; {again}") from error
        except (*_GONE, OSError, RuntimeError) as error:
            raise BuildError(f"the Dask scheduler {self._scheduler} is gone: {again}") from error


def _connected(scheduler: str) -> tuple[LocalCluster | None, Client]:
    if not scheduler.startswith(LOCAL):
        try:
            return None, Client(scheduler, set_as_default=False, timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise BuildError(
                f"no Dask scheduler answers at {scheduler}: start one, or say --scheduler local:N"
            ) from error
    count = scheduler.removeprefix(LOCAL)
    if not count.isdecimal() or not int(count):
        raise BuildError(f"--scheduler {scheduler}: say how many worker processes, such as local:2")
    own = LocalCluster(
        n_workers=int(count),
        threads_per_worker=1,
        memory_limit=0,  # each task keeps to its own bound; see docs/scale.md
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )
    return own, Client(own, set_as_default=False)
