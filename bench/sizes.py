"""How much is measured, as data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """The size of a run.

    Attributes:
        products, days: of the lake that is served.
        details: products whose history the peers hold.
        rounds, seconds: of serving; of generation there are `builds` rounds.
        year: products and days of the lake that is generated, a year and a day.
        large: products, and the days of the lakes whose builds' memory is compared, the fewest first.
        search: products and days of the lake that is searched in the shim alone.
    """

    products: int
    days: int
    details: int
    rounds: int
    seconds: float
    builds: int
    year: tuple[int, int]
    large: tuple[int, tuple[int, ...]]
    search: tuple[int, int]


QUICK = Size(
    8000, 45, 200, rounds=2, seconds=0.12, builds=1, year=(1000, 90), large=(5000, (15, 30)), search=(8000, 45)
)
FULL = Size(
    78_000, 366, 2000, rounds=3, seconds=2, builds=1, year=(78_000, 366), large=(450_000, (30, 365)),
    search=(1_000_000, 3),
)  # fmt: skip
