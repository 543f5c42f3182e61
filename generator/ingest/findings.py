"""What an import finds in files that can be read but are probably wrong: each case has a name, by which it is accepted.

A case in `REFUSED` stops the import, because readers of the API would see the damage. `--accept CASE` imports it all
the same. Other cases are only counted and reported.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from generator.errors import IngestError

DUPLICATES = "duplicates"
EMPTY_GUIDE = "empty-guide"
MISSING_PRICES = "missing-prices"
TWO_FOIL_PRICES = "two-foil-prices"
FUTURE = "future"
FAR_DAY = "far-day"
REPLACED = "replaced"
NAMED_TWICE = "named-twice"
IGNORED_COLUMNS = "ignored-columns"
UNKNOWN_KEYS = "unknown-keys"
UNKNOWN_PRODUCTS = "unknown-products"
UNNAMED = "unnamed"
CONTRADICTION = "contradiction"
INCOMPLETE_OFFERS = "incomplete-offers"
UNKNOWN_CONDITIONS = "unknown-conditions"
IN_BOTH_LISTS = "in-both-lists"
NAMED_BY_URL = "named-by-url"
UNKNOWN_SLUGS = "unknown-slugs"
OTHER_NAMES = "other-names"
NAMES_NOT_COMPARED = "names-not-compared"
OTHER_GAME = "other-game"

# The cases that stop an import, and what accepting them means.
REFUSED = {
    DUPLICATES: "of several rows of one product, the greatest is taken",
    EMPTY_GUIDE: "the file changes nothing",
    MISSING_PRICES: "these prices are null",
    TWO_FOIL_PRICES: "the price under -holo is taken",
    FUTURE: "builds then speak for that day",
    FAR_DAY: "history then has that day",
    CONTRADICTION: "both are stored as they are",
    INCOMPLETE_OFFERS: "builds leave these offers out",
}


# What accepting means, also of cases that leave something out.
MEANINGS = REFUSED | {OTHER_NAMES: "links of cards with other names than their products are taken"}
# Cases of the time of one file. A lake does not remember that they were accepted.
OF_ONE_FILE = frozenset({FUTURE, FAR_DAY})


class ImportFinding(NamedTuple):
    """A case in a file: in how many rows or keys, a line for people, and whether it stops an import."""

    case: str
    source: str
    target: str
    occurrences: int
    message: str
    is_refused: bool = True

    def __str__(self) -> str:
        return f"{self.source}: {self.message}"


def refuse(findings: Iterable[ImportFinding], accepts: Callable[[ImportFinding], bool]) -> None:
    """Raise IngestError if there are findings that are not accepted. It names the first, and how to insist."""
    refused = [finding for finding in findings if finding.is_refused and not accepts(finding)]
    if not refused:
        return
    first, others = refused[0], len(refused) - 1
    more = f" (and {others:,} more finding{'s' * (others > 1)})" if others else ""
    cases = " ".join(f"--accept {case}" for case in dict.fromkeys(finding.case for finding in refused))
    raise IngestError(f"{first}{more}; nothing was imported: {cases} imports it all the same")
