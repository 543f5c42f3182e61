"""How well names match the words of a search, for sort=match."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce

import numpy as np

from generator.storage.catalogue import Catalogue
from generator.storage.vocabulary import Lists


class JudgedByName:
    """The matches of which each word that counts for them begins a word of their name.

    A part of `find` counts for a product if its name holds a word of it. So matches have different texts to compare
    with their names, one for each set of parts.

    Attributes:
        mask: Which products these are: bool, by ordinal. Those that `best_first` has found are taken out.
        texts, group: The different texts, and by ordinal the place of a product's own one, if there are several.
    """

    def __init__(self, catalogue: Catalogue, best: tuple[tuple[str, ...], ...], mask: np.ndarray):
        self._catalogue, self._best = catalogue, best
        self._parts = list(dict.fromkeys(best))
        self._holding = [_joined(np.ndarray.__ior__, catalogue.vocabulary.mask, part) for part in self._parts]
        self.mask = mask & self._all_parts(catalogue.vocabulary.start_mask)
        self.mask &= reduce(np.logical_or, self._holding)
        self.texts, self.group = [_text(self._best)], np.zeros(0, np.uint32)
        if len(self._parts) > 1:
            self._divide()

    def _all_parts(self, mask_of_word: Callable[[str], np.ndarray]) -> np.ndarray:
        """Return the products of which all parts that count for them have words with the mask: bool, by ordinal."""
        found = np.ones(len(self._catalogue.ids), bool)
        for part, holding in zip(self._parts, self._holding, strict=True):
            found &= holding == _joined(np.ndarray.__iand__, mask_of_word, part)
        return found

    def _divide(self) -> None:
        products = np.flatnonzero(self.mask)
        groups, counting = np.zeros(len(products), np.intp), [frozenset[tuple[str, ...]]()]
        for part, holding in zip(self._parts, self._holding, strict=True):
            halves = 2 * groups + holding.take(products)
            present = np.flatnonzero(np.bincount(halves))
            number = np.zeros(2 * len(counting), np.intp)
            number[present] = np.arange(len(present))
            groups = number.take(halves)
            counting = [counting[half // 2] | ({part} if half % 2 else set()) for half in present.tolist()]
        self.texts = [_text(part for part in self._best if part in parts) for parts in counting]
        self.group = np.zeros(len(self.mask), np.uint32)
        self.group[products] = groups

    def best_first(self) -> Iterator[np.ndarray]:
        """Yield those whose name equals their text, begins with it, holds it, goes on after it, and take them out."""
        names = self._catalogue.names
        equal, begin, go_on = zip(*map(names.like, self.texts), strict=True) if self.texts else ((), (), ())
        yield np.concatenate([self._take(names.whole, equal), self._take(names.base, equal)])
        yield self._take(names.whole, begin)
        yield self._take_holding()
        yield self._take(names.whole, go_on)

    def _take(self, lists: Lists, rows: Sequence[range]) -> np.ndarray:
        """Take out those of the lists in the rows of their text."""
        taken = [np.zeros(0, np.uint32)]
        for group, of_text in enumerate(rows):
            products = lists.between(of_text)
            products = products.compress(self.mask.take(products))
            if len(rows) > 1:
                products = products.compress(self.group.take(products) == group)
            taken.append(products)
            self.mask[products] = False
        return np.concatenate(taken)

    def _take_holding(self) -> np.ndarray:
        """Take out those in whose names the words of their text stand side by side."""
        products = np.flatnonzero(self.mask & self._all_parts(self._catalogue.vocabulary.word_mask))
        if any(" " in text for text in self.texts):
            names, several = self._catalogue.names, len(self.texts)
            groups = self.group.take(products) if several > 1 else 0
            pairs = self._catalogue.full_name.take(products).astype(np.int64) * several + groups
            different, places = np.unique(pairs, return_inverse=True)
            held = (
                f" {self.texts[group]} " in f" {names.text(row)} "
                for row, group in (divmod(pair, several) for pair in different.tolist())
            )
            products = products.compress(np.fromiter(held, bool, len(different)).take(places))
        self.mask[products] = False
        return products


def _joined(
    join: Callable[[np.ndarray, np.ndarray], np.ndarray],
    mask_of_word: Callable[[str], np.ndarray],
    words: Sequence[str],
) -> np.ndarray:
    """Return the masks of some words joined into one."""
    return reduce(join, map(mask_of_word, dict.fromkeys(words)))


def _text(parts: Iterable[tuple[str, ...]]) -> str:
    return " ".join(word for part in parts for word in part)
