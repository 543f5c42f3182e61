"""The order of sort=match: names equal to `q`, names that begin with it, names in which each word of it begins a word,
and all others.
"""

from collections.abc import Iterator

import numpy as np

from edge_auth.contract.catalogue import Catalogue


def by_goodness(catalogue: Catalogue, text: str, among: np.ndarray | slice, rest: np.ndarray) -> Iterator[np.ndarray]:
    """Yield masks of products by how well their names match, the best first. Each matching product is in one of them.

    Args:
        text: The words of `q` in their order, joined by single spaces.
        among: The ordinals of the products that the masks speak of.
        rest: Which of these match. It is changed.
    """
    assert catalogue.full_name is not None
    names = catalogue.full_name[among]
    for rows in catalogue.full_names.beginning_with(text):
        if rows:
            good = names >= names.dtype.type(rows.start)
            good &= names <= names.dtype.type(rows.stop - 1)
            good &= rest
            yield good
            rest ^= good
    if not rest.any():  # a search for a whole name often finds no other
        return
    good = rest.copy()
    for word in set(text.split()):
        good &= catalogue.vocabulary.start_mask(word)[among]
    yield good
    yield rest ^ good
