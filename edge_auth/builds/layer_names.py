"""The layers of a build: their names. A period is a closed year or the open month."""

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

# Documents of the API and files of the site, one by one, in the order of `diff`.
EXPORTED = (SETS, GAMES, NAMES, WATCHLIST, FINGERPRINTS, STATUS, BULK, DRAWINGS, SITE)
COMPARED = (CARDS, LISTS, *EXPORTED)  # what `diff` counts as a resource of the API
# Beside the documents the layers whose files answer lists and look-ups. Layers of the history, of series, of extremes,
# of the market's closed years, of bulk files and of lists of day files are not here: they hold no documents.
LAYERS = (*COMPARED, CATALOGUE, MOVERS, IDENTIFIERS, MARKET)
ROWS_PER_PAGE = {SETS: 1000, GAMES: 100, WATCHLIST: 500}  # of the lists that layers store row by row


def history_layer(period: str) -> str:
    return f"{HISTORY}-{period}"


def series_layer(period: str) -> str:
    return f"{SERIES}-{period}"


def extremes_layer(period: str) -> str:
    """Return the name of a layer with the lowest and highest prices of a closed year, or of all days (open month)."""
    return f"{EXTREMES}-{period}"


def market_layer(year: str) -> str:
    return f"{MARKET}-{year}"


def days_layer(year: str) -> str:
    """Return the name of the layer that lists the day files of the lake of a closed year."""
    return f"{DAYS}-{year}"


def bulk_layer(part: str) -> str:
    """Return the name of a layer with bulk files; `part` is a month, a day, or the name of a kind of table."""
    return f"{BULK}-{part}"


def holds_bulk_files(layer: str) -> bool:
    return layer.startswith(bulk_layer(""))
