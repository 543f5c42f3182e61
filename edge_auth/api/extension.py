"""What an application answers from: `app.extensions["cardpress"]`."""

from dataclasses import dataclass, field

from edge_auth.api.auth import Auth
from edge_auth.live.build_registry import BuildRegistry, OneBuild
from edge_auth.live.bulk_files import StoredBulkFiles
from edge_auth.live.log import Log
from edge_auth.live.metrics import Metrics

NAME = "cardpress"


@dataclass(frozen=True)
class Cardpress:
    """What the answers of an application come from.

    Attributes:
        auth: Checks keys, limits and scopes. Without it, this process asks itself: no key is needed.
        files: Sends bulk files, and large bodies in chunks.
        log: Without it, failures are raised.
        behind_nginx: Whether every request comes from the nginx of `edge_auth/nginx`.
        behind_cdn: Whether a shared cache asks before each use of a copy.
    """

    builds: BuildRegistry | OneBuild
    auth: Auth | None = None
    files: StoredBulkFiles | None = None
    log: Log | None = None
    metrics: Metrics = field(default_factory=Metrics)
    behind_nginx: bool = False
    behind_cdn: bool = False
