"""The tests of `tests/api` against the worker of `cardpress deploy worker` in front of a shim."""

from tests.api.every_target import *  # noqa: F403
