"""What every peer is: data made ready once, a command that serves it, and how our targets are asked of it."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Data:
    """What peers are made of.

    Attributes:
        folder: Parquet files of `crawl`, and a place for the peers' databases.
        store, key: of the product.
        state: a folder for the state of one server, empty at its start.
    """

    folder: Path
    store: Path
    key: str
    state: Path


class Peer:
    """A server to measure. A subclass says in `offers` which groups of cases it takes part in."""

    name = ""
    offers: frozenset[str] = frozenset()
    ready = "/api/v1/cards"
    encodings: tuple[str, ...] = ("identity",)

    def __init__(self, data: Data):
        self.data = data

    def lacks(self) -> str | None:
        """What must be installed first, or None."""
        return None

    def prepare(self) -> None:
        """Make its data, unless it is there."""

    def command(self, port: int) -> list[str]:
        """The command line that serves on a port of 127.0.0.1."""
        raise NotImplementedError

    def target(self, target: str) -> str:
        """How this peer is asked for what our API's target asks for."""
        return target

    def answer(self, body: bytes) -> dict | list[int]:
        """What an answer says, to compare peers by: the ids of a list in their order, or a whole detail."""
        said = json.loads(body)
        return [card["id_product"] for card in said["data"]] if "data" in said else said

    def files(self) -> Path:
        """The folder that holds its data, for dropping it from the page cache."""
        return self.data.folder

    def headers(self) -> dict[str, str]:
        """Headers that every request needs."""
        return {}


def wsgi(module: str, port: int, *arguments: object) -> list[str]:
    """The command of an application that runs on granian."""
    return [sys.executable, "-m", "bench.peers.wsgi", module, str(port), *map(str, arguments)]
