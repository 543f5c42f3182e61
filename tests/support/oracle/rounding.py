"""Exact money: prices, averages and percentages with two decimals, half away from zero."""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

CENT = Decimal("0.01")
WIDE = Context(prec=400, rounding=ROUND_HALF_UP)  # 1e308 has 309 digits before the point


def price(value: float | None) -> Decimal | None:
    """A price as read from the lake: two decimals of its shortest decimal form (1.005 -> 1.01)."""
    return None if value is None else Decimal(repr(float(value))).quantize(CENT, context=WIDE)


def rounded(exact: Fraction) -> Decimal:
    cents = int(abs(exact) * 100 + Fraction(1, 2))
    return Decimal(-cents if exact < 0 else cents).scaleb(-2, context=WIDE)


def average(prices: Iterable[Decimal | None]) -> Decimal | None:
    """The rounded mean of the prices that are there; None when none is."""
    known = [Fraction(p) for p in prices if p is not None]
    return rounded(sum(known) / len(known)) if known else None


def change_pct(new: Decimal | None, old: Decimal | None) -> Decimal | None:
    """(new - old) / old x 100; None where either is missing or the old one is 0."""
    if new is None or old is None or old == 0:
        return None
    return rounded((Fraction(new) - Fraction(old)) / Fraction(old) * 100)


def number(value: Decimal | None) -> float | None:
    return None if value is None else float(value)
