"""The endpoints of the steps between builds."""

from flask import current_app

from edge_auth.api.flask_app import NAME
from edge_auth.api.parameters import BuildId, page, quote_input
from edge_auth.api.routes import Query, Routes
from edge_auth.builds import layout
from edge_auth.builds.bodies import Body, dumps, list_body
from edge_auth.builds.changes import Step, Steps
from edge_auth.errors import InvalidParameter, NotFound
from edge_auth.live import keys
from edge_auth.live.build_registry import BuildRegistry

changes = Routes("changes", keys.CARDS_READ, "catalogue")
_URL = "/api/v1/changes/"


@changes.get("changes", schema="ChangesPage", of_build=False, query={"since": BuildId()} | page(50, 100))
def list_changes(query: Query) -> Body:
    """Return one page of the steps: newest first, or those since a build, oldest first."""
    builds, since = _builds(), query.since
    if since is not None and since not in builds.steps().builds:
        builds.refresh()  # another worker may know a newer build, and so may the client
    steps = builds.steps()
    found = steps.documented if since is None else steps.since(since)
    if found is None:
        raise InvalidParameter(
            f"since {quote_input(since)} is neither live nor named by a step that is kept: "
            f"fetch everything again, and go on from the live build {steps.builds[0]}"
        )
    lines = [_step_line(step, steps) for step in found[query.offset : query.offset + query.limit]]
    return list_body(lines, query.offset, query.limit, len(found))


@changes.get("changes/<pair>", path=f"{_URL}{{from}}...{{to}}", schema="Changes", of_build=False, errors=(NotFound,))
def get_changes(pair: str, query: Query) -> Body:
    builds = _builds()
    if all(step.pair != pair for step in builds.steps().documented):
        builds.refresh()
    steps = builds.steps()
    for step in steps.documented:
        if step.pair == pair:
            return builds.document(step, steps)
    raise NotFound("there is no such step: /api/v1/changes lists those that are kept")


def _builds() -> BuildRegistry:
    builds: BuildRegistry = current_app.extensions[NAME].builds
    builds.select()  # the steps are known before a build is live
    return builds


def _step_line(step: Step, steps: Steps) -> bytes:
    found = steps.entries[step]
    counts = {"added": found.added, "removed": found.removed, "changed": found.changed}
    ends = {"from": step.from_, "to": step.to, "as_of": layout.day_of(step.to)}
    return dumps(ends | counts | {"url": _URL + step.pair})
