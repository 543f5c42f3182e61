"""The bodies of the endpoints. Each function takes a build, the subject of the path, and the parameters by name.

Those of /changes take the steps of the store instead of a build. They raise InvalidParameter, NotFound and StoreError.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import compress
from typing import Any

import numpy as np

from edge_auth.api.parameters import quote_input
from edge_auth.builds import layer_names, layout, object_keys
from edge_auth.builds.bodies import Body, MadeBody, StoredBody, dumps, list_body
from edge_auth.builds.card_lists import BLANK, DEFAULT_SORT, MATCH_SORT, PRICE_SORTS, SORTS, TEXT_FILTERS, number_key
from edge_auth.builds.changes import Step, Steps
from edge_auth.builds.market import list_key
from edge_auth.errors import InvalidParameter, NotFound
from edge_auth.live.build_registry import FollowedSteps
from edge_auth.live.open_build import OpenBuild
from edge_auth.search.ranking import (
    Filters,
    PriceRange,
    ResultPage,
    Search,
    cheap_page,
    first_matches,
    mask_of,
    ranks_of_prices,
    read_find,
)
from edge_auth.text import MAX_DIGITS, composed, fold, fold_without_apostrophes, word_text, words

_LEAST_KEPT_MATCHES = 1024
_OVERHEAD_BYTES = 500


def read_search(build: OpenBuild, values: dict[str, Any]) -> Search:
    """Return the search that the parameters of /cards mean. Equivalent parameters give equal searches.

    Raises:
        InvalidParameter: The price range is empty, the sort needs other parameters, or the build is too old for the
            sort or a filter.
    """
    best = _best(build, values) if values["sort"] == MATCH_SORT else None
    sort = DEFAULT_SORT if best else values["sort"]
    if sort not in build.catalogue.order:
        raise too_old(build, f"sorted by {sort}")
    signs_of_find, parts = read_find(build.catalogue, values["find"] or "")
    filters = Filters(
        words=tuple(sorted({*_words(values["q"] or ""), *signs_of_find})),
        parts=parts,
        set=values["set"] and composed(values["set"]),
        texts=tuple((name, filter_key(build, name, values[name])) for name in TEXT_FILTERS if values[name]),
        kind=values["kind"],
    )
    default_order = "asc" if SORTS[sort].ascending else "desc"
    reverse = values["order"] not in (None, default_order)
    search = Search(filters, sort, reverse, _price_range(values), best)
    if search.prices is not None and search.price_sort not in build.catalogue.cents:
        raise too_old(build, "filtered by min_price and max_price")
    return search


def filter_key(build: OpenBuild, name: str, text: str) -> str:
    """Return the key of a client's text for a text filter.

    Raises:
        InvalidParameter: The build is older than the filter.
    """
    if name not in build.catalogue.texts:
        raise too_old(build, f"filtered by {name}")
    if name == "number":
        return number_key(build.catalogue.texts[name].code_of, text) or BLANK
    return TEXT_FILTERS[name].key(text) or BLANK


def _words(q: str) -> list[str]:
    """Return the texts that words of a name must contain: the words of `q`, or its signs if it has no word."""
    return words(q) or fold(q).split()


def _best(build: OpenBuild, values: dict[str, Any]) -> str:
    best = word_text(values["q"] or "") or word_text(values["find"] or "")
    if not best or values["order"]:
        what = "allows no order" if best else "needs a q or a find with at least one word"
        raise InvalidParameter(f"sort={MATCH_SORT} {what}")
    if build.catalogue.full_name is None:
        raise too_old(build, f"sorted by {MATCH_SORT}")
    return best


def _price_range(values: dict[str, Any]) -> PriceRange | None:
    prices = PriceRange(values["min_price"], values["max_price"])
    if prices.lowest is not None and prices.highest is not None and prices.lowest > prices.highest:
        raise InvalidParameter("min_price may not be above max_price")
    return None if prices == (None, None) else prices


def too_old(build: OpenBuild, what: str) -> InvalidParameter:
    """Return the error for a parameter that a build of an older version lacks the data for."""
    return InvalidParameter(f"build {build.id} cannot be {what}: an older version made it, the next build can")


def find_page(build: OpenBuild, search: Search, offset: int, limit: int) -> ResultPage:
    """Return one page of the result of a search.

    Raises:
        NotFound: The search names an unknown set.
    """
    if not offset and (stored := _stored_page(build, search, limit)) is not None:
        return stored
    catalogue = build.catalogue
    if (page := cheap_page(catalogue, search, offset, limit)) is not None:
        return page
    # A client that is at a later page will probably want the next one too, so find up to twice as many.
    count = min(max(_LEAST_KEPT_MATCHES, 1 << (offset + limit).bit_length()), len(catalogue.ids))
    ordinals, total = build.cached(
        ("search", search, count),
        lambda: first_matches(catalogue, search, count),
        lambda found: found.ordinals.nbytes + _OVERHEAD_BYTES,
    )
    return ResultPage(ordinals[offset : offset + limit], total)


def _stored_page(build: OpenBuild, search: Search, limit: int) -> ResultPage | None:
    """Return the first page of a search for a letter that very many names contain, if the build has it."""
    if search.best is None or search.only_filter != ("q", search.best):
        return None
    stored = build.best_of_letters.get(search.best)
    if stored is None or limit > len(stored.ordinals):
        return None
    return ResultPage(stored.ordinals[:limit], stored.total)


_MAX_ID_DIGITS = 19
_ONE_GROUP = "give exactly one of set and game: a set has an id, a game a name"
_NO_GROUP = "there is no such set or game, or none of its singles ever had a price trend"
_NO_NAMES = dumps({"count": 0, "names": []}) + b"\n"
_CHANGES_URL = "/api/v1/changes/"
_NO_PRODUCT = "there is no product with this id"

Values = dict[str, Any]  # parameters by name


def _short_list(lines: Sequence[bytes], values: Values) -> Body:
    """Return one page of a list that is in memory."""
    offset, limit = values["offset"], values["limit"]
    return list_body(lines[offset : offset + limit], offset, limit, len(lines))


def status(build: OpenBuild, _: str, __: Values) -> Body:
    """Return the freshness of the data."""
    return MadeBody(build.objects.status())


def fingerprints(build: OpenBuild, _: str, __: Values) -> Body:
    """Return the index of fingerprints."""
    return build.stored_body(object_keys.FINGERPRINTS_KEY, build.fingerprints_file)


def bulk(build: OpenBuild, _: str, __: Values) -> Body:
    """Return the manifest of the bulk files."""
    return MadeBody(build.manifest)


def openapi(build: OpenBuild, _: str, __: Values) -> Body:
    """Return the description of the API."""
    return build.stored_body(object_keys.OPENAPI_KEY)


def no_path(meant: str | None = None) -> str:
    """Return the message of a path that is not there, with the one that is meant."""
    return f"there is no such path: {f'did you mean {meant}? ' if meant else ''}/docs lists what there is"


def site_file(build: OpenBuild, path: str, _: Values) -> Body:
    """Return a file of the site. The path of a folder means its page."""
    folder = path.removesuffix("/")
    key = f"{folder}/index.html" if folder in object_keys.SITE_PAGES else path
    if build.objects.find(key) is None:
        raise NotFound(no_path())
    return build.stored_body(key)


def watchlist(build: OpenBuild, _: str, values: Values) -> Body:
    """Return a page of the watchlist."""
    return _short_list(build.watchlist, values)


def watchlist_item(build: OpenBuild, slug: str, _: Values) -> Body:
    """Return an item of the watchlist."""
    return build.stored_body(object_keys.watchlist_item(build.slugs.resolve(slug)))


def watchlist_history(build: OpenBuild, slug: str, values: Values) -> Body:
    """Return one of the histories of an item."""
    slug = build.slugs.resolve(slug)
    return build.stored_body(object_keys.watchlist_history(slug, values["view"], values["range"]))


def watchlist_offers(build: OpenBuild, slug: str, _: Values) -> Body:
    """Return the offers of an item."""
    return build.stored_body(object_keys.watchlist_offers(build.slugs.resolve(slug)))


def sets(build: OpenBuild, _: str, values: Values) -> Body:
    """Return a page of the sets, all or those that match."""
    text = fold_without_apostrophes((values["q"] or "").strip())
    game = values["game"] and filter_key(build, "game", values["game"])
    found = [one.line for one in build.sets if text in one.searched and (game is None or one.game == game)]
    return _short_list(found, values)


def stored_list(layer: str) -> Callable[[OpenBuild, str, Values], Body]:
    """Return the function for a list that a layer stores row by row, and that takes no filter."""
    return lambda build, _, values: _short_list(build.rows(layer), values)


def names(build: OpenBuild, _: str, values: Values) -> Body:
    """Return the names of the products, all or those of a game."""
    build.require(layer_names.NAMES)
    key = object_keys.names(fold(values["game"]) if values["game"] else None)
    return build.stored_body(key) if build.objects.find(key) else MadeBody(_NO_NAMES)


def facets(build: OpenBuild, _: str, values: Values) -> Body:
    """Return how many products of each kind, rarity, game and set match the filters."""
    facets = build.facets
    search = read_search(build, {**values, "sort": PRICE_SORTS[0], "order": None})
    if search.only_filter in facets.stored:
        return MadeBody(facets.stored[search.only_filter])
    if search.only_prices:
        return MadeBody(facets.of_ranks(ranks_of_prices(build.catalogue, search)))
    name, text = search.only_filter
    few = build.catalogue.vocabulary.few_products(text) if name == "q" else None
    if few is not None:
        return MadeBody(facets.of_few(few))
    mask = mask_of(build.catalogue, search)
    return MadeBody(facets.of_mask(mask))


def schemes(build: OpenBuild, _: str, values: Values) -> Body:
    """Return a page of the catalogues whose ids are known."""
    return _short_list(build.identifiers.entries, values)


def products_by_value(build: OpenBuild, scheme: str, values: Values) -> Body:
    """Return the products that have some values in the scheme of another catalogue, and the values that none has."""
    identifiers = build.identifiers
    if scheme not in identifiers:
        raise NotFound("there is no such scheme: /identifiers lists the schemes")
    products = list(zip(values["values"], identifiers.products(scheme, values["values"]), strict=True))
    found = [{"value": value, "products": ids} for value, ids in products if ids]
    not_found = [value for value, ids in products if not ids]
    return MadeBody(dumps({"data": found, "not_found": not_found}) + b"\n")


def card_identifiers(build: OpenBuild, subject: str, _: Values) -> Body:
    """Return the ids that other catalogues have for a product. Its id may be any integer, however large."""
    id_, identifiers = _product_id(subject), build.identifiers
    if build.catalogue.ordinal(id_) is None:
        raise NotFound(_NO_PRODUCT)
    return MadeBody(dumps({"id_product": id_, "identifiers": identifiers.of_product(id_)}) + b"\n")


def movers(build: OpenBuild, _: str, values: Values) -> Body:
    """Return a page of a list of price moves."""
    options = [values[name] for name in ("window", "by", "direction", "kind", "min_price")]
    game = values["game"] and fold(values["game"])
    confirmed = values["confirmed"] == "true"
    if confirmed and not build.movers.knows_confirmed:
        raise too_old(build, "asked for confirmed moves")
    return _short_list(build.movers.list(list_key(options, game), confirmed), values)


def market(build: OpenBuild, _: str, values: Values) -> Body:
    """Return a page of the market's sets or games."""
    game = values["game"] and fold(values["game"])
    return _short_list(build.market.rows(values["by"], values["sort"], values["order"], game), values)


def market_history(build: OpenBuild, _: str, values: Values) -> Body:
    """Return the market's history of a set or a game."""
    id_, game, days = values["set"], values["game"], values["days"]
    if (id_ is None) == (game is None):
        raise InvalidParameter(_ONE_GROUP)
    if id_ is not None and len(id_.lstrip("-")) > MAX_DIGITS:
        raise NotFound(_NO_GROUP)
    group = build.market.sets.get(int(id_)) if id_ is not None else build.market.games.get(fold(game))
    if group is None:
        raise NotFound(_NO_GROUP)
    first_day = build.objects.as_of - timedelta(days=days - 1) if days else None
    return MadeBody(build.objects.market_history(group, str(first_day or "")), keep_plain=False)


def cards(build: OpenBuild, _: str, values: Values) -> Body:
    """Return a page of the Cards that match, or the Cards of some ids."""
    if values["ids"] is not None:
        return _cards_by_id(build, values["ids"])
    offset, limit = values["offset"], values["limit"]
    page, cards = find_page(build, read_search(build, values), offset, limit), build.catalogue.card_lines
    return list_body(cards.lines(page.ordinals), offset, limit, page.total, cards.digest(page.ordinals))


def _cards_by_id(build: OpenBuild, ids: Sequence[int]) -> Body:
    """Return the Cards with these ids in this order, and the ids that are unknown."""
    ordinals, _, not_found = _find(build, ids)
    cards = build.catalogue.card_lines
    more = {"not_found": not_found}
    return list_body(cards.lines(ordinals), 0, len(ids), len(ordinals), cards.digest(ordinals), more)


def series(build: OpenBuild, _: str, values: Values) -> Body:
    """Return the weekly prices of some products in this order, and the ids that are unknown."""
    series = build.series
    ordinals, found, not_found = _find(build, values["ids"])
    rows = zip(found, series.prices(ordinals), series.extremes(ordinals), strict=True)
    data = b",\n".join([b'{"id_product":%d,"trend":[%b]%b}' % row for row in rows])
    return MadeBody(b'{"weeks":%b,"data":[\n%b\n],"not_found":%b}\n' % (series.weeks, data, dumps(not_found)))


def _find(build: OpenBuild, ids: Sequence[int]) -> tuple[np.ndarray, list[int], list[int]]:
    """Return the ordinals of the products with some ids, the ids that are known, and the others."""
    ordinals = build.catalogue.ordinals(ids)
    known = [ordinal is not None for ordinal in ordinals]
    not_found = [id_ for id_, is_known in zip(ids, known, strict=True) if not is_known]
    return np.array(list(compress(ordinals, known)), np.int64), list(compress(ids, known)), not_found


def named_cards(build: OpenBuild, _: str, values: Values) -> Body:
    """Return the products of each name of a list, and the names that no product has."""
    names, game = values["names"], values["game"]
    texts = (("game", filter_key(build, "game", game)),) if game else ()
    lines = build.named(names, Filters(texts=texts, kind=values["kind"]), values["printings"] == "true")
    not_found = dumps([name for name, line in zip(names, lines, strict=True) if not line])
    return MadeBody(b'{"data":[\n%b\n],"not_found":%b}\n' % (b",\n".join(filter(None, lines)), not_found))


def card(build: OpenBuild, subject: str, values: Values) -> Body:
    """Return a product with its history. The id may be any integer, however large."""
    id_ = _product_id(subject)
    if (days := values["days"]) is not None:
        first_day = build.objects.as_of - timedelta(days=days - 1)
        if (detail := build.objects.card_since(id_, first_day.isoformat())) is not None:
            return MadeBody(detail, keep_plain=False)
    elif (card := build.objects.card(id_)) is not None:
        member = card.member
        return StoredBody(card.digest, card.size, len(member), lambda: member)
    raise NotFound(_NO_PRODUCT)


def _product_id(text: str) -> int:
    """Return the id that the path names.

    Raises:
        NotFound: It has more digits than the id of any product.
    """
    digits = text.lstrip("-").lstrip("0") or "0"
    if len(digits) > _MAX_ID_DIGITS:
        raise NotFound(_NO_PRODUCT)
    return -int(digits) if text.startswith("-") else int(digits)


def list_changes(log: FollowedSteps, _: str, values: Values) -> Body:
    """Return one page of the steps: newest first, or those since a build, oldest first.

    Raises:
        InvalidParameter: `since` is neither live nor named by a step.
    """
    steps, since = log.known(), values["since"]
    found: Sequence[Step] | None = steps.documented
    if since is not None:
        if since not in steps.builds:  # another worker may know a newer build, and so may the client
            steps = log.refreshed()
        found = steps.since(since)
    if found is None:
        raise InvalidParameter(
            f"since {quote_input(since)} is neither live nor named by a step that is kept: "
            f"fetch everything again, and go on from the live build {steps.builds[0]}"
        )
    offset, limit = values["offset"], values["limit"]
    lines = [_line(step, steps) for step in found[offset : offset + limit]]
    return list_body(lines, offset, limit, len(found))


def changes_document(log: FollowedSteps, pair: str, _: Values) -> Body:
    """Return what differs between the builds of a step."""
    steps = log.known()
    if (step := _step(steps, pair)) is None:
        steps = log.refreshed()
        step = _step(steps, pair)
    if step is None:
        raise NotFound("there is no such step: /api/v1/changes lists those that are kept")
    return log.document(step, steps)


def _step(steps: Steps, pair: str) -> Step | None:
    return next((step for step in steps.documented if step.pair == pair), None)


def _line(step: Step, steps: Steps) -> bytes:
    found = steps.comparison(step)
    counts = {"added": found.added, "removed": found.removed, "changed": found.changed}
    ends = {"from": step.from_, "to": step.to, "as_of": layout.day_of(step.to)}
    return dumps(ends | counts | {"url": _CHANGES_URL + step.pair})
