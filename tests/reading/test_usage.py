"""`cardpress keys usage`: which lines of which files count."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from generator.storage.stores.open import open_store
from tests.support.commands import run
from tests.support.s3_servers import S3Server

LINE = {
    "time": "2026-08-22T12:00:00.123Z", "method": "GET", "path": "/api/v1/cards", "endpoint": "/api/v1/cards",
    "status": 200, "bytes": 10, "ms": 0.54, "key": "key_a", "request": "1-1", "build": None,
}  # fmt: skip


def line(**fields: Any) -> bytes:
    return json.dumps(LINE | fields).encode() + b"\n"


def usage(*words: object) -> dict[str, Any]:
    return json.loads(run("keys", "usage", *words, "--json").stdout)


def row(day: str = "2026-08-22", key: str | None = "key_a", requests: int = 1, refused: int = 0, size: int = 10) -> Any:
    return {"day": day, "key": key, "requests": requests, "refused": refused, "bytes": size}


def test_requests_are_counted_by_day_of_utc_and_key(tmp_path: Path) -> None:
    statuses = [line(status=status) for status in (200, 304, 399, 400, 429, 499, 500)]
    late = line(time="2026-08-22T23:59:59.999Z") + line(time="2026-08-23T00:30:00+01:00", key="key_b")
    (tmp_path / "a").write_bytes(
        b"".join(statuses) + late + line(time="2026-08-23T00:00:00+00:00", key=None, status=401)
    )
    assert usage(tmp_path)["usage"] == [
        row(requests=8, refused=3, size=80),
        row(key="key_b"),
        row("2026-08-23", None, 1, 1),
    ]
    text = run("keys", "usage", tmp_path / "a").stdout.splitlines()
    assert [words.split() for words in text][:2] == [
        ["DAY", "KEY", "REQUESTS", "REFUSED", "BYTES"], ["2026-08-22", "key_a", "8", "3", "80"],
    ]  # fmt: skip
    assert text[-1].split()[:2] == ["2026-08-23", "-"]


OTHER = {
    "text": b"cardpress: listening on http://127.0.0.1:8000\n",
    "of another program": b'{"time": "2026-08-22T12:00:00Z", "level": "info", "status": 200}\n',
    "no object": b"[1, 2]\n",
    "types": line(status="x"),
    "no time": line(time="yesterday"),
    "no UTF-8": b"\xff\xfe\x00\n",
    "two in one": line().strip() + line(),
    "larger than any": b"x" * 20_000_000 + b"\n",
    "cut off": line()[:40],
}


@pytest.mark.parametrize("kind", OTHER)
def test_other_lines_are_reported(tmp_path: Path, kind: str) -> None:
    message = b'{"time": "2026-08-22T12:00:00Z", "message": "not ready"}\n'
    (tmp_path / "a.log").write_bytes(line() + message + (OTHER[kind] if kind == "cut off" else OTHER[kind] + line()))
    (tmp_path / "empty.log").touch()
    requests = 1 if kind == "cut off" else 2
    assert usage(tmp_path) == {
        "usage": [row(requests=requests, size=10 * requests)],
        "other_lines": [{"file": f"{tmp_path}/a.log", "lines": 1}],
    }
    said = run("keys", "usage", tmp_path).stderr
    assert said == f"1 other lines (cut off, or of another program), most in {tmp_path}/a.log\n"


def test_a_file_counts_once(tmp_path: Path) -> None:
    """It may be in two locations, have two names, or be packed at this moment."""
    inner = tmp_path / "logs" / "edge"
    inner.mkdir(parents=True)
    (inner / "a [1]*.log").write_bytes(line())
    (inner / "b.log.1.gz").write_bytes(gzip.compress(line()))
    (inner / "c.log.1").write_bytes(line())
    (inner / "c.log.1.gz").write_bytes(gzip.compress(line())[:-9])
    (tmp_path / "logs" / "now").symlink_to(inner / "a [1]*.log")
    counted = usage(tmp_path / "logs", inner, inner / "c.log.1", f"{inner}/../edge")
    assert counted == {"usage": [row(requests=3, size=30)], "other_lines": []}


def test_the_last_days(tmp_path: Path) -> None:
    today = datetime.now(UTC).date()
    days = [str(today - timedelta(days=back)) for back in range(3)]
    (tmp_path / "a.log").write_bytes(b"".join(line(time=f"{day}T12:00:00Z") for day in days))
    for number in (1, 2, 3, 4):
        assert [used["day"] for used in usage(tmp_path, "--days", number)["usage"]] == days[:number][::-1]
    assert run("keys", "usage", tmp_path, "--days", 0, status=2)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(line())[:-9])
    for place, message in ((tmp_path / "none", "holds no file"), (tmp_path, f"GZIP stream: {tmp_path}/a.gz")):
        stderr = run("keys", "usage", place, status=1).stderr
        assert message in stderr and len(stderr.splitlines()) == 1


@pytest.mark.thorough
def test_logs_in_a_bucket(server: S3Server, tmp_path: Path) -> None:
    bucket = server.bucket()
    store = open_store(f"s3://{bucket}/logs")
    store.put("edge/a.log.gz", gzip.compress(line()))
    store.put("shim.log", line(status=429) + b"cut")
    counted = usage(f"s3://{bucket}/logs", f"s3://{bucket}/logs/edge/")
    assert counted["usage"] == [row(requests=2, refused=1, size=20)]
    assert counted["other_lines"] == [{"file": f"s3://{bucket}/logs/shim.log", "lines": 1}]
