"""What several readers and writers of lake tables share: price figures, the largest price, and conditions."""

# The prices of a price guide. Each has a second column `<figure>_holo`.
PRICE_FIGURES = ("low", "avg", "trend", "avg1", "avg7", "avg30")

# In euros. `build/checks/rules.j2` refuses larger numbers.
MAX_PRICE = 1e13

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
