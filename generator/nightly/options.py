"""What a night is asked to do."""

from dataclasses import dataclass, field

from edge_auth.store.interface import Store
from generator import settings
from generator.clock import Clock
from generator.releases.prune import RetentionRules
from generator.terminal.progress import Progress


@dataclass(frozen=True)
class NightOptions:
    """What a night is asked to do. What it finds out is in its `RunReport`.

    Attributes:
        run: The id of the run.
        thresholds: Thresholds by gate, instead of the defaults.
        max_age: By table of days, how many days old its newest row may be.
        forced: Gates that do not stop this night's build.
        rules: Which builds the prune keeps.
        lease: How many seconds the lock outlives a killed run.
        export: Where the run keeps a tree of plain files up to date, if anywhere.
        pages: Whether the run writes its report and its diff as pages into the store.
        expect_day: The day (`YYYY-MM-DD`) that the live build's data must have after the run; None for any.
        reread_days: Within how many days every layer is read again; 0 for never.
    """

    run: str
    lake: str
    store: Store
    clock: Clock
    progress: Progress
    thresholds: dict[str, float] = field(default_factory=dict)
    max_age: dict[str, int] = field(default_factory=dict)
    forced: tuple[str, ...] = ()
    rules: RetentionRules = field(default_factory=RetentionRules)
    threads: int | None = None
    memory: str | None = None
    scheduler: str | None = None
    lease: float = settings.LEASE_SECONDS
    pages: bool = False
    export: str | None = None
    expect_day: str | None = None
    reread_days: int = settings.REREAD_DAYS
