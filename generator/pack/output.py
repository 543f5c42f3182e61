"""What a task has written, and what it is given of other tasks."""

from dataclasses import dataclass, field

import pyarrow as pa

from edge_auth.contract.index import LayerFile


@dataclass
class TaskOutput:
    """What a task has written: packs with their part of the layer's index, other files of the layer, and parts.

    Attributes:
        layer: the task's.
        rows: the part of the index, or None where there are no objects; its packs are numbered from 0.
        parts: files of the scratch place, by what they are.
    """

    layer: str = ""
    rows: pa.Table | None = None
    packs: list[LayerFile] = field(default_factory=list)
    files: list[LayerFile] = field(default_factory=list)
    parts: dict[str, LayerFile] = field(default_factory=dict)


Inputs = dict[str, TaskOutput]  # by task name
