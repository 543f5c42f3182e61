"""The table `identifiers`: ids that other catalogues have for the products.

Some products have no id of a catalogue, some have two, and products of one card share an id.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo.draw import Integers, Words, below, chance, draw, join
from generator.demo.products import DemoCatalogue

_TCGPLAYER_SHARE, _SECOND_SHARE = 0.92, 0.05
_FIRST_ID, _FIRST_SECOND_ID = 400_000, 9_000_000


def make_identifiers(seed: int, catalogue: DemoCatalogue) -> pa.Table:
    """Make the table. One row names a product that the catalogue does not have."""
    words = draw(seed, "identifiers", catalogue.known)
    unknown = _rows("tcgplayer", pa.array(catalogue.ids[-1:]), pa.array([str(_FIRST_ID)]))
    return pa.concat_tables([_tcgdex(catalogue), *_tcgplayer(words, catalogue.ids[: catalogue.known]), unknown])


def _tcgdex(catalogue: DemoCatalogue) -> pa.Table:
    """Return ids made of the code of the set and the number of the card."""
    unknown = pa.nulls(2, pa.string())  # an unknown set, and none
    codes = pa.concat_arrays([catalogue.expansions.codes, unknown]).take(
        pa.array(catalogue.expansion[: catalogue.known])
    )
    number = pc.replace_substring_regex(catalogue.table["number"].combine_chunks(), "[^0-9A-Za-z]", "")
    return _rows("tcgdex", catalogue.table["id_product"].combine_chunks(), pc.ascii_lower(join(codes, "-", number)))


def _tcgplayer(words: Words, ids: Integers) -> list[pa.Table]:
    """Return numbers for most products, and a second one for some of these."""
    first = _FIRST_ID + np.cumsum(1 + below(words, 0, 3))
    has_first = chance(words, 16, _TCGPLAYER_SHARE)
    has_second = has_first & chance(words, 32, _SECOND_SHARE)
    second = _FIRST_SECOND_ID + np.arange(len(ids))
    numbers = ((has_first, first), (has_second, second))
    return [_rows("tcgplayer", pa.array(ids[has]), pa.array(values[has]).cast(pa.string())) for has, values in numbers]


def _rows(scheme: str, ids: pa.Array, values: pa.Array) -> pa.Table:
    """Return a row for each product that has a value."""
    schemes = pa.array([scheme] * len(ids), pa.string())
    return pa.table({"id_product": ids, "scheme": schemes, "value": values}).filter(pc.is_valid(values))
