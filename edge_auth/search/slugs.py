"""Slugs of the watchlist, and how a text in a path names a product."""

import json
from collections.abc import Sequence

from edge_auth.errors import AmbiguousSlug, NotFound
from edge_auth.text import fold

_MAX_SLUG_CHARACTERS = 500
_NAMED_SLUGS = 3
_NO_SLUG = "no watchlist product has this slug, nor this in its URL"


class Slugs:
    """The folded slugs and product URLs of a build's watchlist.

    Args:
        lines: The WatchlistItems as JSON.
    """

    def __init__(self, lines: Sequence[bytes]):
        items = [json.loads(line) for line in lines]
        self._slugs: dict[str, str] = {fold(item["slug"]): item["slug"] for item in items}
        self._urls: list[tuple[str, str]] = [
            (fold(url.partition("?")[0]), item["slug"]) for item in items if (url := item["cardmarket_url"]) is not None
        ]

    def resolve(self, text: str) -> str:
        """Return the slug of the product that a text in a path means: by its slug, else by a part of its URL.

        Raises:
            NotFound: No product matches, or the text is too long to be a slug.
            AmbiguousSlug: The text is part of several URLs. The message names the first slugs.
        """
        if len(text) > _MAX_SLUG_CHARACTERS:  # to fold a long text may take time that grows with its square
            raise NotFound(_NO_SLUG)
        folded = fold(text)
        if folded in self._slugs:
            return self._slugs[folded]
        matching = [slug for url, slug in self._urls if folded in url]
        if not matching:
            raise NotFound(_NO_SLUG)
        if len(matching) > 1:
            named = ", ".join(matching[:_NAMED_SLUGS]) + (", …" if len(matching) > _NAMED_SLUGS else "")
            raise AmbiguousSlug(f"{len(matching)} watchlist products have this in their URL: use a slug ({named})")
        return matching[0]
