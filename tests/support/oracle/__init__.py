"""A second, slow reading of the specification: what the API must answer for a lake, by brute force.

It shares no code with the product: plain lists and dictionaries, own folding, own rounding. Only the
Parquet reader is borrowed. Imports run one way: text, rounding, clock -> lake -> cards, sets, watchlist,
status -> params -> oracle; compare stands alone.
"""

from tests.support.oracle.compare import differences
from tests.support.oracle.oracle import Oracle

__all__ = ["Oracle", "differences"]
