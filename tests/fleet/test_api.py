"""The tests of `tests/api` against two shims over S3 behind nginx."""

from tests.api.every_target import *  # noqa: F403
