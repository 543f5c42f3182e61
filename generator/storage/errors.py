"""The exceptions of the storage. Each message is one line: what is wrong, where, and what to do."""


class StorageError(Exception):
    """Base class of the exceptions of `generator.storage`."""


class StoreError(StorageError):
    """The store failed. The client gets 500, never 404: only an index decides that an object does not exist."""


class MissingObject(StoreError):
    """An object that should exist is missing. This is a failure of the store, not a 404."""


class DamagedObject(StoreError):
    """The bytes of an object do not match their hash."""


class OtherVersion(StoreError):
    """Another version of cardpress wrote it, and this one does not read it. The remedy is after a colon."""


class OlderVersion(OtherVersion, DamagedObject):
    """A prune sets aside what an older version has written, as if it were damaged."""


class AccessDenied(StoreError):
    """The store denies access. Without permission to list a bucket, S3 also denies access to missing objects."""


class Throttled(StoreError):
    """The store answers fewer requests than it gets. The same request may succeed after a pause."""


class Conflict(StoreError):
    """A conditional write failed because another writer changed the object first."""


class KeyFormatError(StorageError):
    """The key records cannot be read."""


class NoLiveBuild(StorageError):
    """The store has no live build yet."""


class UnknownBuild(StorageError):
    """The store does not hold this build."""
