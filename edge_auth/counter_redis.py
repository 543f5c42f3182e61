"""The rate limit's counter over machines: Redis or Valkey, asked once per request.

Counting and answering is one script, so it is exact however many shims ask. A server that fails or hangs costs one
request a second of this process its timeout; until it answers again everything is counted on this machine.
"""

from collections.abc import Callable
from threading import Lock
from time import monotonic

import redis
from redis.backoff import NoBackoff
from redis.connection import parse_url
from redis.exceptions import NoScriptError
from redis.retry import Retry

from edge_auth.metrics import Metrics
from edge_auth.ratelimit import WINDOW_SECONDS, Counter, Usage, usage, window_of

TIMEOUT_SECONDS = 0.05
PAUSE_SECONDS = 1.0
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
    """

    def __init__(
        self,
        url: str,
        prefix: str,
        fallback: Counter,
        log: Callable[[str], None],
        metrics: Metrics,
        clock: Callable[[], float] = monotonic,
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
        self._clock = clock
        self._failing = False
        self._next_try = 0.0
        self._lock = Lock()

    def hit(self, name: str, limit: int, now: float) -> Usage:
        """Count a request unless it is over the limit."""
        if self._to_be_asked():
            window = window_of(now)
            try:
                used, allowed = self._count(f"{self._prefix}:{window}:{name}", limit)
            except (redis.RedisError, OSError) as error:
                self._failed(error)
            else:
                self._answered()
                return usage(limit, used, window, bool(allowed))
        self._metrics.fallback()
        return self._fallback.hit(name, limit, now)

    def _count(self, key: str, limit: int) -> list[int]:
        try:
            return self._server.evalsha(self._script.sha, 1, key, limit, _KEPT_SECONDS)
        except NoScriptError:  # a new server, or one that was restarted
            return self._server.eval(_COUNT, 1, key, limit, _KEPT_SECONDS)

    def _to_be_asked(self) -> bool:
        """Whether a request may ask the server: each while it answers, else one in a second."""
        if not self._failing:
            return True
        with self._lock:
            if self._clock() < self._next_try:
                return False
            self._next_try = self._clock() + PAUSE_SECONDS
            return True

    def _failed(self, error: Exception) -> None:
        with self._lock:
            told, self._failing = self._failing, True
            self._next_try = self._clock() + PAUSE_SECONDS
        if not told:
            self._log(f"the shared rate limit counter fails, counting on this machine alone: {error}")

    def _answered(self) -> None:
        if self._failing:
            with self._lock:
                told, self._failing = not self._failing, False
            if not told:
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
        parse_url(url)
    except ValueError as error:
        raise ValueError(f"not a URL such as redis://host:6379/0, rediss://… or unix:///path: {error}") from None
    return url
