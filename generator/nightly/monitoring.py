"""Tells other services about a run: metrics in a file, pings at its begin and end, and a notice for a chat.

The file has the text format of Prometheus, for the textfile collector of its node exporter. No service fails a night.
"""

import json
import threading
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from generator.clock import parse_timestamp
from generator.compare.run_reports import LATE, NOT_JUDGED, REPORT_PAGE, UNCHANGED, RunReport, Verdict
from generator.lake.quarantine import QuarantinedFile, count_waiting, decision, describe_waiting
from generator.reading.overview import NO_GAME
from generator.storage import layout
from generator.storage.stores.disk import replace_file
from generator.terminal import Progress

_Samples = list[tuple[dict[str, str], float | None]]  # each with its labels; None: there is no such sample
_HELP = {
    "run_timestamp_seconds": "Time at which the last nightly run ended.",
    "success": "Whether the last nightly run succeeded: it published its build, or found nothing new.",
    "last_success_timestamp_seconds": "Time at which a nightly run last succeeded.",
    "outcome": "Outcome of the last nightly run.",
    "failed_step": "The step in which the last nightly run failed.",
    "data_timestamp_seconds": "The newest day of the price guide in the live build.",
    "data_advanced": "Whether the last nightly run made that day later.",
    "step_seconds": "Duration of each step of the last nightly run.",
    "gate_value": "Value that each gate measured in the last nightly run.",
    "gate_threshold": "The greatest value that passes each gate.",
    "gate_breached": "Whether the gate was breached, and not forced.",
    "build_as_of_timestamp_seconds": "The as-of day of the build that the last nightly run made.",
    "damaged_layers": "Layers that were damaged in the store, and that the last nightly run made again.",
    "quarantined_files": "Day files of the lake that wait in quarantine, left out of builds.",
    "held_timestamp_seconds": "The first day whose rows of a table are held, by game, until it is accepted or dropped.",
    "late_sources": "Sources, each a table and a game, that are late or thin in the build of the last nightly run.",
    "game_guide_timestamp_seconds": "The day that half of the game's rows in the price guide reach, in the live build.",
    "game_products": "Products of the game in the live build.",
    "game_guide_rows": "Products of the game with a row in the price guide.",
    "game_prices": "Products of the game with a price in a column of the price guide.",
}


def write_textfile(path: Path, report: RunReport) -> None:
    """Write the metrics of a run, replacing the file at once."""
    text = "".join(_metrics(report, _last_success(path)))
    replace_file(path, [text.encode()], mode=0o644)  # the collector ignores names without .prom, as the temporary one


def _last_success(path: Path) -> float | None:
    """Return the last success in the existing file, for a run that failed."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return float(next(line for line in lines if line.startswith("cardpress_nightly_last_success")).split()[-1])
    except (OSError, ValueError, StopIteration):
        return None


def _metrics(report: RunReport, last_success: float | None) -> Iterator[str]:
    found = _samples(report, last_success) | _game_samples(report.games)
    for name, text in _HELP.items():
        samples = [(labels, value) for labels, value in found[name] if value is not None]
        if samples:
            yield f"# HELP cardpress_nightly_{name} {text}\n# TYPE cardpress_nightly_{name} gauge\n"
        for labels, value in samples:
            inside = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
            yield f"cardpress_nightly_{name}{'{' + inside + '}' if inside else ''} {value:.15g}\n"


def _escaped(text: str) -> str:
    """Return a text as a label's value. Games come from a marketplace, so their names may hold anything."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _samples(report: RunReport, last_success: float | None) -> dict[str, _Samples]:
    ended = parse_timestamp(report.finished).timestamp() if report.finished else 0.0
    judgement = report.judgement or NOT_JUDGED
    verdicts = {verdict.gate: verdict for verdict in judgement.verdicts}
    return {
        "run_timestamp_seconds": [({}, ended)],
        "success": [({}, report.succeeded)],
        "last_success_timestamp_seconds": [({}, ended if report.succeeded else last_success)],
        "outcome": [({"outcome": report.outcome}, 1)],
        "failed_step": [({"step": report.failed_step}, 1)] if report.failed_step else [],
        "data_timestamp_seconds": [({}, _day_seconds(report.data_day))],
        "data_advanced": [({}, report.advanced)],
        "step_seconds": _by("step", report.seconds),
        "gate_value": _by("gate", {gate: verdict.value for gate, verdict in verdicts.items()}),
        "gate_threshold": _by("gate", {gate: verdict.threshold for gate, verdict in verdicts.items()}),
        "gate_breached": _by("gate", {gate: verdict.stops for gate, verdict in verdicts.items()}),
        "build_as_of_timestamp_seconds": [({}, _day_seconds(report.record.get("as_of")))],
        "damaged_layers": [({}, len(report.damaged))],
        "quarantined_files": [({}, len(report.quarantine))],
        "held_timestamp_seconds": _held_since(report.quarantine),
        "late_sources": [({}, sum(remark.value for remark in judgement.remarks if remark.gate == LATE))],
    }


def _held_since(waiting: Iterable[dict[str, Any]]) -> _Samples:
    days: dict[tuple[str, str], str] = {}
    for file in waiting:
        game = "all games" if file["game"] is None else file["game"] or NO_GAME  # an empty label counts as none
        days[file["table"], game] = min(file["day"], days.get((file["table"], game), file["day"]))
    return [({"table": table, "game": game}, _day_seconds(day)) for (table, game), day in sorted(days.items())]


def _game_samples(games: list[dict[str, Any]]) -> dict[str, _Samples]:
    of_game = {game["game"] or NO_GAME: game for game in games}  # an empty label counts as none
    return {
        "game_guide_timestamp_seconds": _by("game", {name: _day_seconds(g["usual"]) for name, g in of_game.items()}),
        "game_products": _by("game", {name: game["products"] for name, game in of_game.items()}),
        "game_guide_rows": _by("game", {name: game["rows"] for name, game in of_game.items()}),
        "game_prices": [
            ({"game": name, "column": column}, prices)
            for name, game in of_game.items()
            for column, prices in game["prices"].items()
        ],
    }


def _day_seconds(day: str | None) -> float | None:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() if day else None


def _by(label: str, values: Mapping[str, float | None]) -> _Samples:
    return [({label: name}, value) for name, value in values.items()]


# How long a service may take: for each read of its answer, and in all.
_TIMEOUT_SECONDS = 5.0
_TOTAL_SECONDS = 10.0
# Discord refuses longer texts.
_MAX_CHARACTERS = 2000
_MAX_GAMES = 20
# Of the report, in a notice.
_REPORTED = ("run", "outcome", "succeeded", "error", "failed_step", "build", "live", "data_day", "advanced")


@dataclass(frozen=True)
class Notices:
    """The services that get notices of a run, by their URLs."""

    ping: str | None = None  # of a check that raises an alarm when no ping comes; `…/start` and `…/fail` too
    notify: str | None = None  # takes a JSON notice, as Slack and Discord do
    pages_url: str | None = None  # where you serve the pages of nights; None: notices name their place in the store

    def start(self, run: str, progress: Progress) -> None:
        if self.ping:
            self._post(_below(self.ping, "/start"), run.encode(), "text/plain", progress)

    def finish(self, report: RunReport, progress: Progress) -> None:
        if self.ping:
            line = "; ".join(filter(None, (report.held, report.error or report.outcome)))
            url = self.ping if report.succeeded else _below(self.ping, "/fail")
            self._post(url, line.encode(), "text/plain; charset=utf-8", progress)
        if self.notify:
            body = json.dumps(notice(report, self._link(report)), default=str).encode()
            self._post(self.notify, body, "application/json", progress)

    def _link(self, report: RunReport) -> str | None:
        if report.build is None or report.outcome == UNCHANGED:
            return None
        page = layout.page_name(report.run, REPORT_PAGE)
        if self.pages_url:
            return f"{self.pages_url.rstrip('/')}/{page.removeprefix(layout.NIGHT_PAGES)}"
        return f"{report.store}/{page}"

    def _post(self, url: str, body: bytes, media_type: str, progress: Progress) -> None:
        """Send a request in a thread of its own, because a look-up of a name has no timeout."""
        problems: list[str] = []

        def send() -> None:
            request = urllib.request.Request(url, body, {"Content-Type": media_type, "User-Agent": "cardpress"})
            try:
                with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
                    answer.read(1)
            except Exception as error:  # whatever a server or a library does, the night goes on
                problems.append(str(error))

        thread = threading.Thread(target=send, daemon=True)
        thread.start()
        thread.join(_TOTAL_SECONDS)
        if thread.is_alive():
            problems.append("no answer in time")
        if problems:  # the path of the URL is often a secret
            progress.say(f"{urlsplit(url).hostname} got no notice: {problems[0]}")


def notice(report: RunReport, link: str | None) -> dict[str, Any]:
    """Return a notice: `text` for Slack, `content` for Discord, and the same as fields for programs."""
    judgement = report.judgement or NOT_JUDGED
    verdicts = [verdict for verdict in judgement.verdicts if verdict.breached]
    text = "\n".join(_lines(report, verdicts, link))
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {
        "text": escaped,
        "content": text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…",
        "allowed_mentions": {"parse": []},
        **{name: getattr(report, name) for name in _REPORTED},
        "differences": judgement.differences,
        "gates": [
            {name: getattr(verdict, name) for name in ("gate", "value", "threshold", "forced")} for verdict in verdicts
        ],
        "games": [{name: game[name] for name in ("game", "newest", "usual")} for game in report.games],
        "damaged": report.damaged,
        "quarantine": [{name: file[name] for name in ("table", "day", "gates")} for file in report.quarantine],
        "report": link,
    }


def _lines(report: RunReport, verdicts: list[Verdict], link: str | None) -> list[str]:
    judgement = report.judgement or NOT_JUDGED
    advanced = "" if report.advanced else "; the data did not advance"
    late = "".join(f"; {remark.message}" for remark in judgement.remarks if remark.gate == LATE)
    held = f"{report.held}; " if report.held else ""
    lines = [f"cardpress: {held}{report.outcome}, live {report.live}, data of {report.data_day}{advanced}{late}"]
    lines += [report.error] if report.error else []
    counts = ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in judgement.differences.items())
    lines += [f"changes: {counts}"] if counts else []
    lines += [f"gate {verdict.gate} {'forced' if verdict.forced else 'breached'}" for verdict in verdicts]
    lines += [f"strange: {remark.message}" for remark in judgement.remarks if remark.gate != LATE]
    lines += [f"damaged and made again: {', '.join(report.damaged)}"] if report.damaged else []
    waiting = [QuarantinedFile(**file) for file in report.quarantine]
    lines += [_waiting_line(report, waiting)] if waiting else []
    games = ", ".join(f"{game['game'] or 'no game'} {game['usual']}" for game in report.games[:_MAX_GAMES])
    lines += [f"games: {games}"] if games else []
    indexes = ", ".join(_index(game) for game in judgement.indexes[:_MAX_GAMES])
    lines += [f"indexes: {indexes}"] if indexes else []
    return lines + ([f"report: {link}"] if link else [])


def _waiting_line(report: RunReport, waiting: list[QuarantinedFile]) -> str:
    """Return what ends a hold; the first line has said what is held if the night published without it."""
    if report.held:
        return f"`{decision('accept', waiting, report.store)}`, or `drop` instead of `accept`"
    if any(file.run == report.run for file in waiting):
        return describe_waiting(waiting, report.store)
    return count_waiting(waiting, report.store)


def _index(game: dict[str, Any]) -> str:
    before = game["index_before"]
    return f"{game['game']} {game['index']:.2f}" + (f" ({game['index'] / before - 1:+.2%})" if before else "")


def _below(url: str, path: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path))
