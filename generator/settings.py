"""Defaults of everything that an operator can set and of what the nightly work takes for granted."""

from datetime import timedelta

# How many builds a night keeps: the live one and those that a rollback can reach.
KEEP = 7
# How long a build is kept after it was live, for crawls pinned to it with X-Build; and how old anything must be
# before it is deleted.
GRACE_HOURS = 48.0
# A build in the making protects its layers for this long; longer than any build takes.
INTENT_AGE = timedelta(hours=24)
# A half-written file is given up by its writer when it is this old, whatever the grace.
LEFTOVER_AGE = timedelta(hours=1)
# Between marking and sweeping: longer than a shim needs to hear of a new pointer (`edge_auth.watch.POLL`).
PRUNE_WAIT_SECONDS = 2.0
# For how long a lock stands without being renewed: what a killed run costs the next one.
LEASE_SECONDS = 120.0

# A night's gates (`build/checks/gates/`): the greatest value that passes.
GATES = {
    "products-lost": 0.01,  # share
    "sets-lost": 0,  # sets
    "prices-lost": 0.1,  # share
    "prices-moved": 0.05,  # share, of prices that moved by more than PRICE_FACTOR
    "guide-shrank": 0.1,  # share
    "prices-repeated": 0.995,  # share
    "guide-behind": 1,  # days
    "day-went-back": 0,  # days
    "day-ahead": 0,  # days
    "tables-emptied": 0,  # tables
}
PRICE_FACTOR = 10

# What DuckDB may use before it spills to disk.
MEMORY = "2GB"
# The same of each worker of a cluster, which has about as much again for all else.
WORKER_MEMORY = "1GB"
# How many reports of nights stay in the store.
REPORTS_KEPT = 400
# Of how many nights the pages do.
PAGES_KEPT = 30

# What `doctor` warns of: less room than this in a folder store, a clock that differs so much from the store's, and keys
# that end so soon.
ROOM_BYTES = 1_000_000_000
CLOCK_SECONDS = 10.0
KEYS_END_DAYS = 14

# How old the newest row of a source may be, in hours, before `show` warns: its cadence and some patience.
CADENCE_HOURS = {
    "price_guide": 48.0,
    "listings": 48.0,
    "filtered_checks": 48.0,
    "watch_checks": 24.0,
}
