"""The checks of `cardpress doctor`: they find problems of an installation, a store, a lake, a shim and its nginx."""

import os
import platform
import pwd
import re
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from generator import settings
from generator.clock import Clock, from_unix_time, parse_timestamp, timestamp
from generator.compare.run_reports import HELD, REFUSED, late_sources, newest_report
from generator.database import Database
from generator.errors import BuildError, GeneratorError
from generator.ingest.gaps import unnamed_expansions
from generator.lake.files import STAGE, LakeFile, LakeFiles
from generator.lake.lake import DAILY_TABLES, not_read, table_files
from generator.lake.quarantine import decision, read_quarantine, waiting_in_short
from generator.lake.table_writer import LakeWriter
from generator.lake.tables import check_columns
from generator.pack.verify import visible_damage
from generator.reading.nginx_config import NginxOptions, ReadFiles, configuration, in_quotes, written_options
from generator.reading.overview import source_ages, undone_decisions, why_not_published
from generator.releases.change_documents import verify_steps
from generator.releases.locks import Holder, current_holder, described
from generator.storage import layout
from generator.storage.builds import Build, open_build, read_pointer
from generator.storage.errors import Conflict, KeyFormatError, OtherVersion, StorageError
from generator.storage.keys import KeyFile
from generator.storage.stores.interface import Store
from generator.storage.stores.open import is_folder, open_store
from generator.storage.stores.remedies import cause_of, remedy_of
from generator.storage.text import UNICODE_VERSION
from generator.terminal import Progress
from generator.threads import ONE_THREAD

OK, WARNING, PROBLEM = "ok", "warning", "problem"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)")  # others are of extras
_ADVICE = "reinstall from requirements.lock (`make setup` in a checkout)"
_PROBE = "probe"
_UNUSABLE = "without a key the API cannot be used: `cardpress keys issue --name NAME`"
_NGINX_PATHS = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
_ERROR = re.compile(r"\[emerg\] (?:[0-9]+#[0-9]+: )?(.+)")
_NGINX_SECONDS, _CONNECT_SECONDS = 30, 2.0


@dataclass(frozen=True)
class Finding:
    """The result of one check. `advice`: what to do next, soon for a warning and now for a problem."""

    check: str
    level: str
    message: str
    advice: str = ""

    def line(self) -> str:
        """Return the finding as one line of text."""
        return f"{self.level:<8} {self.check:<10} {self.message}{f': {self.advice}' if self.advice else ''}"


def ok(check: str, message: str) -> Finding:
    return Finding(check, OK, message)


def warning(check: str, message: str, advice: str) -> Finding:
    return Finding(check, WARNING, message, advice)


def problem(check: str, message: str, advice: str) -> Finding:
    return Finding(check, PROBLEM, message, advice)


def guarded(check: str, findings: Iterable[Finding], advice: str) -> Iterator[Finding]:
    """Yield the findings of a check. If the check fails, yield its error as a problem.

    A code of the operating system or of an S3 server has a remedy of its own, or else its text, in place of `advice`.
    """
    try:
        yield from findings
    except (GeneratorError, StorageError, OSError, ValueError) as error:
        message, (code, text), remedy = str(error), cause_of(error), remedy_of(error)
        if isinstance(error, KeyFormatError | OtherVersion):
            message, advice = message.split(": ", 1)
        elif code:
            advice = remedy or (f"{code}, {text}" if text else code)
        yield problem(check, message.removesuffix(f": {advice}"), advice)


def check_versions() -> Iterator[Finding]:
    """Check Python, then all libraries together."""
    try:
        needed, wanted = metadata("cardpress")["Requires-Python"].removeprefix(">="), requires("cardpress") or []
    except PackageNotFoundError:
        yield problem("python", "cardpress is importable but not installed", _ADVICE)
        return
    if sys.version_info < _numbers(needed):
        yield problem("python", f"{platform.python_version()}, cardpress needs {needed}", "run it with a newer Python")
    else:
        yield ok("python", f"{platform.python_version()}, cardpress {version('cardpress')}")
    required = [match.groups() for match in map(_REQUIREMENT.fullmatch, wanted) if match]
    if missing := [f"{name} {minimum}" for name, minimum in required if not _installed(name, minimum)]:
        yield problem("libraries", f"too old or missing: {', '.join(missing)} or newer", _ADVICE)
    else:
        yield ok("libraries", f"{len(required)} libraries, none too old")


def _installed(name: str, minimum: str) -> bool:
    try:
        return _numbers(version(name)) >= _numbers(minimum)
    except PackageNotFoundError:
        return False


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall("[0-9]+", text.partition("+")[0])[:3])


def check_store(store: Store, clock: Clock) -> Iterator[Finding]:
    """Check by reading: the store, its records, the pointer and the live build."""
    folder = store.local_path("")
    if folder is not None and not folder.is_dir():
        advice = f"pass another --store, or {_how_to_publish(store, [])}"
        yield problem("store", f"{store.location} does not exist", advice)
        return
    records = list(store.list(layout.BUILDS))
    yield ok("store", f"{store.location}: {len(records)} build{'s' * (len(records) != 1)}")
    if folder is not None and (free := shutil.disk_usage(folder).free) < settings.MIN_FREE_BYTES:
        yield warning("disk", f"{free / 1e6:,.0f} MB are free", "free some space, or `cardpress prune --keep N`")
    pointer, _ = read_pointer(store)
    yield from _check_records(store, records, pointer.build if pointer else None)
    for name in (layout.NIGHTLY_LOCK, layout.PRUNE_LOCK):
        if holder := current_holder(store, name, clock):
            yield _lock(name, holder, clock)
    if pointer is None:
        yield problem("live", f"no build is live in {store.location}", _how_to_publish(store, records))
        return
    try:
        live = open_build(store, pointer.build)
    except OtherVersion:  # among the records
        return
    yield from _check_live_build(live, clock)
    if pointer.hold:
        message = f"a rollback to {pointer.build} holds publishing back"
        yield warning("hold", message, f"`cardpress publish BUILD --store {store.location}` when the lake is fixed")
    try:
        verify_steps(store)
    except BuildError as error:
        yield warning("changes", *str(error).split(": ", 1))
    yield from _check_sources(live, clock)
    if waiting := [file for file in read_quarantine(store) if file.waits]:
        yield warning("quarantine", *waiting_in_short(waiting, store.location).split("; ", 1))
    if undone := undone_decisions(store, live.record):
        yield warning("quarantine", *undone.split(": ", 1))
    yield from _check_last_night(store)


def _lock(name: str, holder: Holder, clock: Clock) -> Finding:
    run = described(holder)
    future = clock() + timedelta(seconds=settings.MAX_CLOCK_DIFFERENCE_SECONDS)
    expires = holder.get("expires")  # in a bucket
    times = expires and (parse_timestamp(holder["since"]), parse_timestamp(expires) - settings.MAX_LEASE)
    if times and max(times) > future:
        message = f"{name} is of a run whose clock was ahead: {run}, until {expires}"
        advice = "set that clock, then `cardpress unlock --force`; until then other runs are refused"
        return problem("lock", message, advice)
    return ok("lock", f"{name} is held by {run}")


def _how_to_publish(store: Store, records: list[str]) -> str:
    if records:
        return f"`cardpress publish {layout.id_of(max(records))} --store {store.location}`"
    return f"`cardpress build --lake LAKE --store {store.location} --publish`"


def _check_records(store: Store, records: list[str], live: str | None) -> Iterator[Finding]:
    errors, is_live = list[StorageError](), False
    for build in sorted(map(layout.id_of, records), key=lambda build: build != live):
        try:
            open_build(store, build)
        except StorageError as error:
            errors.append(error)
            is_live = is_live or build == live
    if errors:
        (message, colon, remedy), is_other = str(errors[0]).partition(": "), isinstance(errors[0], OtherVersion)
        more = (" (live)" if is_live else "") + (f", and {len(errors) - 1} more" if len(errors) > 1 else "")
        command, then = ("rollback", "") if is_live else ("prune", " sets it aside")
        advice = f"`cardpress {command} --store {shlex.quote(store.location)}`{then}"
        if not is_other:
            message += colon + remedy
        yield problem("records", message + more, remedy if is_other and is_live else advice)


def _check_live_build(live: Build, clock: Clock) -> Iterator[Finding]:
    if damage := next(filter(None, map(visible_damage, live.layers.values())), None):
        advice = f"`cardpress build --as-of {live.as_of} --repair` from the same lake, or `cardpress rollback`"
        yield problem("live", f"{live.id}: {damage}", advice)
    elif live.as_of > clock().date():
        message = f"the as-of day of {live.id} is later than today on this machine ({clock():%Y-%m-%d} in UTC)"
        yield problem("live", message, "set the clock, or look for a partition of the future in the lake")
    elif (versions := live.record["versions"])["unicode"] != UNICODE_VERSION:
        message = (
            f"{live.id} was made by Python {versions['python']} with Unicode {versions['unicode']}, "
            f"this Python has Unicode {UNICODE_VERSION}"
        )
        yield warning("live", message, "run the same Python minor version everywhere, or searches may differ")
    else:
        yield ok("live", f"{live.id}, {len(live.layers)} layers, no file is missing")


def _check_sources(live: Build, clock: Clock) -> Iterator[Finding]:
    if found := late_sources(live.store, live.id):
        yield warning("sources", found, "check the jobs that write these tables")
    late = [source for source in source_ages(live.record, clock()) if source["late"]]
    if late:
        tables = ", ".join(f"{source['table']} ({source['age_hours'] / 24:,.1f} days)" for source in late)
        advice = "check the jobs that write the lake, and the last nights"
        yield warning("sources", f"old in the live build: {tables}", advice)
    else:
        yield ok("sources", f"as of {live.as_of}, none is late")


def _check_last_night(store: Store) -> Iterator[Finding]:
    night = newest_report(store)
    if night is None:
        return
    failed = why_not_published(store, night)
    run = f"{night['run']}: {night['outcome']}"
    if failed and night["outcome"] == REFUSED:
        seen, why, *steps = failed
        yield warning("night", f"{night['run']}: {seen}; {why}", "; ".join(steps))
    elif failed:
        held = night["outcome"] == HELD
        advice = "`cardpress publish BUILD` lifts the hold" if held else "`cardpress show` says more"
        yield warning("night", f"{run}, {night['error']}", advice)
    elif night.get("held"):
        waiting = [file for file in read_quarantine(store) if file.waits]
        advice = f"`{decision('accept', waiting, store.location)}`, or `drop`" if waiting else "run a night"
        yield warning("night", f"{night['held']}; {run}", advice)
    else:
        yield ok("night", run)


def check_writing(location: str, clock: Clock) -> Iterator[Finding]:
    """Check writing, conditional writing and the store's clock, with a probe that is deleted afterwards."""
    probe = open_store(f"{location.rstrip('/')}/{layout.PRIVATE}doctor-{secrets.token_hex(6)}")
    try:
        probe.swap(_PROBE, b"1", None)
        current = probe.get_versioned(_PROBE)
        etag = current.etag if current else None
        probe.swap(_PROBE, b"2", etag)
        try:
            probe.swap(_PROBE, b"3", etag)
        except Conflict:
            yield ok("writing", "the store can be written to and honours conditional writes")
        else:
            message = "a conditional write succeeded although its condition was not met"
            yield problem("writing", message, "use a store that honours If-Match")
        [entry] = probe.entries(_PROBE)
        difference = abs(from_unix_time(entry.modified) - clock())
        if difference > timedelta(seconds=settings.MAX_CLOCK_DIFFERENCE_SECONDS):
            message = f"the clocks of this machine and of the store differ by {difference.total_seconds():,.0f} s"
            yield problem("clock", message, "synchronise the clock (NTP): locks and limits depend on it")
        else:
            yield ok("clock", f"{clock():%Y-%m-%d %H:%M:%S} UTC, the same as the store's")
    finally:
        if (folder := probe.local_path("")) is None:
            probe.delete([_PROBE])
        else:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):  # the parent is not empty
                folder.parent.rmdir()


def check_lake(location: str, clock: Clock) -> Iterator[Finding]:
    """Check the tables and their newest days. In a folder, also open the newest file of each table."""
    backend = LakeFiles(location)
    found = list(table_files(location, backend))
    tables: dict[str, list[LakeFile]] = {}
    for file in found:
        tables.setdefault(file.table, []).append(file)
    if "products" not in tables:
        yield problem("lake", f"{location} has no products*.parquet", "`cardpress ingest cardmarket` writes it")
        return
    yield ok("lake", f"{location}: {len(found):,} files, {', '.join(sorted(tables))}")
    for line in not_read(sorted(backend.names)):
        yield warning("lake", f"{location}/{line}", "rename it, or move it away")
    yield from _check_days(tables, clock().date())
    if names := unnamed_expansions(LakeWriter(location)):
        more = "s have" if len(names) > 1 else " has"
        message = f"{len(names):,} set{more} no name, such as {names[0]}"
        yield warning("sets", message, "`cardpress ingest expansions --template` prints the table to fill")
    if is_folder(location):
        if (stage := Path(location) / STAGE).exists():
            message = f"{stage}: an import is running or was interrupted"
            yield warning("import", message, "the next import or build completes it or removes it")
        with closing(Database(ONE_THREAD)) as db:
            for table, files in tables.items():
                last = max(files, key=lambda file: (file.day or date.min, file.name))
                check_columns(db, table, [replace(last, path=str(Path(location) / last.name))])


def _check_days(tables: dict[str, list[LakeFile]], today: date) -> Iterator[Finding]:
    newest = {table: max(f.day for f in tables[table] if f.day) for table in DAILY_TABLES if table in tables}
    days = ", ".join(f"{table} {day}" for table, day in newest.items())
    if len(set(newest.values())) == 1:
        days = f"all tables {max(newest.values())}"
    if not newest:
        yield warning("days", "no table has a day= partition", "pass the day to the build: --as-of DAY")
    elif max(newest.values()) > today:
        message = f"the newest partition is later than today on this machine ({today} in UTC): {days}"
        yield problem("days", message, "set the clock, or move that partition away")
    elif (today - max(newest.values())).days > 2:
        yield warning("days", f"the newest days are old: {days}", "check the jobs that write the lake")
    else:
        yield ok("days", days)


def check_keys(file: KeyFile, clock: Clock, progress: Progress) -> Iterator[Finding]:
    """Check whether any key is valid, and which keys expire soon."""
    records, now = file.records(partial(progress.bar_if_long, "keys")), clock().timestamp()
    file.changes()  # the list of changes can be read
    valid = [record for record in records if not record.revoked and not record.expired(now)]
    counts = f"{len(valid)} valid, {len(records) - len(valid)} expired or revoked"
    soon = timestamp(clock() + timedelta(days=settings.KEY_EXPIRY_WARNING_DAYS))
    expiring = sorted((one.expires_at, one.id) for one in valid if one.expires_at and one.expires_at < soon)
    where = f"in {file.store.location}"
    if not records:
        yield warning("keys", f"there are none {where}", _UNUSABLE)
    elif not valid:
        yield problem("keys", f"none of {len(records)} is valid {where}", _UNUSABLE)
    elif expiring:
        first = ", ".join(f"{id_} at {at}" for at, id_ in expiring[:3]) + (", …" if len(expiring) > 3 else "")
        yield warning("keys", f"{counts}; expiring soon: {first}", "`cardpress keys update ID --expires DAY`")
    else:
        yield ok("keys", counts)


def check_state(state: Path) -> Iterator[Finding]:
    """Check that the state folder, or its nearest existing parent, can be written to."""
    nearest = next(folder for folder in (state.absolute(), *state.absolute().parents) if folder.exists())
    if not nearest.is_dir():
        yield problem("state", f"{nearest} is not a folder", "pass another --state DIR")
    elif not os.access(nearest, os.W_OK | os.X_OK):
        yield problem("state", f"{nearest} cannot be written to", "fix its permissions, or pass another --state DIR")
    else:
        yield ok("state", str(state) if nearest == state.absolute() else f"`serve` will create {state}")


def check_counter(url: str) -> Iterator[Finding]:
    """Check that the shared counter answers, within the time that a request waits for it."""
    from edge_auth.live.redis_counter import COUNTER_TIMEOUT_SECONDS  # an optional library
    from generator.reading.counters import place, server_problem, wrong_kind

    where = place(url)
    if kind := wrong_kind(url):
        yield problem("rate limit", f"{where} is {kind}", "name a single Redis or Valkey server by --rate-limit-url")
        return
    started = time.perf_counter()
    error = server_problem(url)
    seconds = time.perf_counter() - started
    if error:
        advice = "check the server and --rate-limit-url; until then each machine counts alone"
        yield problem("rate limit", f"{where} does not answer ({error})", advice)
    elif seconds > COUNTER_TIMEOUT_SECONDS:
        message = f"{where} took {seconds * 1000:.0f} ms; a request waits {COUNTER_TIMEOUT_SECONDS * 1000:.0f} ms"
        yield warning("rate limit", message, "use a server that is closer; otherwise each machine counts alone")
    else:
        yield ok("rate limit", f"{where} answers in {seconds * 1000:.0f} ms")


def check_edge(file: Path, store: str, keys: str | None, state: str) -> Iterator[Finding]:
    """Check a configuration that `cardpress edge config` wrote, and what nginx needs for it."""
    text = file.read_text("utf-8", "replace")
    options = written_options(text)
    if options is None:
        yield problem("edge", f"{file} was not written by `cardpress edge config`", "write it with this command")
        return
    files = ReadFiles.of(store, keys, state, options.socket)
    shim = {"store": store, "keys": keys, "state": state}
    yield _check_current(file, text, files, options, _command(shim, options))
    yield _check_acceptance(file, text, options)
    yield _check_permissions(files, options)
    yield _check_socket(options.socket)


def _check_current(file: Path, text: str, files: ReadFiles, options: NginxOptions, command: str) -> Finding:
    expected = configuration(files, options)
    lines = enumerate(zip_longest(text.splitlines(), expected.splitlines()), 1)
    different = next((number for number, (have, want) in lines if have != want), None)
    if different is None:
        return ok("edge", f"{file} is current")
    message = f"{file} is not what this version writes for this shim, from line {different}"
    return problem("edge", message, f"`{command} > {shlex.quote(str(file))}`, then reload nginx")


def _command(shim: dict[str, str | None], options: NginxOptions) -> str:
    values = shim | {"socket": options.socket, "listen": options.listen, "folder": options.folder}
    values |= {"cache-size": options.cache_size, "workers": options.workers}
    values |= {"log": options.log or "off", "metrics-listen": options.metrics_listen}
    words = [word for name, value in values.items() if value for word in (f"--{name}", str(value))]
    return shlex.join(["cardpress", "edge", "config", *words])


def _check_acceptance(file: Path, text: str, options: NginxOptions) -> Finding:
    """Let nginx test the configuration, with a folder and a log of its own so that nothing real is created."""
    nginx = shutil.which("nginx", path=_NGINX_PATHS)
    if nginx is None:
        return warning("edge", "nginx is not installed here", "run this check on the machine that runs nginx")
    with TemporaryDirectory(prefix="cardpress-doctor-") as folder:
        trial = Path(folder) / "nginx.conf"
        elsewhere = text.replace(in_quotes(options.log), f"{folder}/log") if options.log else text
        trial.write_text(elsewhere.replace(in_quotes(options.folder), folder), "utf-8")
        command = [nginx, "-t", "-q", "-e", "stderr", "-c", str(trial)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_NGINX_SECONDS)
        errors = done.stderr.replace(str(trial), str(file)).replace(folder, str(options.folder))
    if done.returncode:
        found = _ERROR.search(errors)
        advice = "install the Debian packages that the file names, or write the file again"
        return problem("edge", f"nginx refuses it: {found[1] if found else f'exit status {done.returncode}'}", advice)
    return ok("edge", "nginx accepts it")


def _check_permissions(files: ReadFiles, options: NginxOptions) -> Finding:
    shim = "start the shim, which writes it"
    needed = [
        (options.folder, "-w", "create it, as the user of the shim"),
        (files.live, "-r", shim),
        (files.keys, "-r", shim),
    ]
    if options.log:
        place = options.log if os.access(options.log, os.F_OK) else options.log.parent
        needed.append((place, "-w", "create it, or name another --log"))
    if os.access(files.counter, os.F_OK):  # the first request creates it
        needed.append((files.counter, "-w", ""))
    for path, permission, advice in needed:
        if not os.access(path, os.F_OK):
            return problem("edge", f"{path} does not exist", advice)
        if not _may(path, permission, options.user):
            return problem("edge", f"the user of nginx may not use {path}", "run nginx as the user of the shim")
    return ok("edge", "nginx may use its folder, its log, the live build, the keys and the counter")


def _may(path: Path, permission: str, user: str | None) -> bool:
    """Return whether a user may use a file. Only root can ask for another user; others ask for themselves."""
    test = ["test", permission, str(path)]
    if user is None or os.geteuid() != 0:
        return subprocess.run(test).returncode == 0
    entry = pwd.getpwnam(user)
    groups = os.getgrouplist(user, entry.pw_gid)
    return subprocess.run(test, user=entry.pw_uid, group=entry.pw_gid, extra_groups=groups).returncode == 0


def _check_socket(path: Path) -> Finding:
    advice = f"start `cardpress serve --socket {shlex.quote(str(path))}`"
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_CONNECT_SECONDS)
            connection.connect(str(path))
    except OSError as error:
        return problem("edge", f"no shim listens on {path} ({error.strerror or error})", advice)
    return ok("edge", f"a shim listens on {path}")
