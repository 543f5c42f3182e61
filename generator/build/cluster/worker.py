"""What a worker of a cluster does: one task at a time, with a context that it keeps as long as it works on one build.

Nothing here knows the engine. What a task has made is noted in the store beside the parts, so that a build which was
broken off goes on where it was, task by task.

    work/<build id>/job        what the client is about to do: who does not see it is on another file system
    work/<build id>/<task>     what a task has made
"""

import hashlib
import json
import os
import socket
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from threading import Lock

import pyarrow as pa

from edge_auth.contract import layout
from edge_auth.contract.index import LayerFile, to_bytes
from edge_auth.contract.store.interface import Store
from edge_auth.contract.store.open import is_folder, open_store
from edge_auth.contract.text import UNICODE_VERSION
from edge_auth.errors import MissingObject
from generator.build.context import BuildContext
from generator.build.runners import run_task
from generator.build.tasks import Task
from generator.errors import BuildError, GeneratorError
from generator.lake.lake import Lake
from generator.pack.intermediate_store import IntermediateStore
from generator.pack.output import TaskOutput

_LIBRARIES = ("cardpress", "duckdb", "pyarrow", "numpy", "isal")


def versions() -> dict[str, str]:
    """What has to be the same wherever a build is made."""
    return {name: version(name) for name in _LIBRARIES} | {"unicode": UNICODE_VERSION}


@dataclass(frozen=True)
class Job:
    """What all tasks of a run have in common.

    Attributes:
        run: chance text, so that no two runs are taken for one.
        memory: what DuckDB may use on a worker before it spills to disk.
        resend: whether to do and put again also what the store has.
    """

    run: str
    build: str
    lake: Lake
    store: str
    threads: int
    memory: str
    resend: bool
    versions: dict[str, str] = field(default_factory=versions)

    @property
    def prefix(self) -> str:
        return layout.work_folder(self.build)


def identity(job: Job) -> Job:
    """The job, as a task of its own: so each worker gets the lake's listing once, and any worker can get it again."""
    return job


_one_at_a_time = Lock()
_at_work: dict[str, BuildContext] = {}
_begun: set[str] = set()  # names of the tasks that it was inputs


def run_on_worker(
    job: Job, task: Task, folder: str, pattern: str, *inputs: TaskOutput | GeneratorError
) -> TaskOutput | GeneratorError:
    """Do a task, unless it is noted as done.

    Returns:
        What it made; or, as a value so that nobody tries again, the error that trying again would only repeat.

    Raises:
        StoreError, OSError: the store failed, which may pass.
    """
    for error in inputs:
        if isinstance(error, GeneratorError):
            return error
    with _one_at_a_time:
        try:
            return _done(_workshop(job, task), job, task, folder, pattern, dict(zip(task.needs, inputs, strict=True)))
        except GeneratorError as error:
            _close()
            return error
        except BaseException:
            _close()
            raise


def _done(
    context: BuildContext, job: Job, task: Task, folder: str, pattern: str, inputs: dict[str, TaskOutput]
) -> TaskOutput:
    note = job.prefix + _name(task)
    found = None if job.resend else _noted(context.store, note, job.prefix, folder)
    if found:
        return found
    made = run_task(context, task, folder, pattern, inputs)
    context.uploads.finish()
    context.store.put(note, _to_bytes(made))
    return made


def _workshop(job: Job, task: Task) -> BuildContext:
    """The context of the run at work; a new one for a task that is done once more, which would meet its own views."""
    if job.run not in _at_work or task.name in _begun:
        _close()
        store = open_store(job.store)
        _look_around(job, store)
        scratch = IntermediateStore(store, job.prefix)
        _at_work[job.run] = BuildContext(job.lake, store, job.threads, job.memory, lambda _: scratch, job.resend)
    _begun.add(task.name)
    return _at_work[job.run]


def _close() -> None:
    _begun.clear()
    while _at_work:
        _at_work.popitem()[1].close()


def _look_around(job: Job, store: Store) -> None:
    """Whether this machine has what the client has."""
    here = f"worker {socket.gethostname()} (process {os.getpid()})"
    for name, theirs in job.versions.items():
        if (ours := versions()[name]) != theirs:
            raise BuildError(f"{here} has {name} {ours}, the client {theirs}: install the same on both")
    if store.stat(f"{job.prefix}job") is None:
        raise BuildError(f"{here} does not see store {job.store}: it must be a shared folder or s3://bucket/prefix")
    first = job.lake.files[0]
    if is_folder(job.lake.location) and not Path(first.path).is_file():
        raise BuildError(
            f"{here} does not see lake {job.lake.location}: it must be a shared folder or s3://bucket/prefix"
        )


def _name(task: Task) -> str:
    said = json.dumps([task.name, repr(task.arguments)])
    return f"{hashlib.sha256(said.encode()).hexdigest()[:24]}.arrow"


def _to_bytes(made: TaskOutput) -> bytes:
    """What was made as an Arrow file: the rows of the index, and the names of files in its metadata."""
    rows = made.rows if made.rows is not None else pa.table({})
    files = {name: getattr(made, name) for name in ("layer", "packs", "files", "parts")}
    return to_bytes(rows.replace_schema_metadata({"made": json.dumps(files)}))


def _noted(store: Store, note: str, prefix: str, folder: str) -> TaskOutput | None:
    """What a task is noted to have made, if all of that is still there."""
    try:
        table = pa.ipc.open_file(store.get(note)).read_all()
        said = json.loads(table.schema.metadata[b"made"])
    except (MissingObject, pa.ArrowInvalid, KeyError, ValueError):
        return None
    packs, files = ([LayerFile(*file) for file in said[name]] for name in ("packs", "files"))
    parts = {name: LayerFile(*file) for name, file in said["parts"].items()}
    wanted = [(folder + file.name, file.size) for file in (*packs, *files)]
    wanted += [(prefix + part.name, part.size) for part in parts.values()]
    if any(store.stat(name) != size for name, size in wanted):
        return None
    rows = table.replace_schema_metadata(None) if table.num_columns else None
    return TaskOutput(said["layer"], rows, packs, files, parts)
