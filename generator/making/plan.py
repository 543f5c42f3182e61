"""The plan of a build: the tasks that make the missing layers, in an order in which one machine can execute them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from edge_auth.contract import names
from generator.lake.lake import Lake
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec
from generator.making.tasks import BuildScope, Task, split_products

# These layers are small: one task makes each of them.
_WHOLE_LAYERS = {
    *(names.SETS, names.GAMES, names.MOVERS, names.WATCHLIST),
    *(names.BULK, names.bulk_layer("catalogue"), names.bulk_layer("watchlist")),
    *(names.FINGERPRINTS, names.STATUS, names.DRAWINGS, names.SITE),  # no task of the plan makes the site
}


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
        yield f"{'TASK':<{width}}  {'ROWS':>13}  {'READS':>11}  {'WRITES':>11}  NEEDS"
        for task in self.tasks:
            yield f"{task.name:<{width}}  {_figures(task)}  {_first_and_last(task.needs)}"
        total = self.total()
        sizes = f"{_megabytes(total['reads'])} read, {_megabytes(total['writes'])} written"
        yield f"{total['tasks']:,} tasks, {total['rows']:,} rows, {sizes}"

    def total(self) -> dict[str, int]:
        """Return the number of tasks and the sums of their estimates."""
        sums = {name: sum(getattr(task, name) for task in self.tasks) for name in ("rows", "reads", "writes")}
        return {"tasks": len(self.tasks)} | sums


def plan_build(
    build: str, lake: Lake, layers: list[LayerSpec], missing: Iterable[str], context: BuildContext
) -> BuildPlan:
    """Plan a build of which some layers are missing and the others are in the store.

    Args:
        missing: The names of the missing layers.
        context: Opens the products if a missing layer is made in ranges of them.

    Raises:
        LakeError: The products break a rule.
    """
    wanted = set(missing)
    digests = {layer.name: layer.digest for layer in layers}
    scope = BuildScope(
        lake,
        missing={name: digest for name, digest in digests.items() if name in wanted},
        present={name: digest for name, digest in digests.items() if name not in wanted},
    )
    if wanted - _WHOLE_LAYERS:
        scope = replace(scope, ranges=split_products(context.tables.product_ids()))
    tasks: dict[str, Task] = {}
    for layer in layers:
        if layer.name in wanted:
            for task in layer.tasks(scope):
                tasks.setdefault(task.name, task)
    return BuildPlan(build, layers, list(tasks.values()))


def _task_fields(task: Task) -> dict[str, Any]:
    fields = {name: getattr(task, name) for name in ("name", "layer", "needs", "objects", "rows", "reads", "writes")}
    return fields | {"work": f"{task.work.__module__}.{task.work.__qualname__}"}


def _figures(task: Task) -> str:
    return f"{task.rows:>13,}  {_megabytes(task.reads):>11}  {_megabytes(task.writes):>11}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _first_and_last(needs: tuple[str, ...]) -> str:
    return f"{needs[0]} … {needs[-1]} ({len(needs)})" if len(needs) > 2 else ", ".join(needs)
