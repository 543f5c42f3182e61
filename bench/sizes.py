"""The sizes of a quick and of a full run, as data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """The size of a run.

    Attributes:
        products, days: Size of the lake that is served.
        details: Number of products whose history the peers hold.
        rounds, seconds: Rounds of serving, and seconds of one measurement.
        builds: Rounds of generation.
        year: Products and days of the lake that is built with one thread and with two, and with three years of history:
            a year and a day.
        large: Products and days of a lake with few days. Its build is compared in memory with that of the lake of
            `versions` with as many products and more days.
        versions: Products and days of the lakes whose builds are compared with those of version 1.0, and in how many
            turns.
        search: Products and days of the lakes that are searched in the shim alone, the largest last.
    """

    products: int
    days: int
    details: int
    rounds: int
    seconds: float
    builds: int
    year: tuple[int, int]
    large: tuple[int, int]
    versions: tuple[tuple[int, int, int], ...]
    search: tuple[tuple[int, int], ...]


QUICK = Size(
    8000, 45, 200, rounds=1, seconds=0.12, builds=1, year=(500, 60), large=(2000, 15),
    versions=(), search=((8000, 45),),
)  # fmt: skip
FULL = Size(
    78_000, 366, 2000, rounds=3, seconds=1, builds=1, year=(20_000, 366), large=(450_000, 30),
    versions=((78_000, 366, 2), (450_000, 90, 1)), search=((450_000, 90),),
)  # fmt: skip
