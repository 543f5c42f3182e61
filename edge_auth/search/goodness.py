"""The order of sort=match: names equal to `q`, names that begin with it, names in which each word of it begins a word,
and all others.
"""

from collections.abc import Iterator

import numpy as np

from edge_auth.builds.catalogue import Catalogue

_EQUAL, _BEGINS, _WORDS_BEGIN, _OTHERS = range(4)


def classes(catalogue: Catalogue, text: str, ordinals: np.ndarray) -> np.ndarray:
    """Return how well the names of some products match: uint8, 0 for the best.

    Args:
        text: The words of `q` in their order, joined by single spaces.
        ordinals: Products that match.
    """
    assert catalogue.full_name is not None
    found, names = np.full(len(ordinals), _OTHERS, np.uint8), catalogue.full_name.take(ordinals)
    found[_begin_words(catalogue, text, ordinals)] = _WORDS_BEGIN
    equal, longer = catalogue.full_names.beginning_with(text)
    for rows, class_ in ((longer, _BEGINS), (equal, _EQUAL)):
        if rows:
            found[(names >= rows.start) & (names < rows.stop)] = class_
    return found


def with_names_like(catalogue: Catalogue, text: str) -> Iterator[np.ndarray]:
    """Yield the ordinals of the products whose name is a text, then of those with longer names that begin with it."""
    for rows in catalogue.full_names.beginning_with(text):
        if rows:
            yield catalogue.with_full_names(rows)


def with_words_like(catalogue: Catalogue, text: str, among: np.ndarray) -> np.ndarray:
    """Return a mask of those matching products of a mask in whose names each word of a text begins a word."""
    found = among.copy()
    for word in set(text.split()):
        found &= catalogue.vocabulary.start_mask(word)
    return found


def _begin_words(catalogue: Catalogue, text: str, ordinals: np.ndarray) -> np.ndarray:
    found = np.ones(len(ordinals), bool)
    for word in set(text.split()):
        starts = catalogue.vocabulary.start_mask(word)
        found &= starts if isinstance(starts, bool) else starts.take(ordinals)
    return found
