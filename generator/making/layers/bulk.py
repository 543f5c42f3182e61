"""The layers `bulk`, the manifest of the bulk files, and `bulk-sql`, a DuckLake catalogue of those of format parquet.

Both are made from the entries in the layers of the files; no table is read again.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np

from edge_auth.builds import layer_names, object_keys, pages
from edge_auth.builds.bulk import CATALOGUE, FILES, PART_OF_TABLE
from edge_auth.builds.card_lines import CARD_LINES
from edge_auth.store.codec import compress_chunks
from generator.making import ducklake
from generator.making.bulk_files import CONSTANTS, ENTRIES, FOOTER, Entry, write_catalogue, write_entries, write_lines
from generator.making.card_tasks import card_rows, card_tasks, card_texts
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.making.month_tasks import task_names
from generator.making.tasks import BuildScope, Task, slices
from generator.pack.writer import Inputs, Writer, compress_objects

RECIPE = 1
LAYER = layer_names.bulk_layer(CARD_LINES)
_LINES_PER_CHUNK = 500


def bulk_cards_layer(catalogue: LayerSpec) -> LayerSpec:
    """Define the layer of the Cards as lines, which changes when the catalogue does."""
    return define_layer(LAYER, _tasks, recipe=RECIPE, sql=(), content={"layers": [catalogue.digest]})


def _tasks(scope: BuildScope) -> Iterator[Task]:
    cards = card_tasks(scope)
    yield from cards
    yield Task(LAYER, LAYER, _bulk_cards, (), task_names(cards.products), rows=scope.products)


def _bulk_cards(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    cards = len(card_rows(context, inputs))
    cuts = slices(cards, _LINES_PER_CHUNK) if cards else ()
    with closing(card_texts(context, inputs)) as texts:
        data = compress_chunks(bytes(texts.read(np.arange(*cut))[0]) for cut in cuts)
    write_entries(writer, [write_lines(writer, CARD_LINES, data, cards, "id_product")])


SQL_LAYER = layer_names.bulk_layer(PART_OF_TABLE[CATALOGUE])


def bulk_layers(parts: Sequence[LayerSpec]) -> tuple[LayerSpec, LayerSpec]:
    """Define the layers of the catalogue and of the manifest, which change when a layer with bulk files does."""
    digests = {part.name: part.digest for part in parts}
    catalogue = define_layer(
        SQL_LAYER,
        one_task(SQL_LAYER, _catalogue, digests, after=digests),
        recipe=RECIPE,
        sql=ducklake.SQL,
        content={"layers": sorted(digests.values())},
        constants=(*CONSTANTS, *ducklake.CONSTANTS),
    )
    digests = {**digests, SQL_LAYER: catalogue.digest}
    return catalogue, define_layer(
        layer_names.BULK,
        one_task(layer_names.BULK, _manifest, digests, after=digests),
        recipe=RECIPE,
        sql=(),
        content={"layers": sorted(digests.values())},
    )


def _catalogue(context: BuildContext, writer: Writer, inputs: Inputs, digests: dict[str, str]) -> None:
    entries = [entry for entry in _entries(context, inputs, digests) if entry["format"] == "parquet"]
    data = ducklake.catalogue_file(entries)
    write_entries(writer, [write_catalogue(writer, data, sum(entry["records"] for entry in entries))])


def _manifest(context: BuildContext, writer: Writer, inputs: Inputs, digests: dict[str, str]) -> None:
    entries = _entries(context, inputs, digests)
    shown = [{name: value for name, value in entry.items() if name != FOOTER} for entry in entries]
    lines = [json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() for entry in shown]
    body = b'{"%b":[\n' % FILES.encode() + pages.BETWEEN.join(lines) + b"\n]}\n"
    writer.add(compress_objects([(object_keys.BULK_KEY, body)]))


def _entries(context: BuildContext, inputs: Inputs, digests: dict[str, str]) -> list[Entry]:
    """Return the entries of the files in some layers, by name."""
    entries: list[Entry] = []
    for layer, digest in digests.items():
        entries += json.loads(context.layers.file(inputs, layer, digest, ENTRIES).read_bytes())
    return sorted(entries, key=lambda entry: str(entry["name"]))
