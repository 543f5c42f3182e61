"""/changes: the steps of a store, and what differs between the builds of a step."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from edge_auth.api.parameters import quote_input
from edge_auth.builds import layout
from edge_auth.builds.bodies import Body, dumps, list_body
from edge_auth.builds.changes import Step, Steps
from edge_auth.errors import InvalidParameter, NotFound

_URL = "/api/v1/changes/"


class StepLog(Protocol):
    """The steps of a store, as a shim follows them."""

    def known(self) -> Steps:
        """Return the steps.

        Raises:
            NoLiveBuild: No build was ever published.
            StoreError: They could never be read.
        """
        ...

    def refreshed(self) -> Steps:
        """Return the steps after another look at the store, if the rate of looks allows one."""
        ...

    def document(self, step: Step, steps: Steps) -> Body:
        """Return what differs between the builds of a step.

        Raises:
            StoreError: The document cannot be read.
        """
        ...


def list_changes(log: StepLog, _: str, values: Mapping[str, Any]) -> Body:
    """Return one page of the steps: newest first, or those since a build, oldest first.

    Raises:
        InvalidParameter: `since` is neither live nor named by a step.
    """
    steps, since = log.known(), values["since"]
    found: Sequence[Step] | None = steps.documented
    if since is not None:
        if since not in steps.builds:  # another worker may know a newer build, and so may the client
            steps = log.refreshed()
        found = steps.since(since)
    if found is None:
        raise InvalidParameter(
            f"since {quote_input(since)} is neither live nor named by a step that is kept: "
            f"fetch everything again, and go on from the live build {steps.builds[0]}"
        )
    offset, limit = values["offset"], values["limit"]
    lines = [_line(step, steps) for step in found[offset : offset + limit]]
    return list_body(lines, offset, limit, len(found))


def changes_document(log: StepLog, pair: str, _: Mapping[str, Any]) -> Body:
    """Return what differs between the builds of a step.

    Raises:
        NotFound: There is no such step.
    """
    steps = log.known()
    step = _find(steps, pair)
    if step is None:
        steps = log.refreshed()
        step = _find(steps, pair)
    if step is None:
        raise NotFound("there is no such step: /api/v1/changes lists those that are kept")
    return log.document(step, steps)


def _find(steps: Steps, pair: str) -> Step | None:
    return next((step for step in steps.documented if step.pair == pair), None)


def _line(step: Step, steps: Steps) -> bytes:
    found = steps.comparison(step)
    counts = {"added": found.added, "removed": found.removed, "changed": found.changed}
    ends = {"from": step.from_, "to": step.to, "as_of": layout.day_of(step.to)}
    return dumps(ends | counts | {"url": _URL + step.pair})
