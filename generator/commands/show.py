"""`cardpress show` and `builds`: the builds of a store, one build, and how fresh the data is."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import click

from generator.clock import utc_now
from generator.commands import options
from generator.compare.run_reports import late_sources, newest_report, read_judgement
from generator.errors import BuildError
from generator.lake.quarantine import QuarantinedFile, read_quarantine, waiting_in_short
from generator.reading import overview
from generator.reading.page import Table, age, all_lines
from generator.storage import layout
from generator.storage.builds import open_build
from generator.storage.stores.interface import Store
from generator.storage.stores.open import open_store
from generator.terminal import aligned, say, say_result

_Json = dict[str, Any]


@click.command()
@click.argument("build", required=False, type=options.BuildName())
@options.store_option
@options.json_option
def show(build: str | None, store: str, as_json: bool) -> None:
    """Show all builds, which one is live and how fresh it is.

    With BUILD (an id, `live` or `previous`): everything about that build.

    \b
    Example: cardpress show --store site_out
    """
    opened = open_store(store)
    if not options.store_exists(store):
        raise BuildError(options.no_builds_message(store))
    found = overview.overview(opened, utc_now)
    details = _build_details(opened, build) if build else _store_details(opened, found)
    hold = [f"HOLD: {_what_holds(found, store)}"] if found["hold"] else []
    lines = _build_lines(details) if build else _store_lines(details, store)
    say_result(as_json, {"live": found["live"], "hold": found["hold"]} | details, itertools.chain(hold, lines))


def _store_details(store: Store, found: _Json) -> _Json:
    live = open_build(store, found["live"]).record if found["live"] else None
    night = newest_report(store)
    last_night = None
    if night:
        last_night = {name: night[name] for name in ("run", "finished", "outcome", "error", "build")}
        last_night["held"] = night.get("held", "")
        seen, *why = overview.why_not_published(store, night) or [""]
        last_night["meaning"] = [seen, *why[1:]] if seen else []
        last_night["pages"] = sorted(store.list(layout.page_name(night["run"], "")))
    return {
        "builds": found["builds"],
        "sources": overview.source_ages(live, utc_now()) if live else [],
        "late": late_sources(store, live["id"]) if live else None,
        "games": live["games"] if live else [],
        "quarantine": [asdict(file) for file in read_quarantine(store) if file.waits],
        "undone": overview.undone_decisions(store, live) if live else None,
        "last_night": last_night,
    }


def _build_details(store: Store, build: str) -> _Json:
    record = options.named_build(store, build).record
    sources, gates = overview.source_ages(record, utc_now()), read_judgement(store, record["id"]) or None
    return {"record": record, "sources": sources, "games": record["games"], "gates": gates}


def _store_lines(details: _Json, store: str) -> Iterator[str]:
    header = ("BUILD", "AGE", "PRODUCTS", "OBJECTS", "MB", "GATES", "")
    if details["builds"]:
        rows = [header, *map(_build_row, details["builds"])]
        yield from aligned(rows, lambda place, cell: place > 0 and cell[:1].isdigit())
    else:
        yield options.no_builds_message(store)
    if details["late"]:
        yield f"WARNING: {details['late']}"
    if waiting := [QuarantinedFile(**file) for file in details["quarantine"]]:
        yield waiting_in_short(waiting, store)
    if details["undone"]:
        yield details["undone"]
    if night := details["last_night"]:
        reason = str(night["error"] or "").partition("; in quarantine")[0]  # what is held has its own line
        held = f"{night['held']}; " if night["held"] else ""
        yield f"last night: {held}{night['outcome']}, run {night['run']}" + (f": {reason}" if reason else "")
        yield from (f"  {sentence}" for sentence in night["meaning"])
        if night["pages"]:
            yield f"pages of the last night: {layout.page_name(night['run'], '')} ({len(night['pages'])} pages)"
    yield from all_lines(_fresh_tables(details))


def _build_row(row: _Json) -> Sequence[str]:
    counts = (f"{row['products']:,}", f"{row['objects']:,}", f"{row['bytes'] / 1e6:,.1f}")
    return (row["id"], age(row["age_hours"]), *counts, row["gates"], row["state"])


def _build_lines(details: _Json) -> Iterator[str]:
    record, gates = details["record"], details["gates"]
    yield f"{record['id']}, as of {record['as_of']}"
    yield "versions: " + ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    code = record["provenance"]["code"]
    yield f"code: cardpress {code['version']}, SHA-256 {code['sha256']}"
    if gates is None:
        yield "gates: no night has judged this build"
    else:
        yield from (f"strange: {remark['message']}" for remark in gates["remarks"])
    tables = [
        overview.layers_table(record, {}),
        overview.inputs_table(record["provenance"]["inputs"]),
        overview.left_out_table(record),
        *([overview.gates_table(gates)] if gates else []),
    ]
    yield from all_lines([*tables, *_fresh_tables(details)])


def _fresh_tables(details: _Json) -> tuple[Table, Table]:
    return overview.sources_table(details["sources"]), overview.games_table(details["games"])


@click.command()
@options.store_option
@options.json_option
def builds(store: str, as_json: bool) -> None:
    """List the builds of the store. Newest day first; the live one is marked.

    \b
    Example: cardpress builds --store site_out
    """
    found = overview.overview(open_store(store), utc_now)
    rows = [{name: row[name] for name in ("id", "as_of", "products", "objects", "bytes")} for row in found["builds"]]
    for row, build in zip(rows, found["builds"], strict=True):
        row |= {state: build["state"] == state for state in (overview.LIVE, overview.PREVIOUS)}
    say_result(as_json, found | {"builds": rows}, map(_line, found["builds"]))
    if not found["builds"]:
        say(options.no_builds_message(store), err=True)
    if found["hold"]:
        say(_what_holds(found, store), err=True)


def _line(row: _Json) -> str:
    counts = f"{row['products']:>9,} products  {row['objects']:>11,} objects  {row['bytes'] / 1e6:>9,.1f} MB"
    return f"{row['id']}  {counts}  {row['state']}  {row['held']}".rstrip()


def _what_holds(found: _Json, store: str) -> str:
    until = f"nothing is published until `cardpress publish BUILD --store {store}`"
    return f"a rollback to {found['live']} holds publishing back: {until}"
