"""The names of the layers of a build."""

CATALOGUE, CARDS, HISTORY = "catalogue", "cards", "history"
WATCHLIST, SETS, FINGERPRINTS, STATUS, SITE = "watchlist", "sets", "fingerprints", "status", "site"
GAMES, MOVERS, DRAWINGS = "games", "movers", "drawings"
# The manifest of the bulk files. The files are in layers of their own, one for each span of days or kind of table.
BULK = "bulk"
# The layers whose objects are documents of the API or files of the site.
EXPORTED_LAYERS = (CARDS, SETS, GAMES, WATCHLIST, FINGERPRINTS, STATUS, BULK, DRAWINGS, SITE)


def history_layer(period: str) -> str:
    """Return the name of the layer of a closed period."""
    return f"{HISTORY}-{period}"


def bulk_layer(part: str) -> str:
    """Return the name of a layer with bulk files; `part` is a month, a day, or the name of a kind of table."""
    return f"{BULK}-{part}"


def holds_bulk_files(layer: str) -> bool:
    """Return whether a layer holds bulk files."""
    return layer.startswith(bulk_layer(""))
