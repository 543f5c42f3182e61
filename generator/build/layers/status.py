"""The layer status: `status.json`, put together from the facts that the layers catalogue and watchlist keep."""

import json

from edge_auth.contract import names
from edge_auth.contract.builds import Layer
from generator.build.context import BuildContext
from generator.build.layers.catalogue import FACTS, SEARCH
from generator.build.layers.spec import LayerSpec, define_layer
from generator.build.tasks import BuildScope, Task
from generator.pack.output import Inputs
from generator.pack.writer import Writer, members
from generator.releases.verify import checked_file

RECIPE = 1
FACTS_OF = {names.CATALOGUE: SEARCH, names.WATCHLIST: names.WATCHLIST}  # which task keeps the facts of a layer


def status_layer(catalogue: LayerSpec, watchlist: LayerSpec) -> LayerSpec:
    """The layer of the freshness, which changes whenever one of the two layers does."""

    content = {"layers": [catalogue.digest, watchlist.digest]}
    digests = {catalogue.name: catalogue.digest, watchlist.name: watchlist.digest}
    return define_layer(names.STATUS, lambda scope: [_task(scope, digests)], recipe=RECIPE, sql=(), content=content)


def _task(scope: BuildScope, digests: dict[str, str]) -> Task:
    needs = tuple(FACTS_OF[name] for name in digests if name in scope.wanted)
    return Task(names.STATUS, names.STATUS, _make, (digests,), needs)


def _make(context: BuildContext, writer: Writer, inputs: Inputs, digests: dict[str, str]) -> None:
    files = [context.file(inputs, name, digests[name], FACTS) for name in (names.WATCHLIST, names.CATALOGUE)]
    parts = [json.loads(file.read_bytes())["status"] for file in files]
    status = json.dumps(parts[0] | parts[1], ensure_ascii=False, separators=(",", ":"))
    writer.add(members([(names.STATUS_KEY, status.encode() + b"\n")]))


def facts(layer: Layer) -> dict:
    """What a layer keeps beside its objects: `status`, its part of the status object, and `left_out` rows."""
    return json.loads(checked_file(layer, FACTS).read_bytes())
