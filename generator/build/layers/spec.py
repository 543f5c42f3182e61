"""What a layer is made of, and so what it is called.

A layer's digest is a hash over what went into it: the content of the lake files it reads, the SQL that makes it
(less comments and layout), a recipe number, and the Unicode version where text was folded. The recipe number
stands for the Python side and is raised when a layer's bytes change; a test holds the bytes of a small lake
against it, so a refactoring does not rebuild all history.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from edge_auth.contract import layout
from edge_auth.contract.text import UNICODE_VERSION
from generator.build.tasks import BuildScope, Task
from generator.database import sql_text

_COMMENT = re.compile(r"--[^\n]*")
_SPACE = re.compile(r"\s+")
_BASE_SQL = ("macros", "lake")


@dataclass(frozen=True)
class LayerSpec:
    """A layer that a build needs.

    Attributes:
        name: such as `cards` or `history-2025`.
        digest: names what went into it.
        inputs: that, in words and hashes, as it is kept in the build's record for `--explain`.
        pattern: how its index turns a product's id into a logical key, or '' where keys are text.
        tasks: what has to be done for it and in which order, tasks that it shares with other layers included; asked
            only where the layer is missing.
    """

    name: str
    digest: str
    inputs: dict[str, str]
    pattern: str
    tasks: Callable[[BuildScope], Iterable[Task]]

    @property
    def folder(self) -> str:
        return layout.layer_folder(self.name, self.digest)


def define_layer(
    name: str,
    tasks: Callable[[BuildScope], Iterable[Task]],
    *,
    recipe: int,
    sql: tuple[str, ...],
    content: dict[str, list[str]],
    pattern: str = "",
) -> LayerSpec:
    """Name a layer by what goes into it.

    Args:
        recipe: the layer's recipe number.
        sql: the files of `build/` that make it.
        content: what it reads, per table or setting.
    """
    inputs = {part: _digest(lines) for part, lines in sorted(content.items())}
    inputs["sql"] = _digest([_bare(sql_text(file)) for file in (*_BASE_SQL, *sql)])
    inputs["recipe"] = str(recipe)
    inputs["unicode"] = UNICODE_VERSION
    return LayerSpec(name, _digest([name, json.dumps(inputs, sort_keys=True)]), inputs, pattern, tasks)


def whole(layer: str, work: Callable, *arguments: object) -> Callable[[BuildScope], Iterable[Task]]:
    """The tasks of a layer that is small enough to be made by one."""
    return lambda scope: [Task(layer, layer, work, arguments)]


def _bare(sql: str) -> str:
    return _SPACE.sub(" ", _COMMENT.sub("", sql)).strip()


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:24]
