"""The tests of `tests/api` against the nginx of `edge_auth/nginx` in front of a shim."""

from tests.api.every_target import *  # noqa: F403
