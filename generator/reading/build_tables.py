"""The tables of one build, in its report and in `cardpress show`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from edge_auth.builds.builds import BuildRecord
from generator.lake.files import GUIDE_PRICES
from generator.reading.sheet import Cell, Column, Record, Table, age, counts, number, part, table, what

NO_GAME = "no game named"  # what people and Prometheus read of products without a game
SOURCE_TITLES = {
    "price_guide": "Price guide",
    "listings": "List pages",
    "filtered_checks": "Filtered checks",
    "watch_checks": "Watch checks",
}


def sources_table(sources: Iterable[Record]) -> Table:
    """Return how old the newest row of each source is; `sources` have the fields of a `SourceAge`."""

    def source(row: Record) -> Cell:
        late = f"WARNING: older than {age(row['allowed_hours'])}" if row["late"] else ""
        return what(SOURCE_TITLES[row["table"]], late, bad=row["late"])

    columns: list[Column] = [
        ("Source", source),
        ("Newest", lambda row: Cell(row["newest"] or "no row")),
        ("Age", lambda row: number(row["age_hours"])._replace(text=age(row["age_hours"] or 0))),
    ]
    return table("Sources", columns, sources, "The age of each source's newest row.")


def left_out_table(record: BuildRecord) -> Table:
    """Return the rows and files of the lake that are not in the build."""
    rows = [
        {"what": "{table}: {reason}".format(**left), "small": f"such as {left['example']}", "rows": left["rows"]}
        for left in record["left_out"]
    ]
    rows += [
        {"what": "{table} of {day}: in quarantine".format(**file), "small": f"SHA-256 {file['sha256']}", "rows": None}
        for file in record["quarantine"]
    ]
    columns = [("Reason", lambda row: what(row["what"], row["small"])), *counts("rows")]
    return table("Left out", columns, rows, "Rows and files of the lake that are not in the build.")


def games_table(games: Iterable[Record]) -> Table:
    """Return how fresh and complete the price guide of each game is, as the record of a build has it."""

    def price(name: str) -> Column:
        return name, lambda row: part(
            row["prices"][name], row["products"], bad=row["newest_prices"][name] not in (None, row["newest"])
        )

    columns: list[Column] = [
        ("Game", lambda row: what(row["game"] or NO_GAME)),
        *counts("products", "rows"),
        ("Newest", lambda row: Cell(row["newest"] or "none")),
        ("Half since", lambda row: Cell(row["usual"] or "none")),
        *map(price, GUIDE_PRICES),
    ]
    note = (
        "The newest day, the day that half of the rows reach, and the share of the products that have each price. "
        "Red, or *: an older guide has this price, the newest one does not."
    )
    return table("The price guide of each game", columns, games, note, "wide")


def gates_table(judgement: Mapping[str, Any]) -> Table:
    """Return the gate results of a build."""

    def gate(row: Record) -> Cell:
        said = f"{'forced' if row['forced'] else 'breached'}: {row['message']}" if row["breached"] else ""
        return what(row["gate"], said, bad=row["breached"])

    columns: list[Column] = [
        ("Gate", gate),
        ("Value", lambda row: number(row["value"], ".4g")),
        ("Passes up to", lambda row: number(row["threshold"], ".4g")),
    ]
    against = judgement["against"] or "no live build"
    note = f"By night {judgement['run']}, against {against}: {gates_in_short(judgement)}."
    return table("Gates", columns, judgement["verdicts"], note)


def gates_in_short(judgement: Mapping[str, Any] | None) -> str:
    """Return the gate results in one or two words."""
    if judgement is None:
        return "not judged"
    breached = [verdict["forced"] for verdict in judgement["verdicts"] if verdict["breached"]]
    counts_ = [f"{breached.count(forced)} {word}" for forced, word in ((False, "breached"), (True, "forced"))]
    return ", ".join(words for words in counts_ if not words.startswith("0")) or "passed"


def layers_table(record: BuildRecord, seconds: Mapping[str, float]) -> Table:
    """Return the layers of a build, the slowest first; those whose time no night recorded are last."""
    rows: list[dict[str, Any]] = [
        {"name": name, "digest": layer["digest"], "objects": record["objects"][name],
         "bytes": record["bytes"][name] / 1e6, "seconds": seconds.get(name)}
        for name, layer in record["layers"].items()
    ]  # fmt: skip
    rows.sort(key=lambda row: (row["seconds"] is None, -(row["seconds"] or 0), row["name"]))
    columns: list[Column] = [
        ("Layer", lambda row: what(row["name"], row["digest"])),
        *counts("objects"),
        ("MB", lambda row: number(row["bytes"], ".1f")),
        ("Seconds", lambda row: number(row["seconds"], ".1f")),
    ]
    return table("Layers", columns, rows, "The slowest first; a dash: no night recorded the time.", "sortable")


def inputs_table(inputs: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the files of the lake that a build was made of."""

    def days(row: Record) -> Cell:
        return Cell(f"{row['first_day']} to {row['last_day']}" if "last_day" in row else "")

    columns: list[Column] = [
        ("Input", lambda row: what(row["name"])),
        ("Files", lambda row: number(row.get("files", 1))),
        ("MB", lambda row: number(row["bytes"] / 1e6 if "bytes" in row else None, ",.1f")),
        ("Days", days),
        ("SHA-256", lambda row: Cell(row["sha256"])),
    ]
    return table("Inputs", columns, ({"name": name, **one} for name, one in inputs.items()))


def some(tables: Iterable[Table]) -> Sequence[Table]:
    """Return the tables that have rows."""
    return [one for one in tables if one.rows]
