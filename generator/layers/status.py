"""The layer status: `status.json`, put together from the facts that the layers catalogue and watchlist keep."""

import json

from edge_auth.contract import names
from edge_auth.contract.builds import Layer
from generator.layers.catalogue import FACTS
from generator.layers.spec import LayerPlan, plan
from generator.packs import LayerWriter, members
from generator.verify import checked_file
from generator.workshop import Workshop

RECIPE = 1


def plan_status(catalogue: LayerPlan, watchlist: LayerPlan) -> LayerPlan:
    """The layer of the freshness, which changes whenever one of the two layers does."""

    def make(workshop: Workshop, writer: LayerWriter) -> None:
        parts = [facts(Layer(workshop.store, part.name, part.digest))["status"] for part in (watchlist, catalogue)]
        status = json.dumps(parts[0] | parts[1], ensure_ascii=False, separators=(",", ":"))
        writer.add(members([(names.STATUS_KEY, status.encode() + b"\n")]))

    content = {"layers": [catalogue.digest, watchlist.digest]}
    return plan(names.STATUS, make, recipe=RECIPE, sql=(), content=content)


def facts(layer: Layer) -> dict:
    """What a layer keeps beside its objects: `status`, its part of the status object, and `left_out` rows."""
    return json.loads(checked_file(layer, FACTS).read_bytes())
