"""The layer `bulk-cards`: the bulk file `cards`, every Card as a line of JSON by id, from the layer `catalogue`."""

from pathlib import Path

import numpy as np

from edge_auth.contract import names
from edge_auth.contract.card_lines import CARD_LINES, CardLines
from edge_auth.contract.catalogue import COLUMNS
from edge_auth.contract.codec import compress_chunks, decompressed_chunks
from edge_auth.contract.index import map_table, only_chunk
from generator.build.bulk_files import write_entries, write_lines
from generator.build.context import BuildContext
from generator.build.layers.spec import LayerSpec, define_layer
from generator.build.tasks import BuildScope, Task, slices
from generator.pack.output import Inputs
from generator.pack.writer import Writer

RECIPE = 1
LAYER = names.bulk_layer("cards")
_LINES_PER_CHUNK = 500


def bulk_cards_layer(catalogue: LayerSpec) -> LayerSpec:
    """Define the layer of the Cards as lines, which changes when the catalogue does."""
    return define_layer(
        LAYER,
        lambda scope: [_task(scope, catalogue.digest)],
        recipe=RECIPE,
        sql=(),
        content={"layers": [catalogue.digest]},
    )


def _task(scope: BuildScope, digest: str) -> Task:
    needs = (names.CATALOGUE,) if names.CATALOGUE in scope.missing else ()
    return Task(LAYER, LAYER, _bulk_cards, (digest,), needs)


def _bulk_cards(context: BuildContext, writer: Writer, inputs: Inputs, digest: str) -> None:
    columns = map_table(context.layer_file(inputs, names.CATALOGUE, digest, COLUMNS))
    text = _inflated(context, context.layer_file(inputs, names.CATALOGUE, digest, CARD_LINES))
    lines = CardLines(text, columns["size"].to_numpy(), only_chunk(columns, "digest"))
    by_id = columns["by_id"].to_numpy().astype(np.int64)
    cuts = slices(len(by_id), _LINES_PER_CHUNK) if len(by_id) else ()
    data = compress_chunks(b"".join(bytes(line) + b"\n" for line in lines.lines(by_id[slice(*cut)])) for cut in cuts)
    write_entries(writer, [write_lines(writer, "cards", data, len(by_id), "id_product")])
    text.unlink()


def _inflated(context: BuildContext, file: Path) -> Path:
    """Inflate the lines into a file of the database's own folder, so that they need no memory."""
    path = context.db.scratch / f"{CARD_LINES}.jsonl"
    with path.open("wb") as text:
        text.writelines(decompressed_chunks(file.read_bytes()))
    return path
