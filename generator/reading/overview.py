"""The builds of a store, the age of its data, and the tables of one build, which its report and `show` print."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from generator import settings
from generator.clock import Clock, from_unix_time, parse_timestamp, timestamp
from generator.compare.run_reports import PUBLISHED, REFUSED, UNCHANGED, read_judgement
from generator.lake import quarantine
from generator.lake.files import GUIDE_PRICES
from generator.reading.page import Cell, Column, Record, Table, age, counts, number, part, table, what
from generator.storage import layout
from generator.storage.builds import BuildRecord, open_build, read_pointer
from generator.storage.errors import DamagedObject, OtherVersion
from generator.storage.stores.interface import Store

NO_GAME = "no game named"  # what people and Prometheus read of products without a game
SOURCE_TITLES = {
    "price_guide": "Price guide",
    "listings": "List pages",
    "filtered_checks": "Filtered checks",
    "watch_checks": "Watch checks",
}
PRODUCT_SOURCES = {name: title for name, title in SOURCE_TITLES.items() if name != "watch_checks"}


def why_not_published(store: Store, night: Mapping[str, Any]) -> list[str]:
    """Return what clients see after the newest night, why, and the next steps; [] if it is as it should be."""
    if night["outcome"] in (PUBLISHED, UNCHANGED):
        return []
    seen = f"clients see {night['live']}, with prices of {night['data_day']}" if night["live"] else "no build is live"
    sentences = [f"the last night was {night['outcome']}: {seen}"]
    if night["error"]:
        sentences.append(str(night["error"]).partition("; in quarantine")[0])
    if night["outcome"] == REFUSED:
        files = [file for file in quarantine.read_quarantine(store) if file.run == night["run"]]
        sentences += _next_steps(files, store.location)
    return sentences


def _next_steps(files: list[quarantine.QuarantinedFile], location: str) -> Iterator[str]:
    waiting = [file for file in files if file.waits]
    if waiting:
        yield (
            f"if the day is wrong, `{quarantine.decision('drop', waiting, location)}`: the next night publishes "
            "without it, and publishes a corrected file"
        )
        yield "if it is right, `accept` in place of `drop`: the next night reads it and compares later days with it"
    elif files:
        verdicts = ", ".join(f"{file.day} {file.verdict}" for file in files if file.verdict != quarantine.HELD)
        yield f"{verdicts or 'the file is gone'}: run `cardpress nightly --lake LAKE --store {location}`"
    else:
        yield "nothing is held: correct the lake, then run the night again"


def undone_decisions(store: Store, record: BuildRecord) -> str | None:
    """Return what people decided about days and the live build does not follow yet, with the command, or None."""
    skipped, inputs = quarantine.skipped_files(record), record["provenance"]["inputs"]
    last_days = {table: known.get("last_day", "") for table, known in inputs.items()}
    undone = {
        f"{file.day} {file.verdict}"
        for file in quarantine.read_quarantine(store)
        if (file.verdict == quarantine.ACCEPTED and skipped & {file.key, file.key.whole})
        or (
            file.verdict == quarantine.DROPPED and file.key not in skipped and file.day <= last_days.get(file.table, "")
        )
        if file.in_lake
    }
    if not undone:
        return None
    command = f"`cardpress nightly --lake LAKE --store {store.location}`"
    return f"{', '.join(sorted(undone))}, but not yet in what clients see: {command}"


LIVE, PREVIOUS, FAILED = "live", "previous", "failed its smoke test"


def overview(store: Store, clock: Clock) -> dict[str, Any]:
    """Return the live build, whether a rollback holds publishing back, and the builds of a store, newest day first.

    `made` is when a record was written. The state is LIVE, PREVIOUS (it was live before), REFUSED by a gate, FAILED or
    ''. `held` says which games' prices a build lacks because they are held.
    """
    pointer, _ = read_pointer(store)
    live, previous = (pointer.build, pointer.previous) if pointer else (None, [])
    rows = []
    for entry in sorted(store.entries(layout.BUILDS), reverse=True):
        try:
            record = open_build(store, layout.id_of(entry.name)).record
        except DamagedObject as error:  # the doctor names it
            if isinstance(error, OtherVersion) and layout.id_of(entry.name) == live:
                raise
            continue
        state = LIVE if record["id"] == live else PREVIOUS if record["id"] in previous else ""
        state = FAILED if pointer and record["id"] in pointer.failed else state
        rows.append(_row(store, record, from_unix_time(entry.modified), clock(), state))
    return {"live": live, "hold": bool(pointer and pointer.hold), "builds": rows}


def _row(store: Store, record: BuildRecord, written: datetime, now: datetime, state: str) -> Record:
    judgement = read_judgement(store, record["id"])
    verdicts = judgement.get("verdicts", [])
    refused = [verdict["gate"] for verdict in verdicts if verdict["breached"] and not verdict["forced"]]
    forced = [f"{verdict['gate']} forced" for verdict in verdicts if verdict["forced"]]
    return {
        "id": record["id"],
        "as_of": record["as_of"],
        "made": timestamp(written),
        "age_hours": _hours(now - written),
        "products": record["freshness"]["catalogue"]["products"],
        "objects": sum(record["objects"].values()),
        "bytes": sum(record["bytes"].values()),
        "gates": ", ".join(refused + forced) or ("passed" if judgement else "-"),
        "state": state or (REFUSED if refused else ""),
        "held": quarantine.held_games(store, record),
    }


def source_ages(record: BuildRecord, now: datetime) -> list[Record]:
    """Return how old the newest rows are that a build shows, per table of the lake.

    `newest` is the day or time of the newest row, or None if the table has none.
    """
    freshness = record["freshness"]
    newest = {
        "price_guide": freshness["catalogue"]["price_guide_day"],
        "listings": freshness["catalogue"]["listing_scraped_at"],
        "filtered_checks": freshness["filtered_price"]["latest_checked_at"],
        "watch_checks": freshness["watchlist"]["last_checked"],
    }
    ages: list[Record] = []
    for source, time in newest.items():
        allowed, hours = settings.MAX_SOURCE_AGE_HOURS[source], None
        if time is not None:
            latest = time if "T" in time else f"{time}T23:59:59Z"  # when rows of that day can have been written
            hours = _hours(now - parse_timestamp(latest))
        late = (hours or 0) > allowed
        ages.append({"table": source, "newest": time, "age_hours": hours, "allowed_hours": allowed, "late": late})
    return ages


def _hours(age: timedelta) -> float:
    return max(round(age / timedelta(hours=1), 1), 0.0)


def sources_table(sources: Iterable[Record]) -> Table:
    """Return how old the newest row of each source is."""

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
    breached = [row["forced"] for row in judgement["verdicts"] if row["breached"]]
    parts = [f"{breached.count(forced)} {word}" for forced, word in ((False, "breached"), (True, "forced"))]
    in_short = ", ".join(words for words in parts if not words.startswith("0")) or "passed"
    note = f"By night {judgement['run']}, against {against}: {in_short}."
    return table("Gates", columns, judgement["verdicts"], note)


def layers_table(record: BuildRecord, seconds: Mapping[str, float]) -> Table:
    """Return the layers of a build, the slowest first, if times are known; those whose time is not are last."""
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
    ]
    if not seconds:
        return table("Layers", columns, rows, css="sortable")
    columns.append(("Seconds", lambda row: number(row["seconds"], ".1f")))
    return table("Layers", columns, rows, "The slowest first; a dash: no night recorded the time.", "sortable")


def inputs_table(inputs: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the files of the lake that a build was made of."""

    columns: list[Column] = [
        ("Input", lambda row: what(row["name"])),
        ("Files", lambda row: number(row.get("files", 1))),
        ("MB", lambda row: number(row["bytes"] / 1e6 if "bytes" in row else None, ",.1f")),
        ("Days", lambda row: Cell(f"{row['first_day']} to {row['last_day']}" if "last_day" in row else "")),
        ("SHA-256", lambda row: Cell(row["sha256"])),
    ]
    return table("Inputs", columns, ({"name": name, **one} for name, one in inputs.items()))


def some(tables: Iterable[Table]) -> Sequence[Table]:
    return [one for one in tables if one.rows]
