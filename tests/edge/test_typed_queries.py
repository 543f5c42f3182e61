"""What a request may ask is a type: a misspelled parameter, and a field of another type than its rule's, are errors."""

import subprocess
import sys
from pathlib import Path

from tests.support.service import ROOT, environment

VIEWS = """\
from dataclasses import dataclass

from edge_auth.api.cards import CardsQuery
from edge_auth.parameters import Integer, Text, optional, parameter
from edge_auth.search.query import ProductsQuery, read_search
from generator.storage.catalogue import Catalogue


@dataclass(frozen=True)
class MineQuery(ProductsQuery):
    limit: int = parameter(Integer(1, 100), 50)


def right(catalogue: Catalogue, query: MineQuery, cards: CardsQuery) -> tuple[int, str]:
    read_search(catalogue, cards, cards.sort, cards.order)
    read_search(catalogue, query)
    return query.limit + cards.offset, query.kind


def wrong(query: CardsQuery) -> None:
    query.ofset
    query.limit = 5


@dataclass(frozen=True)
class WrongQuery:
    limit: str = parameter(Integer(1, 100), 50)
    q: str = optional(Text(100))
"""
WRONG = ("query.ofset", "query.limit = 5", "limit: str =", "q: str =")


def test_mypy_finds_misspelled_parameters_and_wrong_types(tmp_path: Path) -> None:
    (tmp_path / "views.py").write_text(VIEWS)
    strict = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir"]
    found = subprocess.run(
        [*strict, ROOT / ".mypy_cache", tmp_path / "views.py"],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    refused = dict.fromkeys(int(line.split(":")[1]) for line in found.stdout.splitlines() if "error:" in line)
    assert [VIEWS.splitlines()[number - 1].strip() for number in refused] == [
        line.strip() for line in VIEWS.splitlines() if line.strip().startswith(WRONG)
    ], found.stdout
