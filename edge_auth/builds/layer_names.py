"""The layers of a build: their names, and what is the same for a layer in every build."""

from typing import NamedTuple

CATALOGUE, HISTORY, SERIES = "catalogue", "history", "series"
EXTREMES = "extremes"
OPEN_MONTH = "open"  # a period of the history; its name comes after those of all years
WATCHLIST, SETS, FINGERPRINTS, STATUS, SITE = "watchlist", "sets", "fingerprints", "status", "site"
GAMES, NAMES, MOVERS, DRAWINGS = "games", "names", "movers", "drawings"
IDENTIFIERS = "identifiers"
DAYS = "days"
MARKET = "market"  # of the open month; the closed years have layers of their own
# The manifest of the bulk files. The files are in layers of their own, one for each span of days or kind of table.
BULK = "bulk"
# The card details and the pages of /cards. No layer stores them: they are put together from other layers.
CARDS, LISTS = "cards", "lists"


class LayerKind(NamedTuple):
    """What is the same for a layer in every build.

    Attributes:
        exported: Whether its objects are documents of the API or files of the site, one by one.
        compared: Whether `diff` counts its objects as a resource of the API.
        rows_per_page: How many rows a page of its list has. 0 if the layer stores no list row by row.
    """

    exported: bool
    compared: bool
    rows_per_page: int = 0


# In the order of `diff`. Layers of the history, of series, of extremes, of the market's closed years, of bulk files and
# of lists of day files have no row: they hold no documents.
LAYERS = {
    CARDS: LayerKind(exported=False, compared=True),
    LISTS: LayerKind(exported=False, compared=True),
    SETS: LayerKind(exported=True, compared=True, rows_per_page=1000),
    GAMES: LayerKind(exported=True, compared=True, rows_per_page=100),
    NAMES: LayerKind(exported=True, compared=True),
    WATCHLIST: LayerKind(exported=True, compared=True, rows_per_page=500),
    FINGERPRINTS: LayerKind(exported=True, compared=True),
    STATUS: LayerKind(exported=True, compared=True),
    BULK: LayerKind(exported=True, compared=True),
    DRAWINGS: LayerKind(exported=True, compared=True),
    SITE: LayerKind(exported=True, compared=True),
    # Its files give the lists and the search.
    CATALOGUE: LayerKind(exported=False, compared=False),
    # Its files give the lists of movers. They follow from the prices, and every night changes all of them.
    MOVERS: LayerKind(exported=False, compared=False),
    # Its file answers look-ups. `diff` compares the bulk table.
    IDENTIFIERS: LayerKind(exported=False, compared=False),
    # Its histories and lists are put together, and change every night.
    MARKET: LayerKind(exported=False, compared=False),
}


def is_exported(layer: str) -> bool:
    """Return whether the objects of a layer are documents of the API or files of the site."""
    return layer in LAYERS and LAYERS[layer].exported


def history_layer(period: str) -> str:
    """Return the name of the layer of a period: a closed year, or the open month."""
    return f"{HISTORY}-{period}"


def series_layer(period: str) -> str:
    """Return the name of a layer with weekly prices; `period` is a closed year or the open month."""
    return f"{SERIES}-{period}"


def extremes_layer(period: str) -> str:
    """Return the name of a layer with the lowest and highest prices of a closed year, or of all days (open month)."""
    return f"{EXTREMES}-{period}"


def market_layer(year: str) -> str:
    """Return the name of the market's layer of a closed year."""
    return f"{MARKET}-{year}"


def days_layer(year: str) -> str:
    """Return the name of the layer that lists the day files of the lake of a closed year."""
    return f"{DAYS}-{year}"


def counts_in_id(layer: str) -> bool:
    """Return whether a layer makes builds different. A list of files says nothing that other layers do not."""
    return not layer.startswith(days_layer(""))


def bulk_layer(part: str) -> str:
    """Return the name of a layer with bulk files; `part` is a month, a day, or the name of a kind of table."""
    return f"{BULK}-{part}"


def holds_bulk_files(layer: str) -> bool:
    """Return whether a layer holds bulk files."""
    return layer.startswith(bulk_layer(""))
