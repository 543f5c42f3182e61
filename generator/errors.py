"""What can go wrong on the batch side.

GeneratorError
├── LakeError      the source tables are missing, unreadable or break a rule
├── BuildError     a build cannot be made, found or verified
├── PublishError   the pointer cannot be moved
├── IngestError    a file handed to `ingest` is not what it should be
└── FingerprintError  a picture or an index of fingerprints cannot be used

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


class IngestError(GeneratorError):
    """A file handed to an import is not in the shape that the import reads; nothing was written."""


class FingerprintError(GeneratorError):
    """A picture or an index of fingerprints cannot be used."""
