"""The base class of all servers in the benchmark: its data, its command line, and its form of our request targets."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Answer = dict[str, Any] | list[int]


@dataclass(frozen=True)
class Data:
    """The data of the peers.

    Attributes:
        folder: Holds the Parquet files of `crawl` and the peers' databases.
        store, key: The product's store and an API key.
        state: A folder for the state of one server, empty at its start.
    """

    folder: Path
    store: Path
    key: str
    state: Path


class Peer:
    """A server to measure. `offers` names the groups of cases in which it takes part."""

    name = ""
    offers: frozenset[str] = frozenset()
    ready = "/api/v1/cards"
    encodings: tuple[str, ...] = ("identity",)

    def __init__(self, data: Data):
        self.data = data

    def lacks(self) -> str | None:
        """Return the command that installs a missing program, or None."""
        return None

    def prepare(self) -> None:
        """Write its data if it is not cached."""

    def command(self, port: int) -> list[str]:
        """Return the command line that serves on a port of 127.0.0.1."""
        raise NotImplementedError

    def target(self, target: str) -> str:
        """Return this peer's form of a target of our API."""
        return target

    def answer(self, body: bytes) -> Answer:
        """Return the comparable content of a body: the ids of a list in their order, or a whole detail."""
        document: dict[str, Any] = json.loads(body)
        return [card["id_product"] for card in document["data"]] if "data" in document else document

    def files(self) -> Path:
        """Return the folder of its data, which can be dropped from the page cache."""
        return self.data.folder

    def headers(self) -> dict[str, str]:
        """Return the headers that every request needs."""
        return {}


def wsgi(module: str, port: int, *arguments: object) -> list[str]:
    """Return the command line of an application that runs on granian."""
    return [sys.executable, "-m", "bench.peers.wsgi", module, str(port), *map(str, arguments)]
