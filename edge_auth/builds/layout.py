"""The layout of a store: the name of every object in it, and the format of a build's id.

    current.json                              the pointer to the live build
    builds/<build id>.json                    the record of a build
    layers/<layer>/<digest>/…                 the packs, files and index of a layer
    changes/<from>...<to>.json                which products differ between two builds
    changes/index.json                        the counts and hashes of these documents
    gates/<build id>.json                     the results of a build's gates
    reports/<run>.json                        the report of a nightly run
    intents/<build id>/<nonce>.json           a process builds or publishes this build
    work/<build id>/…                         intermediate files of a build that is being written
    private/keys/<2 digits>/<hash>.json       the record of a key, named by the SHA-256 of the key
    private/keys.json                         how often key records changed, and which changed last
    private/prune.lock, private/nightly.lock  the locks
    private/reserve                           space that is freed when the disk is full
    private/last-reads.json                   when nights last read each layer again
    private/quarantine.json                   day files of the lake that builds leave out
    private/damaged/<build id>.json           a damaged record that a prune has set aside
    private/nights/<run>/…                    the pages of a nightly run
    private/probe-<nonce>                     a short-lived object that tests whether the store can compare and swap

No other module spells these names, but `private/` and its probe, which the stores themselves need.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator

from edge_auth.builds.layer_names import counts_in_id
from edge_auth.errors import UnknownBuild
from edge_auth.store.interface import PRIVATE as PRIVATE

POINTER = "current.json"
BUILDS, LAYERS, GATES, REPORTS, INTENTS, WORK = "builds/", "layers/", "gates/", "reports/", "intents/", "work/"
CHANGES = "changes/"
CHANGES_INDEX = f"{CHANGES}index.json"
KEYS = f"{PRIVATE}keys.json"
PRUNE_LOCK = f"{PRIVATE}prune.lock"
NIGHTLY_LOCK = f"{PRIVATE}nightly.lock"
RESERVE = f"{PRIVATE}reserve"
LAST_READS = f"{PRIVATE}last-reads.json"
QUARANTINE = f"{PRIVATE}quarantine.json"
NIGHT_PAGES = f"{PRIVATE}nights/"

_JSON = ".json"
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BUILD_ID = re.compile(_DAY.pattern + "-[0-9a-f]{12}")
# A well-formed id that no build has: for asking a store about an object that is certainly missing.
NO_BUILD_ID = "0000-00-00-000000000000"


def build_id(as_of: str, digests: dict[str, str]) -> str:
    """Return the id of a build: its as-of day and a hash of its layers' digests.

    The same lake gives the same id on every machine.
    """
    listed = json.dumps([as_of, sorted(item for item in digests.items() if counts_in_id(item[0]))])
    return f"{as_of}-{hashlib.sha256(listed.encode()).hexdigest()[:12]}"


def record_name(id_: str) -> str:
    """Return the name of a build's record.

    Raises:
        UnknownBuild: The text is not the id of a build, so it must not become part of a path.
    """
    if not _BUILD_ID.fullmatch(id_):
        raise UnknownBuild(
            f"{id_!r} is not the id of a build (such as 2026-08-22-0123456789ab): "
            "`cardpress builds` lists the builds of a store"
        )
    return f"{BUILDS}{id_}{_JSON}"


def damaged_name(id_: str) -> str:
    """Return the name of a damaged record that was set aside."""
    return f"{PRIVATE}damaged/{id_}{_JSON}"


def gates_name(id_: str) -> str:
    """Return the name of the object that holds the results of a build's gates."""
    return f"{GATES}{id_}{_JSON}"


def pair(from_: str, to: str) -> str:
    """Return the name of a step from one build to another, as paths of the API write it."""
    return f"{from_}...{to}"


def changes_name(from_: str, to: str) -> str:
    """Return the name of the document that says what differs between two builds."""
    return f"{CHANGES}{pair(from_, to)}{_JSON}"


def report_name(run: str) -> str:
    """Return the name of the report of a nightly run."""
    return f"{REPORTS}{run}{_JSON}"


def page_name(run: str, page: str) -> str:
    """Return the name of a page of a nightly run."""
    return f"{NIGHT_PAGES}{run}/{page}"


def run_of_page(name: str) -> str:
    """Return the run that a page belongs to."""
    return name.removeprefix(NIGHT_PAGES).partition("/")[0]


def intent_name(id_: str, nonce: str) -> str:
    """Return the name of an intent to use a build."""
    return f"{INTENTS}{id_}/{nonce}{_JSON}"


def work_folder(id_: str) -> str:
    """Return the folder of the intermediate files of a build."""
    return f"{WORK}{id_}/"


def layer_folder(layer: str, digest: str) -> str:
    """Return the folder of a layer."""
    return f"{LAYERS}{layer}/{digest}/"


def layer_folder_of(name: str) -> str:
    """Return the folder of the layer that an object below `layers/` belongs to."""
    return "/".join(name.split("/")[:3]) + "/"


def layer_of_folder(folder: str) -> tuple[str, str]:
    """Return the name and the digest of the layer in a folder."""
    _, layer, digest, *_ = folder.split("/")
    return layer, digest


def id_of(name: str) -> str:
    """Return the id in the name of a record, of a gates object or of a report."""
    return name.rpartition("/")[2].removesuffix(_JSON)


def build_ids(names: Iterable[str]) -> Iterator[str]:
    """Yield the ids in the names of records."""
    return map(id_of, names)


def day_of(id_: str) -> str:
    """Return the as-of day in the id of a build, as YYYY-MM-DD."""
    found = _DAY.match(id_)
    return found.group() if found else ""
