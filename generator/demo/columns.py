"""Arrow columns for whole tables: texts from a vocabulary, URL words, timestamps."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo.draw import Flags, Integers

FIRST_DAY = date(2025, 11, 15)  # 90 days reach into February, so there are closed months and a closed year
SECONDS_A_DAY = 86_400
_FIRST_SECOND = int(datetime.combine(FIRST_DAY, datetime.min.time(), UTC).timestamp())


def date_of(day: int) -> date:
    """Return the date of a day's number in a lake that was not moved. Day 0 is the first."""
    return FIRST_DAY + timedelta(days=day)


def timestamps(
    day: int | Integers, seconds: Integers, milliseconds: Integers | int = 0, mask: Flags | None = None
) -> pa.Array:
    """Return timestamps (UTC, without a zone) from seconds since midnight. They are null where `mask` is true."""
    micros = (_FIRST_SECOND + day * SECONDS_A_DAY + seconds) * 1_000_000 + milliseconds * 1000
    return pa.array(micros, pa.int64(), mask=mask).cast(pa.timestamp("us"))


def moved(table: pa.Table, days: int) -> pa.Table:
    """Return a table whose times are so many days later."""
    later = pa.scalar(timedelta(days=days), pa.duration("us"))
    for place, field in enumerate(table.schema):
        if days and pa.types.is_timestamp(field.type):
            table = table.set_column(place, field, pc.add(table[place], later).cast(field.type))
    return table


def choose(texts: list[str], places: Integers, mask: Flags | None = None) -> pa.Array:
    """Return the texts at these places. They are null where `mask` is true."""
    return pa.array(texts, pa.string()).take(pa.array(places, mask=mask))


def join(*parts: pa.Array | str) -> pa.Array:
    """Concatenate the parts of each row. A row is null if one of its parts is."""
    return pc.binary_join_element_wise(*parts, "")


def url_words(names: pa.Array) -> pa.Array:
    """Return names as in a marketplace's URLs: `Dr. Völk's Old Rope` becomes `Dr-Volks-Old-Rope`.

    Accents, brackets and punctuation are removed, spaces become hyphens. An empty result becomes `Unnamed`.
    """
    text = pc.fill_null(names, "")
    text = pc.replace_substring_regex(text, r" *\[.*\]$", "")
    text = pc.utf8_normalize(text, "NFKD")
    text = pc.replace_substring_regex(text, "[^0-9A-Za-z -]", "")
    text = pc.replace_substring_regex(pc.ascii_trim_whitespace(text), " +", "-")
    return pc.if_else(pc.equal(text, ""), "Unnamed", text)


def null_unless(mask: Flags | pa.Array, column: pa.Array) -> pa.Array:
    """Return a text column with null where `mask` is false."""
    mask = pa.array(mask) if isinstance(mask, np.ndarray) else mask
    return pc.if_else(mask, column, pa.scalar(None, pa.string()))
