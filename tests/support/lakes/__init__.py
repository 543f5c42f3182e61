"""Lakes to test with: plain rows, a writer of Parquet, one fixed lake, and drawn ones."""

from tests.support.lakes.fixed import FIXED
from tests.support.lakes.rows import Rows
from tests.support.lakes.strategies import lakes
from tests.support.lakes.writer import write

__all__ = ["FIXED", "Rows", "lakes", "write"]
