"""The plan of a build: the tasks that make what is missing, in the order in which one machine does them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from edge_auth.contract import names
from generator.build.context import BuildContext
from generator.build.layers.spec import LayerSpec
from generator.build.tasks import BuildScope, Task, ranges_of
from generator.lake.lake import Lake

_WHOLE = (names.SETS, names.WATCHLIST, names.FINGERPRINTS, names.STATUS, names.SITE)


@dataclass(frozen=True)
class BuildPlan:
    """What a build has to do.

    Attributes:
        layers: all of the build, in order.
        tasks: those that make the missing ones; every task comes after those that it needs.
    """

    build: str
    layers: list[LayerSpec]
    tasks: list[Task]

    def of(self, layer: str) -> list[Task]:
        """The tasks that write a layer's objects and files, in the order of its index."""
        return [task for task in self.tasks if task.layer == layer]

    def to_dict(self) -> dict[str, Any]:
        """The plan for programs."""
        return {"build": self.build, "tasks": [_said(task) for task in self.tasks], "total": self.total()}

    def lines(self) -> Iterator[str]:
        """The plan as a table for people."""
        width = max((len(task.name) for task in self.tasks), default=0)
        yield f"{'TASK':<{width}}  {'ROWS':>13}  {'READS':>11}  {'WRITES':>11}  NEEDS"
        for task in self.tasks:
            yield f"{task.name:<{width}}  {_numbers(task.rows, task.reads, task.writes)}  {_few(task.needs)}"
        total = self.total()
        sizes = f"{_mb(total['reads'])} read, {_mb(total['writes'])} written"
        yield f"{total['tasks']:,} tasks, {total['rows']:,} rows, {sizes}"

    def total(self) -> dict[str, int]:
        """Sums over all tasks."""
        sums = {name: sum(getattr(task, name) for task in self.tasks) for name in ("rows", "reads", "writes")}
        return {"tasks": len(self.tasks)} | sums


def plan_build(
    build: str, lake: Lake, layers: list[LayerSpec], wanted: Iterable[str], context: BuildContext
) -> BuildPlan:
    """The plan of a build of which some layers are wanted, the others in the store.

    Args:
        context: opens the products, if a layer that is made in ranges of them is wanted.

    Raises:
        LakeError: the products break a rule.
    """
    wanted = set(wanted)
    digests = {layer.name: layer.digest for layer in layers}
    missing = {name: digest for name, digest in digests.items() if name in wanted}
    scope = BuildScope(lake, missing, {name: digest for name, digest in digests.items() if name not in wanted})
    if not missing.keys() <= {*_WHOLE}:
        scope = _in_ranges(scope, context)
    tasks: dict[str, Task] = {}
    for layer in layers:
        if layer.name in missing:
            for task in layer.tasks(scope):
                tasks.setdefault(task.name, task)
    return BuildPlan(build, layers, list(tasks.values()))


def _in_ranges(scope: BuildScope, context: BuildContext) -> BuildScope:
    context.open_catalogue()
    ids = context.db.table("select id_product from products order by id_product")[0].to_numpy()
    kinds = {"all": len(ids), **dict(context.db.rows("select kind, count(*) from products group by kind"))}
    kinds = {kind: kinds.get(kind, 0) for kind in names.KINDS}
    return BuildScope(scope.lake, scope.wanted, scope.kept, ranges_of(ids), kinds)


def _said(task: Task) -> dict[str, Any]:
    said = {name: getattr(task, name) for name in ("name", "layer", "needs", "objects", "rows", "reads", "writes")}
    return said | {"work": f"{task.work.__module__}.{task.work.__qualname__}"}


def _numbers(rows: int, reads: int, writes: int) -> str:
    return f"{rows:>13,}  {_mb(reads):>11}  {_mb(writes):>11}"


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _few(needs: tuple[str, ...]) -> str:
    return f"{needs[0]} … {needs[-1]} ({len(needs)})" if len(needs) > 2 else ", ".join(needs)
