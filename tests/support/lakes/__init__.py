"""Lakes to test with: plain rows, a writer that makes Parquet of them, one fixed lake, and random ones."""

from tests.support.lakes.fixed import FIXED
from tests.support.lakes.rows import Rows
from tests.support.lakes.strategies import lakes
from tests.support.lakes.writer import write

__all__ = ["FIXED", "Rows", "lakes", "write"]
