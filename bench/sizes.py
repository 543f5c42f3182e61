"""How much is measured, as data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """The size of a run.

    Attributes:
        products, days: of the lake that is served and generated.
        details: products whose history the peers hold.
        rounds, seconds: of serving; of generation there are `builds` rounds.
        large: products and, smaller first, the days of the lakes whose builds' memory is compared.
        search: products and days of the lake that is searched in the shim alone.
    """

    products: int
    days: int
    details: int
    rounds: int
    seconds: float
    builds: int
    large: tuple[int, tuple[int, int]]
    search: tuple[int, int]


QUICK = Size(20_000, 60, 300, rounds=2, seconds=0.4, builds=1, large=(20_000, (30, 60)), search=(20_000, 60))
FULL = Size(78_000, 366, 2000, rounds=5, seconds=2, builds=3, large=(450_000, (30, 90)), search=(1_000_000, 3))
