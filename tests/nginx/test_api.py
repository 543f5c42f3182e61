"""What `tests/api` asks of a shim, asked of the nginx of `edge_auth/nginx` in front of it."""

from tests.api.every_target import *  # noqa: F403
