"""The rate limit counter of several machines: a Redis or Valkey server, with one call per request.

One script counts and answers, so the count is exact with any number of shims. If the server fails or hangs, the
requests that are waiting for it lose a short timeout. Later requests are counted on this machine, until a thread that
tries the server at once, and then every second, finds that it counts again.

Each request also counts on this machine. So a client over its limit costs no call, and if the server fails or loses its
counts, the machine keeps to the limit by its own.
"""

from collections.abc import Callable
from threading import Lock, Thread
from time import sleep
from typing import cast

from edge_auth.errors import EdgeError
from edge_auth.live.counter import WINDOW_SECONDS, Counter, Usage

try:
    import redis as redis  # `generator.reading.counters` catches its errors
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ImportError as missing:
    message = "--rate-limit-url needs the library redis, which is not installed: pip install 'redis[hiredis]>=8.0'"
    raise EdgeError(message) from missing

COUNTER_TIMEOUT_SECONDS = 0.05
_PAUSE_SECONDS = 1.0
NO_LIMIT = 1 << 40
# Longer than a window, since the clocks of shims differ and may be set back a little.
_COUNT_LIFETIME_SECONDS = 3 * WINDOW_SECONDS

# KEYS: the count of a name in a window. ARGV: the limit, the lifetime of the count in seconds.
COUNT_SCRIPT = """
local used = tonumber(redis.call('GET', KEYS[1]) or 0)
if used >= tonumber(ARGV[1]) then
    return {used, 0}
end
redis.call('SET', KEYS[1], used + 1, 'EX', ARGV[2])
return {used + 1, 1}
"""


class RedisCounter:
    """The counter of one process. Create it in the process that uses it."""

    def __init__(
        self,
        url: str,
        prefix: str,
        machine: Counter,
        log: Callable[[str], None],
        fell_back: Callable[[], object],
        pause: Callable[[], object] = lambda: sleep(_PAUSE_SECONDS),
    ):
        self._server = connect(url, COUNTER_TIMEOUT_SECONDS)
        self._script = self._server.register_script(COUNT_SCRIPT)
        self._prefix = prefix
        self._machine = machine
        self._log = log
        self._fell_back = fell_back
        self._pause = pause
        self._failing = False
        self._lock = Lock()
        if self._probe() is not None:
            self._start_recovery()

    def hit(self, name: str, limit: int, now: float) -> Usage:
        """Count on this machine and at the server; here alone while the server fails."""
        usage = self._machine.hit(name, limit, now)
        if not usage.allowed:  # a count only grows, so no call is needed
            return usage
        if not self._failing:
            try:
                used, allowed = self._count(f"{self._prefix}:{usage.window}:{name}", limit)
                return Usage(limit, used, usage.window, bool(allowed))
            except Exception:  # whatever the error is, an answer matters more than an exact count
                self._start_recovery()
        self._fell_back()
        return usage

    def _count(self, key: str, limit: int) -> list[int]:
        return cast("list[int]", self._script([key], [limit, _COUNT_LIFETIME_SECONDS]))

    def _probe(self) -> Exception | None:
        """Return why the server does not count, or None. A read-only replica, for example, answers but cannot count."""
        try:
            self._count(f"{self._prefix}:look", NO_LIMIT)
        except Exception as error:
            return error
        return None

    def _start_recovery(self) -> None:
        """Stop using the server, and start the thread that tries it until it counts again."""
        with self._lock:
            if not self._failing:
                self._failing = True
                Thread(target=self._recover, daemon=True, name="counter").start()

    def _recover(self) -> None:
        if (error := self._probe()) is not None:  # else it was only slow for a moment
            self._log(f"the shared rate limit counter fails, counting on this machine alone: {error}")
            while self._probe() is not None:
                self._pause()
            self._log("the shared rate limit counter answers again")
        self._failing = False


def connect(url: str, timeout_seconds: float) -> redis.Redis:
    """Return a client of a Redis or Valkey server that tries each call once. Raise ValueError for a bad URL."""
    return redis.Redis.from_url(
        plain_url(url),
        socket_timeout=timeout_seconds,
        socket_connect_timeout=timeout_seconds,
        retry=Retry(NoBackoff(), 0),
        protocol=2,  # this and the next line each save a round trip of a new connection
        driver_info=None,
    )


def plain_url(url: str) -> str:
    """Return a URL as redis-py accepts it, or raise ValueError, which does not repeat it: it may hold a password."""
    if url.startswith(("valkey://", "valkeys://")):
        url = url.replace("valkey", "redis", 1)
    try:
        redis.ConnectionPool.from_url(url).make_connection()  # this checks the URL and does not connect
    except (ValueError, TypeError, redis.RedisError) as error:
        raise ValueError(f"not a URL such as redis://host:6379/0, rediss://… or unix:///path: {error}") from None
    return url
