"""Builds ordinary nights of a demo lake, one after the other, and says which gates would stop one.

python -m tests.soak.nights [NIGHTS]
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from edge_auth.builds.builds import open_build
from edge_auth.store.folder import FolderStore
from generator.clock import utc_now
from tests.support.nights import DAYS, demo_lake, judge, make

PRODUCTS = 120


def breaches(folder: Path, nights: int) -> list[str]:
    """Judge each of the last nights of the lake against the night before. Return what the gates say against them."""
    store, live, lines = FolderStore(str(folder / "store")), None, []
    for days in range(DAYS - nights, DAYS + 1):
        build = open_build(store, make(demo_lake(folder / "lake", days, PRODUCTS), store))
        lines += [f"{build.id}: {verdict.line()}" for verdict in judge(live, build, now=utc_now()).breaches]
        live = build
    return lines


def main(nights: int = 30) -> None:
    """Print what the gates say, and fail if they say anything."""
    with TemporaryDirectory(prefix="cardpress-soak-") as folder:
        lines = breaches(Path(folder), nights)
    print("\n".join([*lines, f"{nights} nights, {len(lines)} breaches"]))
    sys.exit(bool(lines))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
