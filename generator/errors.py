"""What can go wrong on the batch side.

GeneratorError
├── LakeError      the source tables are missing, unreadable or break a rule
├── BuildError     a build cannot be made, found or verified
├── PublishError   the pointer cannot be moved
│   ├── GateError  a gate of the night was breached
│   ├── HoldError  a rollback holds publishing back
│   └── SmokeError the build that went live does not answer
├── BusyError      another run holds the lock, or took it over
├── PruneError     builds cannot be deleted
├── IngestError    a file handed to `ingest` is not what it should be
└── DoctorError    `doctor` found something wrong

Each message is one line that says what is wrong, where, and what to do; the command line prints it as it is
and exits with status 1. Errors of the store are `edge_auth.errors.StoreError`.
"""


class GeneratorError(Exception):
    """Root of everything the generator raises on purpose."""


class LakeError(GeneratorError):
    """The lake breaks a rule of its tables; nothing was built."""


class BuildError(GeneratorError):
    """A build cannot be made, found or verified."""


class PublishError(GeneratorError):
    """The pointer to the live build was not moved."""


class GateError(PublishError):
    """A build differs too much from the live one to go live by itself."""


class HoldError(PublishError):
    """A rollback holds publishing back until a person publishes."""


class SmokeError(PublishError):
    """A build that went live cannot be read as the API would."""


class BusyError(GeneratorError):
    """Another run is at the same work, or took it over."""


class PruneError(GeneratorError):
    """Deleting stopped before it was done; what was not deleted is whole."""


class IngestError(GeneratorError):
    """A file handed to an import is not in the shape that the import reads; nothing was written."""


class DoctorError(GeneratorError):
    """Something is wrong with the installation, the store, the lake or what serves them."""
