"""What people may mean by words that no name has: a slip, two words in one, other words (`etb`), a set's code (`obf`).

A build holds what people say and what names say instead, from a table of the lake, and the sets to which other
catalogues give codes.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise, product

from generator.storage.catalogue import Catalogue, number_key
from generator.storage.text import as_names_say, word_text, words

_MOST_NEAR, _MOST_SLIPS = 2, 4


class Meanings:
    """The words of a catalogue, and those of people.

    Args:
        said: By what people say, what names say instead, "" for nothing.
        codes: The ids of the sets to which other catalogues give codes.
    """

    def __init__(self, catalogue: Catalogue, said: Mapping[str, str], codes: Mapping[str, int]):
        self._catalogue, self._said, self._vocabulary = catalogue, said, catalogue.vocabulary
        row_of = {id_: row for row, id_ in enumerate(catalogue.set_ids.tolist())}
        self._row_of_code = {code: row_of[id_] for code, id_ in codes.items() if id_ in row_of}
        self._numbers = catalogue.texts["number"].code_of
        self._rarities = sorted(catalogue.spellings["rarity"].values(), key=len, reverse=True)

    def is_known(self, part: str, with_sets: bool) -> bool:
        """Return whether a product has a part of a text alone: in its name, or also as its number or in its set."""
        in_names = all(self._vocabulary.holds(word, with_sets=with_sets) for word in words(part))
        return in_names or (with_sets and self._is_number(part))

    def texts(self, parts: Sequence[str], with_sets: bool) -> Iterator[tuple[str, str | None]]:
        """Yield texts that may be meant by one, as parts with words, likeliest first; with a rarity that it names."""
        each = ([part] if self._is_number(part) else words(part) for part in parts)
        said = as_names_say(list(chain.from_iterable(each)), self._said)
        for rarity in self._rarities:
            rest = f" {' '.join(said)} ".replace(f" {word_text(rarity)} ", " ").split()
            if len(rest) < len(said):
                yield " ".join(rest), rarity
        yield " ".join(said), None
        unknown = {part for part in said if not self.is_known(part, with_sets)}
        meant = {part: self._meant(part) for part in unknown} if len(unknown) <= _MOST_SLIPS else {}
        for one in islice(product(*(meant.get(part, [part]) or [""] for part in said)), _MOST_NEAR):
            yield " ".join(filter(None, one)), None
        for at, pair in enumerate(pairwise(said)):
            joined = "".join(pair)
            if self._is_number(joined) or self._vocabulary.is_word(word_text(joined)):
                yield " ".join([*said[:at], joined, *said[at + 2 :]]), None
        yield " ".join(part for part in parts if self.is_known(part, with_sets)), None

    def _is_number(self, part: str) -> bool:
        return number_key(self._numbers, part) in self._numbers

    def _meant(self, part: str) -> list[str]:
        text, code = word_text(part), self._row_of_code.get(part.lower())
        sets = self._catalogue.abbreviated_sets(text) if code is None else [self._catalogue.set_words[code]]
        return [*sets[:_MOST_NEAR], *self._vocabulary.meant(text, _MOST_NEAR)]
