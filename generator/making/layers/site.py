"""The layers of the pages: `site`, with `openapi.json` and the pages at /, /docs and /explore, and `drawings`.

The pages show the freshness of the data, examples with their real answers, and how prices changed. So `site` is made
last, from the other layers of the build and the lake's identifiers, by the process that runs the build. No task of the
plan makes it.

`drawings` has the pictures of products whose `image` names a drawing, as in the demo lake:
`/explore/drawn/<16 hex digits>.svg`. Lakes with other images have none, and the layer is empty.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from edge_auth.live.open_build import OpenBuild
from generator.drawings import Texts, svg, template
from generator.lake.lake import Lake
from generator.making.lake_tables import CATALOGUE, IDENTIFIERS
from generator.making.layer import PlannedLayer, define_layer
from generator.making.work import BuildContext, Work, small_layer
from generator.pack.layer_writer import TaskOutput
from generator.site import openapi, pages
from generator.site.api_reference import live_examples, reference
from generator.storage import layout
from generator.storage.builds import Build, BuildRecord, RecordedLayer
from generator.storage.market import WEEK
from generator.storage.stores.file_cache import FileCache

RECIPE = 4
_SQL = ("sources/expansions", "sources/products", "sources/identifiers", "views/set_codes")


def site_layer(as_of: date, others: Sequence[PlannedLayer]) -> PlannedLayer:
    """Define the layer of the site, which changes when its files or the other layers of the build do."""
    sources = [(layout.OPENAPI_KEY, openapi.document()), *pages.sources()]
    content = {
        "sources": [f"{name} {hashlib.sha256(source).hexdigest()}" for name, source in sources],
        "layers": [f"{layer.name} {layer.digest}" for layer in others],
        "as of": [as_of.isoformat()],
    }
    return define_layer(layout.SITE, lambda plan: (), recipe=RECIPE, sql=_SQL, content=content)


def make_site(context: BuildContext, build_id: str) -> TaskOutput:
    """Make the layer from the other layers of the context's build, which must be complete."""
    with _opened(context, build_id) as build:
        live = live_examples(build)
        documents = pages.documents(live) | {layout.WEEK_KEY: _week(build)}
        documents[layout.CODES_KEY] = _set_codes(context)
        documents[layout.OPENAPI_KEY] = openapi.document(reference(live).examples)
    work = Work(context, layout.SITE, {})
    work.objects(documents.items())
    output = work.output()
    context.uploads.finish()
    context.lake.backend.check_unchanged()
    return output


def _set_codes(context: BuildContext) -> bytes:
    """Return the ids of sets by the codes that other catalogues give them, such as `m11`, for lists of cards."""
    context.tables.are_checked = True  # the other layers are complete
    context.tables.open(CATALOGUE)
    context.tables.open(IDENTIFIERS)
    context.db.run("views/set_codes")
    return json.dumps(dict(context.db.rows("from set_codes"))).encode() + b"\n"


def _week(build: OpenBuild) -> bytes:
    """Return how each price changed over 7 days, unparsed, with the id of the build, which has to be that of a list."""
    changes = build.layers[layout.MOVERS].file(WEEK).read_bytes().replace(b" ", b"")
    return b'{"build":' + json.dumps(build.id).encode() + b"," + changes.removeprefix(b"{")


@contextmanager
def _opened(context: BuildContext, build_id: str) -> Iterator[OpenBuild]:
    """Open the other layers of a build that has no record yet. Files of a bucket are copied for the time being."""
    digests = {name: digest for name, digest in context.digests.items() if name != layout.SITE}
    layers = {name: RecordedLayer(digest=digest, inputs={}) for name, digest in digests.items()}
    record = cast("BuildRecord", {"id": build_id, "as_of": context.lake.as_of.isoformat(), "layers": layers})
    with TemporaryDirectory(prefix="cardpress-") as folder:
        build = OpenBuild(Build(context.store, record, FileCache(Path(folder))))
        if context.store.local_path(""):
            build.layers = {name: context.layers.open(name, digest) for name, digest in digests.items()}
        yield build


def drawings_layer(lake: Lake) -> PlannedLayer:
    """Define the layer of the drawn pictures."""
    constants = (layout.DRAWING_PREFIX, template("single"), template("sealed"))
    return small_layer(lake, layout.DRAWINGS, _drawings, CATALOGUE, ("views/drawings",), constants=constants)


def _drawings(work: Work) -> None:
    rows = work.db.table("select * from drawings order by image")
    columns = (rows[name].to_pylist() for name in ("image", "sealed", *Texts._fields))
    work.objects(
        (image.removeprefix("/"), svg(Texts(*texts), sealed=sealed).encode())
        for image, sealed, *texts in zip(*columns, strict=True)
    )
