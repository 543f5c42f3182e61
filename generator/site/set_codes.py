"""Which sets the codes of other catalogues mean, such as `m11`: for the page that values a list."""

from collections import Counter

from edge_auth.builds.identifiers import SET_NUMBER
from edge_auth.live.open_build import OpenBuild


def sets_of_codes(build: OpenBuild) -> dict[str, int]:
    """Return the id of the set that more than nine of ten cards of a code belong to, by code.

    Raises:
        StoreError: The build cannot be read.
    """
    values, ids = build.identifiers.all_of(SET_NUMBER)
    catalogue, sets_of = build.catalogue, dict[str, Counter[int]]()
    for value, ordinal in zip(values, catalogue.ordinals(ids), strict=True):
        sets_of.setdefault(value.partition("/")[0], Counter())[int(catalogue.set[ordinal])] += 1
    most = ((code, *sets.most_common(1)[0], sets.total()) for code, sets in sets_of.items())
    no_set = len(catalogue.set_ids)  # the last place stands for none
    return {
        code: int(catalogue.set_ids[place])
        for code, place, cards, all_cards in sorted(most)
        if 10 * cards > 9 * all_cards and place < no_set
    }
