"""The errors of the batch side.

GeneratorError
├── LakeError      the source tables are missing, unreadable or break a rule
├── BuildError     a build cannot be made, found or verified
├── PublishError   the pointer to the live build was not moved
│   ├── GateError  a gate of the night was breached
│   ├── HoldError  a rollback holds publishing back
│   └── SmokeError the published build cannot be read
├── BusyError      another run holds the lock, or took it over
├── PruneError     builds cannot be deleted
├── ExportError    a tree of plain files cannot be written
├── IngestError    a file for `ingest` has an unknown shape
└── DoctorError    `doctor` found a problem

Each message is one line: what is wrong, where, and what to do. The command line prints it and exits with status 1.
The errors of the store are below `edge_auth.errors.StoreError`.
"""


class GeneratorError(Exception):
    """Root of all errors that the generator raises on purpose."""


class LakeError(GeneratorError):
    """The lake breaks a rule of its tables. Nothing was built."""


class BuildError(GeneratorError):
    """A build cannot be made, found or verified."""


class PublishError(GeneratorError):
    """The pointer to the live build was not moved."""


class GateError(PublishError):
    """A build differs too much from the live one to be published automatically."""


class HoldError(PublishError):
    """A rollback holds publishing back until a person publishes a build."""


class SmokeError(PublishError):
    """The published build cannot be read as the API reads it."""


class BusyError(GeneratorError):
    """Another run does the same work, or took over the lock."""


class PruneError(GeneratorError):
    """Pruning stopped early. The builds that remain are complete."""


class ExportError(GeneratorError):
    """A tree of plain files was not completed. The next export completes it."""


class IngestError(GeneratorError):
    """A file does not have the shape that its import reads. Nothing was written."""


class DoctorError(GeneratorError):
    """The installation, the store, the lake or what serves them has a problem."""
