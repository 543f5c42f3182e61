"""The record of a build, `builds/<id>.json`: what the generator writes, and what readers take from it."""

from typing import Any, NotRequired, TypedDict


class LayerRecord(TypedDict):
    """A layer of a build: its digest, and what went into it, by name, as hashes."""

    digest: str
    inputs: dict[str, str]


class Freshness(TypedDict):
    """How fresh the data of a build is: the sections of the status object, without the build's id."""

    watchlist: dict[str, Any]
    catalogue: dict[str, Any]
    filtered_price: dict[str, Any]


class LeftOutRows(TypedDict):
    """Rows of a table of the lake that could not be used: how many, why, and an example."""

    table: str
    reason: str
    rows: int
    example: str


class TableInputs(TypedDict):
    """The files of a table of the lake. The members after `sha256` are those of tables with days."""

    files: int
    bytes: int
    sha256: str
    first_day: NotRequired[str]
    last_day: NotRequired[str]
    days: NotRequired[dict[str, list[str]]]  # the hashes of the files of each day of the open month
    sha256_of_last_day: NotRequired[str]


class Provenance(TypedDict):
    """Where a build comes from: the files of each table, the code, and the name of the object with its gate results."""

    inputs: dict[str, TableInputs]
    code: dict[str, str]
    gates: str


class BuildRecord(TypedDict):
    """The record of a build. Older versions wrote none of the members that need not be there.

    Attributes:
        layers, objects, bytes: By layer.
        left_out: The rows of the lake that could not be used.
        quarantine: The day files of the lake that the build left out.
        games: How fresh and complete the price guide of each game is.
    """

    format: int
    id: str
    as_of: str
    layers: dict[str, LayerRecord]
    objects: dict[str, int]
    bytes: dict[str, int]
    freshness: Freshness
    left_out: list[LeftOutRows]
    quarantine: NotRequired[list[dict[str, Any]]]
    provenance: NotRequired[Provenance]
    versions: dict[str, str]
    games: NotRequired[list[dict[str, Any]] | None]
