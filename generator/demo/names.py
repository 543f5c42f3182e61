"""Names of the made-up products and collector numbers of the cards, as whole columns."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo.columns import choose, join
from generator.demo.draw import Flags, Integers, Words, below, by_weight, chance, field, mix
from generator.demo.words import CREATURES, ITEMS, MARKS, MOVES, ODD_NAMES, PEOPLE, SEALED

_ODD_EVERY, _ODD_AT = 29, 7
_FORM_WEIGHTS = [30, 40, 8, 12, 10]
_STYLE_WEIGHTS = [40, 30, 10, 8, 12]


def single_names(words: Words) -> pa.Array:
    """Make names such as `Embergrin δ [Cinder Dash | Warm Up]`, `Old Rope`, `Marla's Night Ferry`.

    Some creatures are much more frequent than others and each has few attacks, so many products share a name.
    """
    uniform = field(words, 0, 16)
    creature = (uniform * uniform * len(CREATURES)) >> 32
    attacks = mix((creature * 4 + below(words, 16, 4)).astype(np.uint64))
    base, first, second = (
        choose(CREATURES, creature),
        choose(MOVES, below(attacks, 0, len(MOVES))),
        choose(MOVES, below(attacks, 16, len(MOVES))),
    )
    item = choose(ITEMS, below(words, 32, len(ITEMS)))
    forms = (
        join(base, " [", first, "]"),
        join(base, " [", first, " | ", second, "]"),
        join(base, choose(MARKS, below(attacks, 32, len(MARKS))), " [", first, " | ", second, "]"),
        item,
        join(choose(PEOPLE, below(attacks, 48, len(PEOPLE))), " ", item),
    )
    return _with_odd_names(pc.choose(pa.array(by_weight(_FORM_WEIGHTS, words, 48)), *forms))


def has_odd_name(count: int) -> Flags:
    """Return which of `count` products have one of the odd names. They must be singles."""
    flags: Flags = np.arange(count) % _ODD_EVERY == _ODD_AT
    return flags


def _with_odd_names(names: pa.Array) -> pa.Array:
    turn = np.arange(len(names), dtype=np.int64) // _ODD_EVERY % len(ODD_NAMES)
    return pc.if_else(pa.array(has_odd_name(len(names))), choose(ODD_NAMES, turn), names)


def sealed_names(words: Words, sets: pa.Array, wares: Integers) -> pa.Array:
    """Make names such as `Ember Court: Mosshare Tin`. Some have two spaces, some end with one."""
    plain = join(sets, " ", choose(SEALED, wares))
    creature = choose(CREATURES, below(words, 0, len(CREATURES)))
    starring = join(sets, ": ", creature, choose([" ", "  "], below(words, 48, 2)), choose(SEALED, wares))
    forms = (plain, starring, join(plain, " "))
    return pc.choose(pa.array(by_weight([6, 3, 1], words, 16)), *forms)


def numbers(words: Words, position: Integers, codes: pa.Array, style_of_set: Words) -> pa.Array:
    """Make collector numbers in the style of each card's expansion: `4`, `004`, `TG12`, `ABC001`, `BS 4`.

    A few are odd (`4a`, `!`), and some cards have none.
    """
    order = pa.array(position + 1)
    plain = pc.cast(order, pa.string())
    padded = pc.utf8_lpad(plain, 3, "0")
    two = pc.utf8_lpad(plain, 2, "0")
    styles = pc.choose(
        pa.array(by_weight(_STYLE_WEIGHTS, style_of_set, 0)),
        plain,
        padded,
        join(codes, padded),
        join(pc.utf8_slice_codeunits(codes, 0, 2), " ", plain),
        join("TG", two),
    )
    rare = ["!", "?", "A", "Z", "ONE", "000", "0", "½", "R/1", "Ⅳ"]
    odd = pc.choose(
        pa.array(by_weight([5, 2, 2], words, 16)),
        join(plain, choose(["a", "b", "A"], below(words, 32, 3))),
        join("TG", plain),
        choose(rare, below(words, 32, len(rare))),
    )
    numbered = pc.if_else(pa.array(chance(words, 0, 0.04)), odd, styles)
    return pc.if_else(pa.array(chance(words, 48, 0.08)), pa.scalar(None, pa.string()), numbered)
