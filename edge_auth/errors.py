"""What can go wrong at the edge and in what both sides share.

EdgeError
├── StoreError            the store failed: unreachable, refused, torn, a wrong hash. Never "not found"
│   ├── MissingObject     an object that an index or a record names is not there
│   └── Conflict          a conditional write lost: somebody else moved the object first
├── KeyFormatError        key records that cannot be read
├── NoLiveBuild           the store holds no live build
├── UnknownBuild          the store does not hold that build
└── ApiError              a refusal that the client sees, one per row of the specification's error table
"""


class EdgeError(Exception):
    """Root of everything that edge_auth raises on purpose."""


class StoreError(EdgeError):
    """The store failed. A client sees 500, never 404: only an index decides that something does not exist."""


class MissingObject(StoreError):
    """An object that should be there is not: a failure of the store, not an answer."""


class Conflict(StoreError):
    """A conditional write lost against another writer; the object is as that writer left it."""


class KeyFormatError(EdgeError):
    """The key records cannot be read."""


class NoLiveBuild(EdgeError):
    """The store has no live build yet."""


class UnknownBuild(EdgeError):
    """The store does not hold the build that was asked for."""
