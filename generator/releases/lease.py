"""A lock that a killed holder does not keep for ever: an object in the store, renewed while its holder lives.

It is taken, renewed and given back by compare-and-swap, so it works on any store, and holds as long as its `expires`
lies ahead. The machines that share a store must agree on the time within a good part of a lease.
"""

import json
import os
import secrets
import socket
import threading
from contextlib import suppress
from datetime import timedelta
from typing import Any

from edge_auth.contract.store.interface import Store
from edge_auth.errors import Conflict, EdgeError
from generator.clock import Clock, moment, timestamp
from generator.errors import BusyError

_BEATS = 4  # renewals in the life of a lease


class Lease:
    """The lock `name`; use as a context manager.

    Args:
        what: what its holder does, for the message to others, such as `nightly`.
        run: who we are.
        seconds: how long the lock outlives its last renewal.

    Raises:
        BusyError: somebody else holds it.
    """

    def __init__(self, store: Store, name: str, *, what: str, run: str, clock: Clock, seconds: float):
        self.store, self.name, self.what, self.clock, self.seconds = store, name, what, clock, seconds
        self._fields: dict[str, Any] = {
            "run": run,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "since": timestamp(clock()),
        }
        self._facts: dict[str, Any] = {}
        self._etag: str | None = None
        self._until = clock()
        self._lost = False
        self._turn = threading.Lock()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"lease {name}", daemon=True)

    def __enter__(self) -> "Lease":
        found = self.store.get_versioned(self.name)
        holder = read_holder(found.data) if found else None
        if holder and moment(holder["expires"]) > self.clock():
            raise BusyError(self._busy(holder))
        self._etag = found.etag if found else None
        try:
            self._write(self.seconds)
        except Conflict as error:
            raise BusyError(f"another {self.what} began at this moment: nothing was done") from error
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        with self._turn:
            if not self._lost:
                self._give_back()

    def note(self, **facts: Any) -> None:
        """Write facts into the lock, for others to read. Raises BusyError where it is no longer ours."""
        with self._turn:
            self._facts = facts
            self._renew()
        self.check()

    def check(self) -> None:
        """Make sure that the lock is ours. Raises BusyError where it is not, or not for certain."""
        if self._lost or self.clock() >= self._until:
            raise BusyError(f"this {self.what} lost its lock {self.name}: it stops before it changes anything else")

    def _beat(self) -> None:
        while not self._done.wait(self.seconds / _BEATS):
            with self._turn:
                self._renew()

    def _renew(self) -> None:
        try:
            self._write(self.seconds)
        except Conflict:
            self._lost = True
        except EdgeError:
            pass  # the store may come back before the lease ends; `check` looks at the time

    def _give_back(self) -> None:
        with suppress(EdgeError):  # it expires by itself
            self._write(0)

    def _write(self, seconds: float) -> None:
        """Put the lock as ours until `seconds` from now. Raises Conflict where somebody else wrote it."""
        until = moment(timestamp(self.clock() + timedelta(seconds=seconds)))  # as others read it, to the second
        fields = self._fields | {"expires": timestamp(until), "nonce": secrets.token_hex(8), "facts": self._facts}
        ours = json.dumps(fields, indent=1).encode() + b"\n"
        try:
            self.store.swap(self.name, ours, self._etag)
        except EdgeError:
            found = self.store.get_versioned(self.name)
            if found is None or found.data != ours:  # else only the answer was lost
                raise
        found = self.store.get_versioned(self.name)
        if found is None or found.data != ours:
            raise Conflict(f"{self.name} in {self.store.location} was taken over")
        self._etag, self._until = found.etag, until

    def _busy(self, holder: dict[str, Any]) -> str:
        return (
            f"another {self.what} is at work: run {holder['run']} on {holder['host']} (process {holder['pid']}) since "
            f"{holder['since']}; if it was killed, its lock ends at {holder['expires']}"
        )


def read_holder(data: bytes) -> dict[str, Any] | None:
    """What a lock says, or None where it says nothing that can be read: then nobody holds it."""
    try:
        fields = json.loads(data)
        moment(fields["expires"])
        return fields if {"run", "host", "pid", "since", "facts"} <= fields.keys() else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def held(store: Store, name: str, clock: Clock) -> dict[str, Any] | None:
    """Who holds a lock now, or None."""
    found = store.get_versioned(name)
    holder = read_holder(found.data) if found else None
    return holder if holder and moment(holder["expires"]) > clock() else None
