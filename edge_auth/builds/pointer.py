"""The pointer of a store: which build is live, and which ones were."""

import json
from dataclasses import asdict, dataclass, field

from edge_auth.builds import layout
from edge_auth.errors import NoLiveBuild, StoreError
from edge_auth.store.interface import Store, parse_json


@dataclass(frozen=True)
class Pointer:
    """The object that names the live build. Its lists begin with the newest."""

    build: str
    previous: list[str] = field(default_factory=list)  # the builds that were live before
    hold: bool = False  # whether a rollback has blocked publishing
    nonce: str = ""  # a random text that makes each pointer unique
    ended: dict[str, str] = field(default_factory=dict)  # when builds stopped being live; X-Build may name them longer
    moved_from: list[str] = field(default_factory=list)  # for each move of the pointer the build that it left
    failed: list[str] = field(default_factory=list)  # those that failed their smoke test: only a person publishes them

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode() + b"\n"

    @staticmethod
    def from_bytes(data: bytes) -> "Pointer":
        """Parse a stored pointer, or raise StoreError."""
        try:
            return Pointer(**parse_json(data))
        except (ValueError, TypeError) as error:
            raise StoreError(f"{layout.POINTER} is not a pointer to a build: {error}") from error


def read_pointer(store: Store) -> tuple[Pointer | None, str | None]:
    """Return the pointer and its tag for `swap`, or (None, None) if nothing was ever published."""
    found = store.get_versioned(layout.POINTER)
    return (Pointer.from_bytes(found.data), found.etag) if found else (None, None)


def live_pointer(store: Store) -> Pointer:
    """Return the pointer, or raise NoLiveBuild: nothing was published yet."""
    pointer, _ = read_pointer(store)
    if pointer is None:
        raise NoLiveBuild(f"no build is live in {store.location}: run `cardpress build … --publish`")
    return pointer


def live_build_id(store: Store) -> str:
    """Return the id of the live build, or raise NoLiveBuild: nothing was published yet."""
    return live_pointer(store).build


def last_build_id(store: Store) -> str:
    """Return the id of the live build, or else of the newest one, or ''."""
    pointer, _ = read_pointer(store)
    return pointer.build if pointer else max(map(layout.id_of, store.list(layout.BUILDS)), default="")
