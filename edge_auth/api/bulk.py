"""The endpoints for mirrors: the steps between builds, the index of fingerprints, and the bulk files."""

import re
from dataclasses import dataclass

from flask import Response

from edge_auth.api.flask_app import ApiRequest, this_request, this_service
from edge_auth.api.responses import Answer, holder
from edge_auth.api.routes import Routes
from edge_auth.errors import InvalidParameter, NotFound, PreconditionFailed, RangeNotSatisfiable
from edge_auth.live.build_registry import BuildRegistry, OneBuild
from edge_auth.live.bulk_files import MAX_READ_BYTES
from edge_auth.live.open_build import OpenBuild
from edge_auth.parameters import BuildId, Integer, optional, parameter, quote_input
from generator.storage import keys, layout
from generator.storage.bodies import Body, MadeBody, dumps, list_body, matches_tag
from generator.storage.bulk import LIVE_CATALOGUE
from generator.storage.changes import Step, Steps

changes = Routes("changes", keys.CARDS_READ, "catalogue")
fingerprints = Routes("fingerprints", keys.FINGERPRINTS_READ)
bulk = Routes("bulk", keys.BULK_READ)
_CHANGES_URL = "/api/v1/changes/"
_TAG_DIGITS, _MAX_DIGITS = 32, 18
_ONE_RANGE = re.compile(r"bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*", re.IGNORECASE)


@dataclass(frozen=True)
class ChangesQuery:
    since: str | None = optional(BuildId())
    limit: int = parameter(Integer(1, 100), 50)
    offset: int = parameter(Integer(0), 0)


@changes.get("changes", schema="ChangesPage", of_build=False)
def list_changes(query: ChangesQuery) -> Body:
    """Return one page of the steps: newest first, or those since a build, oldest first."""
    builds, since = _builds(), query.since
    if since is not None and since not in builds.steps().builds:
        builds.refresh()  # another worker may know a newer build, and so may the client
    steps = builds.steps()
    found = steps.documented if since is None else steps.since(since)
    if found is None:
        raise InvalidParameter(
            f"since {quote_input(str(since))} is neither live nor named by a step that is kept: "
            f"fetch everything again, and go on from the live build {steps.builds[0]}"
        )
    lines = [_step_line(step, steps) for step in found[query.offset : query.offset + query.limit]]
    return list_body(lines, query.offset, query.limit, len(found))


@changes.get(
    "changes/<pair>", path=f"{_CHANGES_URL}{{from}}...{{to}}", schema="Changes", of_build=False, errors=(NotFound,)
)
def get_changes(pair: str) -> Body:
    """Return the document of a step, which may be newer than the last poll."""
    builds = _builds()
    if all(step.pair != pair for step in builds.steps().documented):
        builds.refresh()
    steps = builds.steps()
    for step in steps.documented:
        if step.pair == pair:
            return builds.document(step, steps)
    raise NotFound("there is no such step: /api/v1/changes lists those that are kept")


def _builds() -> BuildRegistry:
    builds = this_service().builds
    if isinstance(builds, OneBuild):
        raise NotFound("a build alone has no steps")
    builds.select()  # the steps are known before a build is live
    return builds


def _step_line(step: Step, steps: Steps) -> bytes:
    found = steps.entries[step]
    counts = {"added": found.added, "removed": found.removed, "changed": found.changed}
    ends = {"from": step.from_, "to": step.to, "as_of": layout.day_of(step.to)}
    return dumps(ends | counts | {"url": _CHANGES_URL + step.pair})


@fingerprints.get(
    "fingerprints", schema="FingerprintIndex", cache_control="private, max-age=3600", sends_rate_limit=False
)
def get_fingerprints(build: OpenBuild) -> Body:
    return build.stored_body(layout.FINGERPRINTS_KEY, build.fingerprints_file)


@bulk.get("bulk", schema="BulkManifest")
def list_bulk_files(build: OpenBuild) -> Body:
    return MadeBody(build.manifest())


@bulk.get(
    "bulk/<name>",
    of_build=False,
    errors=(NotFound, PreconditionFailed, RangeNotSatisfiable),
    cache_control="private, max-age=31536000, immutable",
    vary="Authorization, X-API-Key",
    extra_headers={"Accept-Ranges": "bytes"},
    own_window=True,
    methods=("GET", "HEAD"),
)
def get_bulk_file(name: str) -> Response:
    """Return a bulk file, which belongs to no single build, or a part of it."""
    request, service = this_request(), this_service()
    files = service.files
    if files is None or request.access is None:
        raise NotFound("there are no bulk files here")
    file = files.find(name)
    tag = file.sha256[:_TAG_DIGITS]
    fields = {**request.access.headers, **request.answer_headers, "ETag": f'"{tag}"'}
    if name == LIVE_CATALOGUE:  # tomorrow this address has another file
        fields["Cache-Control"] = "private, no-cache"
    wanted = request.environ.get("HTTP_IF_MATCH")
    if wanted is not None and not matches_tag(wanted.replace('W/"', ""), tag):  # weak tags never match
        raise PreconditionFailed("If-Match names another file than the one that is here now")
    if matches_tag(request.environ.get("HTTP_IF_NONE_MATCH", ""), tag):
        return Answer(304, fields)
    part = _requested_span(request, tag, file.size)
    span = part or range(file.size)
    fields |= {"Content-Type": file.media_type, "Content-Length": str(len(span))}
    if part is not None:
        fields["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{file.size}"
    status = 200 if part is None else 206
    if request.method == "HEAD":
        return Answer(status, fields)
    if len(span) <= MAX_READ_BYTES:
        return Answer(status, fields, files.read(file, span, holder(request, service)))
    return Answer(status, fields, chunks=files.stream(file, span, holder(request, service)))


def _requested_span(request: ApiRequest, tag: str, size: int) -> range | None:
    """Return the range that a request names, or None for the whole file."""
    text, quoted = request.environ.get("HTTP_RANGE"), f'"{tag}"'
    if text is None or request.method == "HEAD" or request.environ.get("HTTP_IF_RANGE", quoted) != quoted:
        return None
    found = _ONE_RANGE.fullmatch(text)
    if found is None or not any(found.groups()):
        return None
    # Python refuses to read very long numbers; no file has a position of more digits.
    first, last = (int(digits.lstrip("0")[:_MAX_DIGITS] or 0) if digits else None for digits in found.groups())
    if first is None:
        span = range(max(0, size - (last or 0)), size)
    elif last is not None and last < first:
        return None
    else:
        span = range(first, size if last is None else min(last + 1, size))
    if span.start >= size:
        raise RangeNotSatisfiable(f"the file has {size} bytes", Content_Range=f"bytes */{size}")
    return span
