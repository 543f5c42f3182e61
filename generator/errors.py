"""The errors of the batch side.

Each message is one line: what is wrong, where, and what to do. The command line prints it and exits with status 1.
The errors of the store are below `generator.storage.errors.StorageError`.
"""

import errno

_FULL = (errno.ENOSPC, errno.EDQUOT)


class GeneratorError(Exception):
    """Root of all errors that the generator raises on purpose."""


class LakeError(GeneratorError):
    """The lake breaks a rule of its tables. Nothing was built."""


class BuildError(GeneratorError):
    """A build cannot be made, found or verified."""


class DamageError(BuildError):
    """A layer that another one is made from is damaged. A build that repairs makes it again."""


class SqlError(GeneratorError):
    """The SQL of cardpress is wrong. Neither the lake nor the store is at fault."""


class SpaceError(GeneratorError):
    """A disk is full, or has too little room for what is to be written."""


class PublishError(GeneratorError):
    """The pointer to the live build was not moved."""


class GateError(PublishError):
    """A build differs too much from the live one to be published automatically."""


class HoldError(PublishError):
    """A rollback holds publishing back until a person publishes a build."""


class SmokeError(PublishError):
    """The published build cannot be read as the API reads it."""


class RollbackError(SmokeError):
    """The published build cannot be read as the API reads it, and stayed live: it could not be rolled back."""


class StaleError(GeneratorError):
    """The data of the live build is older than the day that the operator expects."""


class BusyError(GeneratorError):
    """Another run does the same work, or took over the lock."""


class TerminatedError(GeneratorError):
    """SIGTERM ended the run before it was complete."""


class ExportError(GeneratorError):
    """A tree of plain files was not completed. The next export completes it."""


class DeployError(GeneratorError):
    """Files to deploy with cannot be made or written. The folder is as before."""


class IngestError(GeneratorError):
    """A file does not have the shape that its import reads. Nothing was written."""


class RecognitionError(GeneratorError):
    """A picture or an index of fingerprints cannot be used."""


class SiteError(GeneratorError):
    """A text that the site is made from, such as `generator/site/schemas.md`, breaks its form."""


def message_of(error: BaseException) -> str:
    """Return an error as one line. Errors of the operating system name their file."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "Python is out of memory: free some on this machine, or raise its limit (ulimit -v, or the container's)"
    return "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)


def is_signal(error: BaseException) -> bool:
    """Return whether SIGTERM or Ctrl-C raised an error. DuckDB has a RuntimeError in place of KeyboardInterrupt."""
    by_duckdb = isinstance(error, RuntimeError) and str(error) == "Query interrupted"
    return by_duckdb or isinstance(error, TerminatedError | KeyboardInterrupt)


def is_disk_full(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, SpaceError) or (isinstance(error, OSError) and error.errno in _FULL):
            return True
        if "No space left on device" in str(error):  # DuckDB and workers of a cluster pass on only the text
            return True
        error = error.__cause__
    return False
