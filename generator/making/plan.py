"""The plan of a build: the tasks that make the missing layers, in an order in which one machine can execute them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from generator.lake.lake import Lake
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec
from generator.making.tasks import BuildScope, Task
from generator.pack.verify import visible_damage


@dataclass(frozen=True)
class BuildPlan:
    """The tasks of a build.

    Attributes:
        build: The id of the build.
        layers: All layers of the build, in order.
        tasks: The tasks that make the missing layers. Every task comes after the tasks that it needs.
    """

    build: str
    layers: list[LayerSpec]
    tasks: list[Task]

    def of(self, layer: str) -> list[Task]:
        """Return the tasks that write a layer, in the order of its index."""
        return [task for task in self.tasks if task.layer == layer]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {"build": self.build, "tasks": [_task_fields(task) for task in self.tasks], "total": self.total()}

    def lines(self) -> Iterator[str]:
        """Yield the plan as the lines of a table."""
        width = max((len(task.name) for task in self.tasks), default=0)
        yield f"{'TASK':<{width}}  {'ROWS':>13}  NEEDS"
        for task in self.tasks:
            yield f"{task.name:<{width}}  {task.rows:>13,}  {_first_and_last(task.needs)}"
        total = self.total()
        yield f"{total['tasks']:,} tasks, {total['rows']:,} rows"

    def total(self) -> dict[str, int]:
        """Return the number of tasks, and about how many rows they read."""
        return {"tasks": len(self.tasks), "rows": sum(task.rows for task in self.tasks)}


def plan_build(
    build: str,
    lake: Lake,
    layers: list[LayerSpec],
    missing: Iterable[str],
    context: BuildContext,
    from_lake: bool = False,
) -> BuildPlan:
    """Plan a build of which some layers are missing and the others are in the store.

    Args:
        missing: The names of the missing layers.
        context: Opens the products if a missing layer is made in ranges of them.
        from_lake: Make no layer from one of fewer months that the store has.

    Raises:
        LakeError: The products break a rule.
    """
    wanted = set(missing)
    digests = {layer.name: layer.digest for layer in layers}
    scope = BuildScope(
        lake,
        missing={name: digest for name, digest in digests.items() if name in wanted},
        present={name: digest for name, digest in digests.items() if name not in wanted},
        product_ids=lambda: context.tables.product_ids(),  # opens the lake's tables
        priced_ids=lambda period: context.tables.priced_ids(period),
        stored=lambda name, digest: not from_lake and visible_damage(context.layers.open(name, digest)) is None,
    )
    tasks: dict[str, Task] = {}
    for layer in layers:
        if layer.name in wanted:
            for task in layer.tasks(scope):
                tasks.setdefault(task.name, task)
    return BuildPlan(build, layers, list(tasks.values()))


def _task_fields(task: Task) -> dict[str, Any]:
    fields = {name: getattr(task, name) for name in ("name", "layer", "needs", "objects", "rows")}
    work = task.work.func if isinstance(task.work, partial) else task.work
    return fields | {"work": f"{work.__module__}.{work.__qualname__}"}


def _first_and_last(needs: tuple[str, ...]) -> str:
    return f"{needs[0]} … {needs[-1]} ({len(needs)})" if len(needs) > 2 else ", ".join(needs)
