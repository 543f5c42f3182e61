"""Lakes to test with: plain rows, a writer that makes Parquet of them, one fixed lake, and random ones."""

from tests.lakes.fixed import FIXED
from tests.lakes.rows import Rows
from tests.lakes.strategies import lakes
from tests.lakes.writer import write

__all__ = ["FIXED", "Rows", "lakes", "write"]
