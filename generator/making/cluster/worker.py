"""The work of a cluster's worker: one task at a time, in one context for all tasks of a build.

This module does not import Dask. A worker notes the output of each task in the store, beside the intermediate files.
So an interrupted run continues task by task.

    work/<build id>/job        written by the client; a worker that does not see it has another file system
    work/<build id>/<task>     the output of a task
"""

import hashlib
import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from threading import Lock

import pyarrow as pa

from edge_auth.builds import layout
from edge_auth.builds.index import LayerFile, to_bytes
from edge_auth.errors import MissingObject
from edge_auth.store.interface import Store
from edge_auth.store.open import is_folder, open_store
from edge_auth.text import UNICODE_VERSION
from generator.errors import BuildError, GeneratorError
from generator.lake.lake import Lake
from generator.making.context import BuildContext
from generator.making.layer import Task
from generator.making.provenance import code_sha256
from generator.making.runners import run_task
from generator.pack.writer import Inputs, IntermediateStore, TaskOutput
from generator.threads import Resources

_LIBRARIES = ("cardpress", "duckdb", "pyarrow", "numpy", "isal")


def versions() -> dict[str, str]:
    """Return the versions that must be the same on all machines of a build, and the hash of the code.

    Two checkouts may have one version and other code, whose layers would have other bytes under the same digests.
    """
    return {name: version(name) for name in _LIBRARIES} | {"unicode": UNICODE_VERSION, "code": code_sha256()}


def other_version(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str | None:
    """Return how the versions of a worker differ from those of the client, or None."""
    for name, version_ in ours.items():
        if theirs.get(name) != version_:
            have, want = (str(value)[:12] for value in (theirs.get(name), version_))
            return f"{name} {have}, the client {want}: install the same on both"
    return None


@dataclass(frozen=True)
class Job:
    """The values that all tasks of a run share.

    Attributes:
        run: Random text, another one for each run.
        resources: What each task may use.
        resend: Execute tasks and upload files again, even if the store has their output.
        digests: The digest of each layer of the build, by name.
    """

    run: str
    build: str
    lake: Lake
    store: str
    resources: Resources
    resend: bool
    digests: dict[str, str]
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
_begun: set[str] = set()  # the names of the tasks that this worker has begun in the current run


def run_on_worker(job: Job, task: Task, *inputs: TaskOutput | GeneratorError) -> TaskOutput | GeneratorError:
    """Execute a task, unless its output is noted in the store.

    Returns:
        The output; or an error that would occur again, as a value so that Dask does not retry the task.

    Raises:
        StoreError, OSError: The store failed. A retry may succeed.
    """
    outputs = []
    for output in inputs:
        if isinstance(output, GeneratorError):
            return output
        outputs.append(output)
    with _one_task_at_a_time:
        try:
            named = dict(zip(task.needs, outputs, strict=True))
            return _output(_context(job, task), job, task, named)
        except GeneratorError as failed:
            _close()
            return failed
        except BaseException:
            _close()
            raise


def _output(context: BuildContext, job: Job, task: Task, inputs: Inputs) -> TaskOutput:
    note = job.prefix + _note_name(task)
    folder = layout.layer_folder(task.layer, job.digests[task.layer]) if task.layer else ""
    noted = None if job.resend else _noted_output(context.store, note, job.prefix, folder)
    if noted:
        return noted
    output = run_task(context, task, inputs)
    context.store.put(note, _to_bytes(output))
    return output


def _context(job: Job, task: Task) -> BuildContext:
    """Return the context of the current run. A repeated task gets a new one, since its views exist in the old one."""
    if job.run not in _contexts or task.name in _begun:
        _close()
        store = open_store(job.store)
        _check_machine(job, store)
        intermediates = IntermediateStore(store, job.prefix)
        _contexts[job.run] = BuildContext(
            job.lake, store, job.resources, resend=job.resend, intermediates=intermediates
        )
        _contexts[job.run].digests = job.digests
    _begun.add(task.name)
    return _contexts[job.run]


def _close() -> None:
    _begun.clear()
    while _contexts:
        _contexts.popitem()[1].close()


def _check_machine(job: Job, store: Store) -> None:
    """Raise BuildError if this machine lacks what the client has."""
    here = f"worker {socket.gethostname()} (process {os.getpid()})"
    if difference := other_version(versions(), job.versions):
        raise BuildError(f"{here} has {difference}")
    if store.stat(f"{job.prefix}job") is None:
        raise BuildError(f"{here} does not see store {job.store}: it must be a shared folder or s3://bucket/prefix")
    first = job.lake.files[0]
    if is_folder(job.lake.location) and not Path(first.path).is_file():
        raise BuildError(
            f"{here} does not see lake {job.lake.location}: it must be a shared folder or s3://bucket/prefix"
        )


def _note_name(task: Task) -> str:
    name_and_arguments = json.dumps([task.name, repr(task.arguments)])
    return f"{hashlib.sha256(name_and_arguments.encode()).hexdigest()[:24]}.arrow"


def _to_bytes(output: TaskOutput) -> bytes:
    """Return an output as an Arrow file: the index rows, and the names of files in the metadata."""
    rows = output.index_rows if output.index_rows is not None else pa.table({})
    files = {name: getattr(output, name) for name in ("layer", "packs", "files", "intermediates")}
    return to_bytes(rows.replace_schema_metadata({"output": json.dumps(files)}))


def _noted_output(store: Store, note: str, prefix: str, folder: str) -> TaskOutput | None:
    """Return the noted output of a task if the store still has all of it."""
    try:
        table = pa.ipc.open_file(store.get(note)).read_all()
        noted = json.loads(table.schema.metadata[b"output"])
    except (MissingObject, pa.ArrowInvalid, KeyError, ValueError):
        return None
    packs, files = ([LayerFile(*file) for file in noted[name]] for name in ("packs", "files"))
    intermediates = {name: LayerFile(*file) for name, file in noted["intermediates"].items()}
    sizes = {folder + file.name: file.size for file in (*packs, *files)}
    sizes |= {prefix + file.name: file.size for file in intermediates.values()}
    if any(store.stat(name) != size for name, size in sizes.items()):
        return None
    rows = table.replace_schema_metadata(None) if table.num_columns else None
    return TaskOutput(noted["layer"], rows, packs, files, intermediates)
