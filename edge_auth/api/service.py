"""The endpoints about the service: the client's key, and the freshness of the data."""

from functools import lru_cache

from edge_auth.api.flask_app import this_request
from edge_auth.api.routes import Query, Routes
from edge_auth.builds.bodies import Body, MadeBody, dumps
from edge_auth.live.keys import KeyRecord
from edge_auth.live.open_build import OpenBuild

service = Routes("service")


@service.get("me", schema="Key", of_build=False, guests=False)
def get_key(query: Query) -> Body:
    key = this_request().key
    assert key is not None, "guests are not let in"
    return _key_body(key)


@lru_cache(1024)
def _key_body(record: KeyRecord) -> Body:
    return MadeBody(dumps(record.public()) + b"\n")


@service.get("status", schema="Status")
def get_status(build: OpenBuild, query: Query) -> Body:
    return MadeBody(build.status())
