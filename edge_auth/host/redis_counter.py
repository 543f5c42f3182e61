"""The rate limit's counter over machines: Redis or Valkey, asked once per request.

Counting and answering is one script, so it is exact however many shims ask. A server that fails or hangs costs the
requests that are just asking it a short timeout; the others are counted on this machine, from where the server's count
was when it was last heard, until a thread that looks every second finds that it counts again.
"""

from collections.abc import Callable
from threading import Event, Lock, Thread
from time import monotonic, sleep

import redis
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError
from redis.retry import Retry

from edge_auth.core.rate_limit import WINDOW_SECONDS, Counter, Usage, usage, window_of
from edge_auth.host.metrics import Metrics

TIMEOUT_SECONDS = 0.05
PAUSE_SECONDS = 1.0
PATIENCE_SECONDS = 3.0
_NO_LIMIT = 1 << 40
_MOST_TOLD = 10_000
# Longer than a window, for shims whose clocks differ and for a clock that is set back a little.
_KEPT_SECONDS = 3 * WINDOW_SECONDS

# KEYS: the count of a name in a window. ARGV: the limit, seconds to keep the count. A refused request changes nothing.
_COUNT = """
local used = tonumber(redis.call('GET', KEYS[1]) or 0)
if used >= tonumber(ARGV[1]) then
    return {used, 0}
end
used = redis.call('INCR', KEYS[1])
if used == 1 then
    redis.call('EXPIRE', KEYS[1], ARGV[2])
end
return {used, 1}
"""


class RedisCounter:
    """The counter of one process. To be made in the process that uses it.

    Args:
        prefix: what the names of this store's counts begin with.
        fallback: counts while the server does not.
        pause: waits between two looks at a server that failed.
    """

    def __init__(
        self,
        url: str,
        prefix: str,
        fallback: Counter,
        log: Callable[[str], None],
        metrics: Metrics,
        pause: Callable[[], object] = lambda: sleep(PAUSE_SECONDS),
    ):
        self._server = redis.Redis.from_url(
            plain_url(url),
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
            protocol=2,  # each of these saves a round trip of a new connection
            driver_info=None,
        )
        self._script = self._server.register_script(_COUNT)
        self._prefix = prefix
        self._fallback = fallback
        self._log = log
        self._metrics = metrics
        self._pause = pause
        self._failing = False
        self._last_failure = -PAUSE_SECONDS
        self._looked = Event()
        self._lock = Lock()
        self._told: dict[str, tuple[int, int]] = {}
        if (error := self._look()) is not None:
            self._failed(error)

    def hit(self, name: str, limit: int, now: float) -> Usage:
        """Count a request unless it is over the limit."""
        window = window_of(now)
        latest, used = self._told.get(name, (window, 0))
        used = used if latest == window else 0
        if used >= limit:  # a count only grows, so there is nothing to ask
            return usage(limit, used, window, False)
        if self._failing:
            self._looked.wait(TIMEOUT_SECONDS)  # at most once: the server may just have been slow for a moment
        if not self._failing:
            try:
                used, allowed = self._count(f"{self._prefix}:{window}:{name}", limit)
                self._remember(name, window, used)
                return usage(limit, used, window, bool(allowed))
            except Exception as error:  # whatever it is: an answer is worth more than an exact count
                self._failed(error)
        self._metrics.fallback()
        return self._fallback.hit(name, limit - used, now)._replace(limit=limit)

    def _remember(self, name: str, window: int, used: int) -> None:
        if len(self._told) > _MOST_TOLD:
            self._told.clear()
        self._told[name] = (window, used)

    def _count(self, key: str, limit: int) -> list[int]:
        try:
            return self._server.evalsha(self._script.sha, 1, key, limit, _KEPT_SECONDS)
        except NoScriptError:  # a new server, or one that was restarted
            return self._server.eval(_COUNT, 1, key, limit, _KEPT_SECONDS)

    def _look(self) -> Exception | None:
        """Why the server does not count, if so: some that answer do not, such as a replica that may only be read."""
        try:
            self._count(f"{self._prefix}:look", _NO_LIMIT)
        except Exception as error:
            return error
        return None

    def _failed(self, error: Exception) -> None:
        with self._lock:
            if self._failing:
                return
            # Once a second it may have been slow for a moment; a server that always is must not cost every request.
            again = monotonic() < self._last_failure + PAUSE_SECONDS
            self._last_failure = monotonic()
            self._failing = True
            self._looked.clear()
        Thread(target=self._until_it_counts, args=(error if again else None,), daemon=True, name="counter").start()

    def _until_it_counts(self, error: Exception | None) -> None:
        """Look every second, and unless there is an `error` already at once."""
        error = error or self._look()
        if error is not None:
            self._looked.set()
            self._log(f"the shared rate limit counter fails, counting on this machine alone: {error}")
            self._pause()
            while self._look() is not None:
                self._pause()
            self._log("the shared rate limit counter answers again")
        self._failing = False
        self._looked.set()


def reach(url: str) -> str | None:
    """Why a server does not count, or None where it does; with more patience than a request has."""
    try:
        server = redis.Redis.from_url(
            plain_url(url),
            socket_timeout=PATIENCE_SECONDS,
            socket_connect_timeout=PATIENCE_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        with server:
            server.eval(_COUNT, 1, "cardpress:look", _NO_LIMIT, 1)
    except (redis.RedisError, OSError, ValueError) as error:
        return str(error)
    return None


def plain_url(url: str) -> str:
    """The URL as redis-py wants it: Valkey's own schemes are Redis's.

    Raises:
        ValueError: the text is no such URL; the message does not repeat it, for it may hold a password.
    """
    for scheme in ("valkey", "valkeys"):
        if url.startswith(f"{scheme}://"):
            url = url.replace("valkey", "redis", 1)
    try:
        redis.ConnectionPool.from_url(url).make_connection()  # which does not connect yet
    except (ValueError, TypeError, redis.RedisError) as error:
        raise ValueError(f"not a URL such as redis://host:6379/0, rediss://… or unix:///path: {error}") from None
    return url
