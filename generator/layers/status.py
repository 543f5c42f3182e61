"""The layer status: `status.json`, put together from the facts that the layers catalogue and watchlist keep."""

import json

from edge_auth.contract import names
from edge_auth.contract.builds import Layer
from generator.layers.catalogue import FACTS, SEARCH
from generator.layers.spec import LayerPlan, plan
from generator.packs import Writer, members
from generator.tasks import Given, Scope, Task
from generator.verify import checked_file
from generator.workshop import Workshop

RECIPE = 1
FACTS_OF = {names.CATALOGUE: SEARCH, names.WATCHLIST: names.WATCHLIST}  # which task keeps the facts of a layer


def plan_status(catalogue: LayerPlan, watchlist: LayerPlan) -> LayerPlan:
    """The layer of the freshness, which changes whenever one of the two layers does."""

    content = {"layers": [catalogue.digest, watchlist.digest]}
    digests = {catalogue.name: catalogue.digest, watchlist.name: watchlist.digest}
    return plan(names.STATUS, lambda scope: [_task(scope, digests)], recipe=RECIPE, sql=(), content=content)


def _task(scope: Scope, digests: dict[str, str]) -> Task:
    needs = tuple(FACTS_OF[name] for name in digests if name in scope.wanted)
    return Task(names.STATUS, names.STATUS, _make, (digests,), needs)


def _make(workshop: Workshop, writer: Writer, given: Given, digests: dict[str, str]) -> None:
    files = [workshop.file(given, name, digests[name], FACTS) for name in (names.WATCHLIST, names.CATALOGUE)]
    parts = [json.loads(file.read_bytes())["status"] for file in files]
    status = json.dumps(parts[0] | parts[1], ensure_ascii=False, separators=(",", ":"))
    writer.add(members([(names.STATUS_KEY, status.encode() + b"\n")]))


def facts(layer: Layer) -> dict:
    """What a layer keeps beside its objects: `status`, its part of the status object, and `left_out` rows."""
    return json.loads(checked_file(layer, FACTS).read_bytes())
