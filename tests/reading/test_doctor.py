"""`cardpress doctor`: silent where all is well, one line with the next step for each thing that is wrong."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from generator import settings
from generator.cli import cli
from generator.clock import utc_now
from generator.commands.serve import missing_steps
from generator.reading.doctor import check_store, check_writing
from generator.releases.publish import rollback
from generator.storage.keys import issue, open_key_file
from generator.storage.stores.folder import FolderStore
from tests.support.commands import run
from tests.support.nights import at, in_hours, names, published
from tests.support.selection import mostly_thorough

pytestmark = pytest.mark.xdist_group("diff")


def give_key(place: Path, expires: str | None = None) -> None:
    open_key_file(str(place / "store")).add(issue("n", ("cards:read",), 1, expires, 0)[1])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with lake, store and a key."""
    published(tmp_path, 7, 8)
    give_key(tmp_path)
    return tmp_path


def doctor(place: Path, *more: object) -> Result:
    where = ["--store", place / "store", "--lake", place / "lake", "--state", place / "state"]
    return CliRunner().invoke(cli, ["doctor", *map(str, (*where, *more))])


def found(place: Path, *more: object) -> dict[str, tuple[str, str]]:
    """Return the level and the message of each check; of several findings the worst."""
    lines = json.loads(doctor(place, "--json", *more).stdout)
    lines.sort(key=lambda line: ["ok", "warning", "problem"].index(line["level"]))
    assert all(line["advice"] or line["level"] == "ok" or line["check"] == "lake" for line in lines)
    return {line["check"]: (line["level"], f"{line['message']}: {line['advice']}") for line in lines}


def everything(folder: Path) -> set[tuple[str, bytes]]:
    return {(str(path), path.read_bytes() if path.is_file() else b"") for path in folder.rglob("*")}


def test_a_sound_place(place: Path) -> None:
    before = everything(place)
    result = run("doctor", "--store", place / "store", "--lake", place / "lake", "--state", place / "state")
    levels = [line.split()[0] for line in result.stdout.splitlines()]
    assert "problem" not in levels and levels.count("ok") >= 8
    assert everything(place) == before, "nothing was changed, and the probe is gone"
    assert {check for check, (level, _) in found(place).items() if level == "warning"} == {"sources", "days"}, "is old"
    assert found(place, "--read-only").keys() == found(place).keys() - {"writing", "clock"}


def write(name: str, text: str) -> Callable[[Path], None]:
    def spoil(place: Path) -> None:
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return spoil


def remove(pattern: str) -> Callable[[Path], None]:
    def spoil(place: Path) -> None:
        path = next(place.glob(pattern))
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return spoil


def chmod(name: str, mode: int) -> Callable[[Path], None]:
    return lambda place: (place / name).chmod(mode)


def in_the_way(place: Path) -> None:
    shutil.rmtree(place / "store" / "private")
    (place / "store" / "private").write_text("a file")


def wrong_column(place: Path) -> None:
    pq.write_table(pa.table({"id_product": ["one"]}), place / "lake" / "price_guide" / "day=2025-11-22" / "z.parquet")


def tomorrow(place: Path) -> None:
    folder = place / "lake" / "listings" / f"day={utc_now().date() + timedelta(days=2)}"
    shutil.copytree(place / "lake" / "listings" / "day=2025-11-22", folder)


def expire(place: Path) -> None:
    remove("store/private/keys")(place)
    give_key(place, "2020-01-01T00:00:00Z")


def night_that_failed(place: Path) -> None:
    run("nightly", "--lake", place / "no-lake", "--store", place / "store", status=1)


WRONG: dict[str, tuple[Callable[[Path], object], str, str, str]] = {
    "no store": (remove("store"), "store", "problem", "does not exist: pass another --store, or `cardpress build"),
    "no live build": (remove("store/current.json"), "live", "problem", "`cardpress publish 2025-11-22-"),
    "pointer is no pointer": (write("store/current.json", "{"), "store", "problem", "current.json"),
    "record altered": (write("store/builds/2025-11-21-0123456789ab.json", "{}"), "records", "problem", "2025-11-21-01"),
    "pack gone": (remove("store/layers/sets/*/*.jsonl.gz"), "live", "problem", "is missing: `cardpress build --as-of"),
    "hold": (lambda place: rollback(FolderStore(str(place / "store"))), "hold", "warning", "`cardpress publish BUILD"),
    "last night": (night_that_failed, "night", "warning", "the step build failed: lake "),
    "not writable": (in_the_way, "writing", "problem", "private"),
    "keys unreadable": (
        write("store/private/keys.json", "[]"),
        "keys",
        "problem",
        "restore private/keys.json, or move it elsewhere",
    ),
    "no keys": (remove("store/private/keys"), "keys", "warning", "`cardpress keys issue"),
    "keys expired": (expire, "keys", "problem", "none of 1 is valid"),
    "key ends soon": (
        lambda place: give_key(place, f"{utc_now() + timedelta(days=3):%Y-%m-%dT%H:%M:%SZ}"),
        "keys",
        "warning",
        "2 valid, 0 expired or revoked; expiring soon: key_",
    ),
    "keys readable": (chmod("store/private/keys.json", 0o644), "modes", "problem", "chmod -R go="),
    "pages readable": (chmod("store/private", 0o755), "modes", "problem", "/private: chmod -R"),
    "no lake": (remove("lake"), "lake", "problem", "is not a folder: make one with"),
    "no products": (remove("lake/products.parquet"), "lake", "problem", "has no products"),
    "no day": (write("lake/listings/day=soon/x.parquet", ""), "lake", "problem", "names no day"),
    "wrong column": (wrong_column, "lake", "problem", "price_guide"),
    "lake of the future": (tomorrow, "days", "problem", "later than today on this machine"),
    "import broken off": (write("lake/.import/x", ""), "import", "warning", "interrupted"),
    "state is a file": (write("state", ""), "state", "problem", "--state DIR"),
}


@pytest.mark.parametrize("case", mostly_thorough(WRONG, *[*WRONG][::4]))
def test_what_is_wrong_is_said_with_what_to_do(place: Path, case: str) -> None:
    spoil, check, level, text = WRONG[case]
    spoil(place)
    said = found(place)
    assert said[check][0] == level and text in said[check][1], said
    result = doctor(place)
    problems = [line for line in result.stdout.splitlines() if line.startswith("problem")]
    assert (result.exit_code == 0) == (level != "problem") == (not problems)


def test_a_counter_out_of_reach_is_told_without_its_password(place: Path) -> None:
    result = doctor(place, "--rate-limit-url", "redis://:secret@127.0.0.1:1/0")
    assert "problem  rate limit 127.0.0.1:1 does not answer" in result.stdout and "secret" not in result.output
    assert doctor(place, "--rate-limit-url", "http://x").exit_code == 2


def test_a_password_in_an_option_is_warned_of(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "redis://:secret@127.0.0.1:1/0"
    assert "CARDPRESS_RATE_LIMIT_URL" in doctor(place, "--rate-limit-url", url).stderr
    assert not doctor(place, "--rate-limit-url", "redis://127.0.0.1:1/0").stderr
    monkeypatch.setenv("CARDPRESS_RATE_LIMIT_URL", url)
    result = doctor(place)
    assert "127.0.0.1:1 does not answer" in result.stdout and not result.stderr


def test_libraries_too_old(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "generator.reading.doctor.requires", lambda name: ["duckdb>=999", "no-such[x]>=1", "pytest>=1; extra == 'dev'"]
    )
    level, message = found(place)["libraries"]
    assert level == "problem" and "duckdb 999, no-such 1 or newer" in message


def test_clocks_that_differ(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FolderStore(str(place / "store"))
    early = datetime(2024, 1, 1, tzinfo=UTC)
    assert {f.check: f.level for f in check_store(store, at(early))}["live"] == "problem"
    assert {f.check: f.level for f in check_writing(store.location, in_hours(1))}["clock"] == "problem"
    assert not names(store, lambda name: "doctor" in name)
    monkeypatch.setattr(settings, "MIN_FREE_BYTES", 1 << 80)
    assert found(place)["disk"][0] == "warning"


def test_what_serve_says_is_still_to_be_done(place: Path) -> None:
    store, nothing = str(place / "store"), str(place / "nothing")
    assert list(missing_steps(store, None)) == []
    assert [line.partition(":")[0] for line in missing_steps(nothing, None)] == [
        f"no build is live in {nothing} yet",
        "there is no key yet",
    ]
    (place / "store" / "current.json").write_text("{")
    assert f"`cardpress doctor --store {store}` says more" in next(missing_steps(store, None))
