"""Tells other services about a run: pings at its begin and end, and a notice for a chat. None of them fails a night."""

import json
import threading
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from edge_auth.builds import layout
from generator.compare.judgements import LATE, NOT_JUDGED, Verdict
from generator.compare.run_reports import REPORT_PAGE, UNCHANGED, RunReport
from generator.lake.quarantine import QuarantinedFile, count_waiting, describe_waiting
from generator.terminal import Progress

# How long a service may take: for each read of its answer, and in all.
_TIMEOUT_SECONDS = 5.0
_TOTAL_SECONDS = 10.0
# Discord refuses longer texts.
_MAX_CHARACTERS = 2000
_MAX_GAMES = 20


@dataclass(frozen=True)
class Notices:
    """The services that get notices of a run, by their URLs."""

    progress: Progress
    ping: str | None = (
        None  # a check that raises an alarm when no ping comes: `…/start`, `…` and `…/fail` are requested
    )
    notify: str | None = None  # takes a JSON notice, as Slack and Discord do
    pages_url: str | None = None  # where you serve the pages of nights; None: notices name their place in the store

    def start(self, run: str) -> None:
        if self.ping:
            self._post(_below(self.ping, "/start"), run.encode(), "text/plain")

    def finish(self, report: RunReport) -> None:
        if self.ping:
            line = report.error or report.outcome
            url = self.ping if report.succeeded else _below(self.ping, "/fail")
            self._post(url, line.encode(), "text/plain; charset=utf-8")
        if self.notify:
            body = json.dumps(notice(report, self._link(report)), default=str).encode()
            self._post(self.notify, body, "application/json")

    def _link(self, report: RunReport) -> str | None:
        if report.build is None or report.outcome == UNCHANGED:
            return None
        page = layout.page_name(report.run, REPORT_PAGE)
        if self.pages_url:
            return f"{self.pages_url.rstrip('/')}/{page.removeprefix(layout.NIGHT_PAGES)}"
        return f"{report.store}/{page}"

    def _post(self, url: str, body: bytes, media_type: str) -> None:
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
            self.progress.say(f"{urlsplit(url).hostname} got no notice: {problems[0]}")


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
        "run": report.run,
        "outcome": report.outcome,
        "succeeded": report.succeeded,
        "error": report.error,
        "failed_step": report.failed_step,
        "build": report.build,
        "live": report.live,
        "data_day": report.data_day,
        "advanced": report.advanced,
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
    of_this_night = [file for file in waiting if file.run == report.run]
    older = [file for file in waiting if file.run != report.run]
    lines += [describe_waiting(of_this_night, report.store)] if of_this_night else []
    lines += [count_waiting(older, report.store)] if older else []
    games = ", ".join(f"{game['game'] or 'no game'} {game['usual']}" for game in report.games[:_MAX_GAMES])
    lines += [f"games: {games}"] if games else []
    indexes = ", ".join(_index(game) for game in judgement.indexes[:_MAX_GAMES])
    lines += [f"indexes: {indexes}"] if indexes else []
    return lines + ([f"report: {link}"] if link else [])


def _index(game: dict[str, Any]) -> str:
    before = game["index_before"]
    return f"{game['game']} {game['index']:.2f}" + (f" ({game['index'] / before - 1:+.2%})" if before else "")


def _below(url: str, path: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path))
