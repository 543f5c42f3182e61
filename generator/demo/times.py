"""Days and moments of the demo lake, as numbers and as Arrow timestamps."""

from datetime import UTC, date, datetime, timedelta

import pyarrow as pa

from generator.demo import FIRST_DAY
from generator.demo.draw import Integers

SECONDS_A_DAY = 86_400
_FIRST_SECOND = int(datetime.combine(FIRST_DAY, datetime.min.time(), UTC).timestamp())


def date_of(day: int) -> date:
    """The date of a day's number; day 0 is the first."""
    return FIRST_DAY + timedelta(days=day)


def moments(day: int | Integers, seconds: Integers, milliseconds: Integers | int = 0, mask: object = None) -> pa.Array:
    """Timestamps (UTC, without a zone) so many seconds into a day; null where `mask` is true."""
    micros = (_FIRST_SECOND + day * SECONDS_A_DAY + seconds) * 1_000_000 + milliseconds * 1000
    return pa.array(micros, pa.int64(), mask=mask).cast(pa.timestamp("us"))
