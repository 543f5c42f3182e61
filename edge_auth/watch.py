"""Looking at something of the store again and again, so that no request waits for it while it is slow."""

from collections.abc import Callable
from threading import Condition, Event, Thread
from time import monotonic
from weakref import WeakMethod

POLL = 1.5


class Watch:
    """A thread that calls `look` every `poll` seconds, and sooner when asked to.

    Args:
        look: a method that does not raise; the thread ends when its object is gone.
    """

    def __init__(self, look: Callable[[], None], poll: float = POLL):
        self._look = WeakMethod(look)
        self._poll = poll
        self._wanted = Event()
        self._ended = Condition()
        self._began = -1.0
        Thread(target=self._run, daemon=True, name="watch").start()

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for a look that has not begun yet."""
        return self._wanted.is_set()

    def now(self, seconds: float) -> bool:
        """Have it looked at anew; whether a look that began after this call ended within so many seconds."""
        asked = monotonic()
        self._wanted.set()
        with self._ended:
            return self._ended.wait_for(lambda: self._began >= asked, seconds)

    def _run(self) -> None:
        while True:
            self._wanted.clear()
            began = monotonic()
            look = self._look()
            if look is None:
                return
            look()
            del look
            with self._ended:
                self._began = began
                self._ended.notify_all()
            self._wanted.wait(self._poll)
