"""The specification of a layer: its name, its inputs, and the tasks that make it.

The digest of a layer is a hash of everything that goes into it: the content of the lake files that it reads, the SQL
(without comments and white space), the constants of its format, a recipe number, the codec that compresses its objects,
and the Unicode version of text folding. Raise the recipe number when other Python code changes the layer's bytes: a
test compares the bytes of a small lake with it.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from edge_auth.builds import layout
from edge_auth.store.codec import CODEC
from edge_auth.text import UNICODE_VERSION
from generator.database import sql_text
from generator.making.periods import Period
from generator.making.tasks import BuildScope, Task

_COMMENT = re.compile(r"--[^\n]*")
_SPACE = re.compile(r"\s+")
_BASE_SQL = ("macros", "lake")  # run for every layer
_DIGEST_DIGITS = 24


@dataclass(frozen=True)
class LayerSpec:
    """A layer that a build needs.

    Attributes:
        name: Such as `catalogue` or `history-2025`.
        digest: A hash of everything that goes into the layer.
        inputs: What goes into it, by name, as hashes. The build's record keeps them for `--explain`.
        pattern: How the index turns the id of a product into a logical key, or '' if keys are text.
        tasks: Returns the tasks that make the layer, in order, with those that it shares with other layers. Called
            only if the layer is missing.
    """

    name: str
    digest: str
    inputs: dict[str, str]
    pattern: str
    tasks: Callable[[BuildScope], Iterable[Task]]

    @property
    def folder(self) -> str:
        """The folder of the layer in the store."""
        return layout.layer_folder(self.name, self.digest)


def define_layer(
    name: str,
    tasks: Callable[[BuildScope], Iterable[Task]],
    *,
    recipe: int,
    sql: tuple[str, ...],
    content: Mapping[str, list[str] | str],
    constants: tuple[object, ...] = (),
    pattern: str = "",
) -> LayerSpec:
    """Define a layer by what goes into it.

    Args:
        recipe: The recipe number.
        sql: The files of `build/` that make the layer.
        content: What the layer reads, by name: as lines, or as their hash.
        constants: The constants of its format, such as a page size.
    """
    inputs = {part: read if isinstance(read, str) else digest_of(read) for part, read in sorted(content.items())}
    inputs["sql"] = digest_of([_without_comments(sql_text(file)) for file in (*_BASE_SQL, *sql)])
    inputs["constants"] = digest_of([repr(constant) for constant in constants])
    inputs["recipe"] = str(recipe)
    inputs["codec"] = CODEC
    inputs["unicode"] = UNICODE_VERSION
    return LayerSpec(name, digest_of([name, json.dumps(inputs, sort_keys=True)]), inputs, pattern, tasks)


def one_task(
    layer: str,
    work: Callable[..., None],
    *arguments: object,
    after: Iterable[str] = (),
    main_thread: bool = False,
) -> Callable[[BuildScope], Iterable[Task]]:
    """Return the tasks of a layer that is small enough for one task.

    Args:
        after: The layers that it reads. Each has a task of the same name, which ends it.
    """

    def tasks(scope: BuildScope) -> Iterable[Task]:
        needs = tuple(name for name in after if name in scope.missing)
        return [Task(layer, layer, work, arguments, needs, main_thread=main_thread)]

    return tasks


def stored_part(
    scope: BuildScope, months: Sequence[Period], layer_until: Callable[[Period], LayerSpec]
) -> tuple[str | None, Sequence[Period]]:
    """Return the digest of a closed year's layer with fewer of its months that the store has, and the other months.

    Args:
        months: The months of the year that have rows, oldest first.
        layer_until: Returns the layer of the year up to one of these months.
    """
    for count in range(len(months) - 1, 0, -1):
        spec = layer_until(months[count - 1])
        if scope.stored(spec.name, spec.digest):
            return spec.digest, months[count:]
    return None, months


def _without_comments(sql: str) -> str:
    return _SPACE.sub(" ", _COMMENT.sub("", sql)).strip()


def digest_of(lines: list[str]) -> str:
    """Return the hash of some lines, as the inputs of a layer have it."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:_DIGEST_DIGITS]
