"""What the made-up cards are called, and the numbers printed on them; whole columns at a time."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo.draw import Integers, Words, below, by_weight, chance, field, mix
from generator.demo.text import joined
from generator.demo.words import CREATURES, ITEMS, MARKS, MOVES, ODD_NAMES, PEOPLE, SEALED

_ODD_EVERY, _ODD_AT = 29, 7
_FORM_WEIGHTS = [30, 40, 8, 12, 10]
_STYLE_WEIGHTS = [40, 30, 10, 8, 12]


def chosen(words: list[str], places: Integers) -> pa.Array:
    """The words at these places."""
    return pa.array(words, pa.string()).take(pa.array(places))


def single_names(words: Words) -> pa.Array:
    """Names such as `Embergrin δ [Cinder Dash | Warm Up]`, `Old Rope`, `Marla's Night Ferry`.

    Creatures are drawn unevenly and each knows few attacks, so that many products share a name.
    """
    u = field(words, 0, 16)
    creature = (u * u * len(CREATURES)) >> 32
    attacks = mix((creature * 4 + below(words, 16, 4)).astype(np.uint64))
    base, first, second = (
        chosen(CREATURES, creature),
        chosen(MOVES, below(attacks, 0, len(MOVES))),
        chosen(MOVES, below(attacks, 16, len(MOVES))),
    )
    item = chosen(ITEMS, below(words, 32, len(ITEMS)))
    forms = (
        joined(base, " [", first, "]"),
        joined(base, " [", first, " | ", second, "]"),
        joined(base, chosen(MARKS, below(attacks, 32, len(MARKS))), " [", first, " | ", second, "]"),
        item,
        joined(chosen(PEOPLE, below(attacks, 48, len(PEOPLE))), " ", item),
    )
    return _with_odd_names(pc.choose(pa.array(by_weight(_FORM_WEIGHTS, words, 48)), *forms))


def _with_odd_names(names: pa.Array) -> pa.Array:
    places = np.arange(len(names), dtype=np.int64)
    odd = chosen(ODD_NAMES, places // _ODD_EVERY % len(ODD_NAMES))
    return pc.if_else(pa.array(places % _ODD_EVERY == _ODD_AT), odd, names)


def sealed_names(words: Words, sets: pa.Array, wares: Integers) -> pa.Array:
    """Names such as `Ember Court: Mosshare Tin`; some with two spaces, some with one at the end."""
    plain = joined(sets, " ", chosen(SEALED, wares))
    creature = chosen(CREATURES, below(words, 0, len(CREATURES)))
    starring = joined(sets, ": ", creature, chosen([" ", "  "], below(words, 48, 2)), chosen(SEALED, wares))
    forms = (plain, starring, joined(plain, " "))
    return pc.choose(pa.array(by_weight([6, 3, 1], words, 16)), *forms)


def numbers(words: Words, position: Integers, codes: pa.Array, style_of_set: Words) -> pa.Array:
    """Collector numbers, in the style of each card's expansion: 4, 004, `TG12`, `ABC001`, `4a`, `BS 4`, `!`,
    none.
    """
    order = pa.array(position + 1)
    plain = pc.cast(order, pa.string())
    padded = pc.utf8_lpad(plain, 3, "0")
    two = pc.utf8_lpad(plain, 2, "0")
    styles = pc.choose(
        pa.array(by_weight(_STYLE_WEIGHTS, style_of_set, 0)),
        plain,
        padded,
        joined(codes, padded),
        joined(pc.utf8_slice_codeunits(codes, 0, 2), " ", plain),
        joined("TG", two),
    )
    rare = ["!", "?", "A", "Z", "ONE", "000", "0", "½", "R/1", "Ⅳ"]
    odd = pc.choose(
        pa.array(by_weight([5, 2, 2], words, 16)),
        joined(plain, chosen(["a", "b", "A"], below(words, 32, 3))),
        joined("TG", plain),
        chosen(rare, below(words, 32, len(rare))),
    )
    numbered = pc.if_else(pa.array(chance(words, 0, 0.04)), odd, styles)
    return pc.if_else(pa.array(chance(words, 48, 0.08)), pa.scalar(None, pa.string()), numbered)
