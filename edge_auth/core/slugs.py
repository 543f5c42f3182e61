"""Which tracked product a slug in a path means (specification, section 4, watchlist slug rules)."""

import json
from collections.abc import Sequence

from edge_auth.contract.text import fold
from edge_auth.errors import AmbiguousSlug, NotFound


class Slugs:
    """The slugs of a build's watchlist with their product URLs, folded."""

    def __init__(self, lines: Sequence[bytes]):
        items = [json.loads(line) for line in lines]
        self._slugs = {fold(item["slug"]): item["slug"] for item in items}
        self._urls = [(fold(item["cardmarket_url"].partition("?")[0]), item["slug"]) for item in items]

    def resolve(self, asked: str) -> str:
        """The slug of the one product meant: by its slug, else by a part of its URL.

        Raises:
            NotFound: no product matches.
            AmbiguousSlug: several URLs hold that part.
        """
        folded = fold(asked)
        if folded in self._slugs:
            return self._slugs[folded]
        matching = [slug for url, slug in self._urls if folded in url]
        if not matching:
            raise NotFound("no watchlist product has this slug, nor this in its URL")
        if len(matching) > 1:
            raise AmbiguousSlug(f"{len(matching)} watchlist products have this in their URL: use a slug")
        return matching[0]
