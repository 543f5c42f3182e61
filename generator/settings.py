"""Defaults of the options that an operator can set, and limits that the nightly work and the doctor use."""

from datetime import timedelta

# How many builds a night keeps: the live one and those that a rollback can reach.
KEPT_BUILDS = 7
# How long a build remains after it was live, for crawls that are pinned to it with X-Build. Objects that are younger
# are not deleted either.
GRACE_HOURS = 48.0
# How long the intent of a build protects its layers from a prune; longer than any build takes.
INTENT_AGE = timedelta(hours=24)
# The least age at which a half-written file counts as abandoned, whatever the grace.
LEFTOVER_AGE = timedelta(hours=1)
# The wait between marking and deleting; longer than a shim needs to notice a new pointer.
PRUNE_WAIT_SECONDS = 2.0
# How long a lock outlives its last renewal, and so how long a killed run blocks the next one.
LEASE_SECONDS = 120.0
# The doctor takes a lock that ends later for one of a run whose clock was ahead.
MAX_LEASE = timedelta(days=1)

# What a bucket asks for writing objects: S3 in its cheapest regions. R2 asks 0.0045.
DOLLARS_PER_1000_PUTS = 0.005

# Within how many days nights read every layer of the live build again.
REREAD_DAYS = 7

# The gates of a night (`build/checks/gates/`): the greatest value that passes.
GATES = {
    "products-lost": 0.01,  # share
    "sets-lost": 0,  # sets
    "prices-lost": 0.1,  # share
    "prices-moved": 0.05,  # share, of prices that moved by more than PRICE_FACTOR
    "guide-shrank": 0.05,  # share
    "prices-repeated": 0.995,  # share
    "guide-behind": 1,  # days
    "day-went-back": 0,  # days
    "day-ahead": 0,  # days
    "tables-emptied": 0,  # tables
    "bulk-lost": 0,  # tables and columns
    "bulk-shrank": 0.01,  # share
    "identifiers-lost": 0.02,  # share
    "prices-scaled": 0.25,  # distance of the middle price ratio from 1
    "game-prices-lost": 0.15,  # share
    "set-prices-lost": 0.9,  # share
    "game-shrank": 0.05,  # share
    "game-behind": 1,  # days
    "names-changed": 0.02,  # share
    "products-moved": 0.02,  # share
    "games-changed": 0.05,  # share
    "rarities-changed": 0.05,  # share
    "numbers-changed": 0.05,  # share
    "sets-renamed": 0.2,  # share
    "index-jumped": 0.15,  # distance of the quotient of the index from 1
    "set-prices-scaled": 4,  # distance of the middle price ratio from 1
    "set-shrank": 0.5,  # share
    "kind-shrank": 0.05,  # share
    "dearest-moved": 0.25,  # share
    "prices-drifted": 0.04,  # distance of the middle price ratio from 1
    "prices-noisy": 0.2,  # distance
    "prices-returned": 0.3,  # share
    "averages-mixed": 0.5,  # share
    "kinds-changed": 0.02,  # share
    "products-added": 0.5,  # share
    "days-scaled": 0.25,  # distance of the middle price ratio from 1
    "listings-scaled": 0.3,  # distance of the middle price ratio from 1
    "filtered-scaled": 0.25,  # distance of the middle price ratio from 1
    "filtered-drifted": 0.06,  # distance of the middle price ratio from 1
    "watch-scaled": 0.3,  # distance of the middle price ratio from 1
    "fingerprints-lost": 0.05,  # share
    "identifiers-changed": 0.05,  # share
    "links-lost": 0.1,  # share
    "prices-appeared": 0.3,  # share
    "prices-equal": 0.05,  # share
    "sets-uniform": 0.7,  # share
    "sets-shifted": 0.6,  # share
    "games-frozen": 0,  # games and sets
    "days-drifted": 0.06,  # distance of the middle price ratio from 1
    "days-shrank": 0.1,  # share
    "set-days-scaled": 4,  # distance of the middle price ratio from 1
    "listings-drifted": 0.06,  # distance of the middle price ratio from 1
    "set-moved": 0.5,  # share
    "checks-emptied": 0.3,  # share
    "checks-noisy": 0.6,  # distance of the middle factor from 1
    "offers-scaled": 0.5,  # distance of the middle ratio from 1
    "fingerprints-changed": 0.05,  # share
}
# What a night publishes, but remarks on (`build/checks/remarks/`): the greatest value without a remark.
REMARKS = {
    "sources-late": 0,  # sources
    "prices-back": 0.3,  # share
    "columns-unusual": 0,  # causes
    "sets-without-name": 0,  # new sets
}
PRICE_FACTOR = 10
# The gates judge a game or a set on its own if it has at least this many prices.
ENOUGH_PRICES = 30
# The same for the index of a game, and for gates that judge the prices of a whole game: this many with a price.
ENOUGH_PRICED = 1000
# A column of a table is measured for all rows, a game, a band of prices or a set that has at least this many rows.
ENOUGH_ROWS = 50
# Of so many published nights before, so many have to have measured a column to say what is usual: not every table
# changes every night. And of so many products the offers are measured.
MEASURED_NIGHTS = 28
ENOUGH_MEASURED_NIGHTS = 6
USUAL_RATIO_NIGHTS = 7  # that a person sees beside the figures of a held game
# To accept prices that rose or fell by more than this factor takes `--yes`.
MAX_ACCEPTED_FACTOR = 3
SAMPLED_OFFERS = 1000
# The gates that look back a week compare with the newest build that is at least this many days older.
WEEK_DAYS = 6
# A gate compares a day that the live build did not read with the nearest day that it read, at most so many days away;
# of very many such days, as after an import of a whole history, only the last ones.
JUDGED_DAYS = 36
MAX_JUDGED_DAYS = 400
# How many days before the as-of day say what the rhythm of a source is.
SOURCE_DAYS = 28
# Up to this many published nights before a night say what is usual, if there are at least this many.
USUAL_NIGHTS = 14
ENOUGH_NIGHTS = 3

# How many bytes a folder store keeps free for `rollback`, `publish` and `prune` on a full disk.
RESERVE_BYTES = 1 << 20
# How much larger than the last build a build may become, for the check of the disk.
GROWTH_OF_A_BUILD = 1.1

# How much memory DuckDB may use before it spills to disk.
MEMORY = "2GB"
# The same for each worker of a cluster, which needs about as much again for everything else.
WORKER_MEMORY = "1GB"
# The most that `ingest` reads: bytes of one file after inflating, bytes of a line, and lines that it refuses. A file
# becomes Python objects, which take up to 20 times its bytes. Lines become columns, which take about as much.
MAX_DOWNLOAD_BYTES = 64 << 20
MAX_LINES_BYTES = 1 << 30
MAX_LINE_BYTES = 1 << 20
MAX_REFUSED_LINES = 100_000
# The same for files of cards, which are read card by card: bytes of one file, and characters of a card.
MAX_CARDS_BYTES = 16 << 30
MAX_CARD_CHARACTERS = 16 << 20
# How far the time of an imported file may be ahead of the clock. A line of a scraper may lack its zone.
MAX_AHEAD_OF_CLOCK = timedelta(hours=1)
MAX_LINES_AHEAD_OF_CLOCK = timedelta(hours=14)
# A guide is far from the newest one if it is earlier by more days without a guide, or earlier than this year.
MAX_DAYS_WITHOUT_GUIDE = 366
FIRST_GUIDE_YEAR = 2000
# How many run reports, and the pages of how many runs, stay in the store.
MAX_RUN_REPORTS = 400
MAX_RUN_PAGES = 30

# Which objects `tree/` has: `--objects`.
OBJECTS = ("auto", "all", "hot", "none")

# `doctor` warns if a folder store has less free space, if the store's clock differs by more, or if a key expires in
# fewer days.
MIN_FREE_BYTES = 1_000_000_000
MAX_CLOCK_DIFFERENCE_SECONDS = 10.0
KEY_EXPIRY_WARNING_DAYS = 14

# `show` and `doctor` warn if the newest row of a source is older: the interval of its updates and a margin.
MAX_SOURCE_AGE_HOURS = {
    "price_guide": 48.0,
    "listings": 48.0,
    "filtered_checks": 48.0,
    "watch_checks": 24.0,
}
