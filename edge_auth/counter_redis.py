"""The rate limit's counter over machines: Redis or Valkey, asked once per request.

Counting and answering is one script, so it is exact however many shims ask. A server that fails or hangs costs the
requests that are just asking it a short timeout; the others are counted on this machine, until a thread that looks
every second finds that it answers again.
"""

from collections.abc import Callable
from threading import Lock, Thread
from time import sleep

import redis
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError
from redis.retry import Retry

from edge_auth.metrics import Metrics
from edge_auth.ratelimit import WINDOW_SECONDS, Counter, Usage, usage, window_of

TIMEOUT_SECONDS = 0.05
PAUSE_SECONDS = 1.0
_NO_LIMIT = 1 << 40
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
        self._lock = Lock()
        self._look()

    def hit(self, name: str, limit: int, now: float) -> Usage:
        """Count a request unless it is over the limit."""
        if not self._failing:
            window = window_of(now)
            try:
                used, allowed = self._count(f"{self._prefix}:{window}:{name}", limit)
                return usage(limit, used, window, bool(allowed))
            except Exception as error:  # whatever it is: an answer is worth more than an exact count
                self._failed(error)
        self._metrics.fallback()
        return self._fallback.hit(name, limit, now)

    def _count(self, key: str, limit: int) -> list[int]:
        try:
            return self._server.evalsha(self._script.sha, 1, key, limit, _KEPT_SECONDS)
        except NoScriptError:  # a new server, or one that was restarted
            return self._server.eval(_COUNT, 1, key, limit, _KEPT_SECONDS)

    def _look(self) -> bool:
        """Whether the server counts: some that answer do not, such as a replica that may only be read."""
        try:
            self._count(f"{self._prefix}:look", _NO_LIMIT)
        except Exception as error:
            self._failed(error)
            return False
        return True

    def _failed(self, error: Exception) -> None:
        with self._lock:
            if self._failing:
                return
            self._failing = True
        self._log(f"the shared rate limit counter fails, counting on this machine alone: {error}")
        Thread(target=self._until_it_counts, daemon=True, name="counter").start()

    def _until_it_counts(self) -> None:
        self._pause()
        while not self._look():
            self._pause()
        self._failing = False
        self._log("the shared rate limit counter answers again")


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
