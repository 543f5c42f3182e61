"""Names that several readers and writers of lake tables share: price figures and conditions."""

# The prices of a price guide. Each has a second column `<figure>_holo`.
PRICE_FIGURES = ("low", "avg", "trend", "avg1", "avg7", "avg30")

# The conditions of an offer: code and name, best first.
CONDITIONS = {
    "MT": "Mint",
    "NM": "Near Mint",
    "EX": "Excellent",
    "GD": "Good",
    "LP": "Light Played",
    "PL": "Played",
    "PO": "Poor",
}
