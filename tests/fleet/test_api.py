"""What `tests/api` asks of a shim over a folder, asked of two shims over S3 behind nginx."""

from tests.api.every_target import *  # noqa: F403
