"""`cardpress show`: the builds of a store, one build, and how fresh the data is."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

import click

from edge_auth.contract import layout
from edge_auth.contract.builds import open_build
from edge_auth.contract.store.interface import Store
from edge_auth.contract.store.open import open_store
from generator.clock import utc_now
from generator.commands.build_names import BuildName, named_build, none_yet
from generator.commands.options import json_option, store_option
from generator.reading.overview import BuildRow, Overview, Source, overview, sources
from generator.releases.judgements import read_judgement
from generator.releases.run_reports import newest_report


@click.command()
@click.argument("build", required=False, type=BuildName())
@store_option
@json_option
def show(build: str | None, store: str, as_json: bool) -> None:
    """Show all builds, what is live and how fresh it is.

    With BUILD (an id, `live` or `previous`): everything about that one.

    \b
    Example: cardpress show --store site_out
    """
    opened = open_store(store)
    seen = overview(opened, utc_now)
    said = _one(opened, build) if build else _all(opened, seen)
    if as_json:
        click.echo(json.dumps({"live": seen.live, "hold": seen.hold} | said))
        return
    if seen.hold:
        click.echo(
            f"HOLD: a rollback to {seen.live} holds, nothing is published "
            f"until `cardpress publish BUILD --store {store}`"
        )
    click.echo("\n".join(_build_lines(said) if build else _store_lines(said, seen, store)))


def _all(store: Store, seen: Overview) -> dict:
    live = open_build(store, seen.live).record if seen.live else None
    fresh = [asdict(source) for source in sources(live, utc_now)] if live else []
    night = newest_report(store)
    last = {name: night[name] for name in ("run", "finished", "outcome", "error", "build")} if night else None
    if night and last:
        last["pages"] = sorted(store.list(layout.page_name(night["run"], "")))
    return {"builds": [asdict(row) for row in seen.builds], "sources": fresh, "last_night": last}


def _one(store: Store, build: str) -> dict:
    opened = named_build(store, build)
    record = opened.record
    fresh = [asdict(source) for source in sources(record, utc_now)]
    return {"record": record, "sources": fresh, "gates": read_judgement(store, opened.id)}


def _store_lines(said: dict, seen: Overview, store: str) -> Iterable[str]:
    head = ("BUILD", "AGE", "PRODUCTS", "OBJECTS", "MB", "GATES", "")
    if seen.builds:
        yield from _table([head, *map(_build_row, seen.builds)])
    else:
        yield none_yet(store)
    yield from _source_lines(said["sources"])
    if night := said["last_night"]:
        yield f"last night: {night['outcome']}, run {night['run']}" + (f": {night['error']}" if night["error"] else "")
        if night["pages"]:
            yield f"what it left to read: {layout.page_name(night['run'], '')} ({len(night['pages'])} pages)"


def _build_row(row: BuildRow) -> Sequence[str]:
    counts = (f"{row.products:,}", f"{row.objects:,}", f"{row.bytes / 1e6:,.1f}")
    return (row.id, _age(row.age_hours), *counts, row.gates, row.state)


def _build_lines(said: dict) -> Iterable[str]:
    record = said["record"]
    yield f"{record['id']}, as of {record['as_of']}"
    layers = [
        (name, layer["digest"], f"{record['objects'][name]:,}", f"{record['bytes'][name] / 1e6:,.1f}")
        for name, layer in record["layers"].items()
    ]
    yield from _table([("LAYER", "DIGEST", "OBJECTS", "MB"), *layers])
    yield "versions: " + ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    for left in record["left_out"]:
        yield "left out: {table}: {rows:,} {reason}, such as {example}".format(**left)
    yield from _gate_lines(said["gates"])
    yield from _source_lines(said["sources"])


def _gate_lines(judgement: dict | None) -> Iterable[str]:
    if judgement is None:
        yield "gates: no night has judged this build"
        return
    yield f"gates, by run {judgement['run']} against {judgement['against'] or 'no live build'}:"
    rows = [
        (
            "FORCED" if verdict["forced"] else "BREACHED" if verdict["breached"] else "passed",
            verdict["gate"],
            f"{verdict['value']:.4g} of {verdict['threshold']:.4g}",
            verdict["message"] if verdict["breached"] else "",
        )
        for verdict in judgement["verdicts"]
    ]
    yield from _table(rows)


def _source_lines(found: Iterable[dict]) -> Iterable[str]:
    for source in (Source(**fields) for fields in found):
        if source.newest is None:
            yield f"{source.table}: none"
        else:
            line = f"{source.table}: {source.newest}, {_age(source.age_hours or 0)} old"
            warning = f"  WARNING: older than {_age(source.allowed_hours)}" if source.late else ""
            yield line + warning


def _table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if cell[:1].isdigit() and place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _age(hours: float) -> str:
    return f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} d"
