"""The output of a task, for the index of its layer and for the tasks that need it."""

from dataclasses import dataclass, field

import pyarrow as pa

from edge_auth.builds.index import LayerFile


@dataclass
class TaskOutput:
    """The index rows and files that a task has written.

    Attributes:
        layer: The task's layer, or ''.
        index_rows: The task's share of the layer's index, or None if it wrote no objects. Its packs count from 0.
        packs: The packs that it wrote.
        files: Other files of the layer.
        intermediates: Files for other tasks, by what they hold.
    """

    layer: str = ""
    index_rows: pa.Table | None = None
    packs: list[LayerFile] = field(default_factory=list)
    files: list[LayerFile] = field(default_factory=list)
    intermediates: dict[str, LayerFile] = field(default_factory=dict)


Inputs = dict[str, TaskOutput]  # by the name of the task
