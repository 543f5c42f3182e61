"""The demo lake: made-up tables with every trait of real ones, the same bytes for the same arguments.

`draw` gives random bits, `words` the vocabulary; `expansions` and `products` make the catalogue, `walk` moves
its prices from day to day, `offers` lays out lists of offers; one module per table turns these into Arrow
tables, `lake` writes them all. Nothing here is copied from a marketplace: words, shares and price levels are
ours.

Days: the first is fixed, the last is first + D - 1, and no table looks ahead, so a lake of D + 1 days is the
lake of D days and one partition more. The catalogue, the watchlist and the fingerprints do not depend on D at
all.
"""

from datetime import date

FIRST_DAY = date(2025, 11, 15)  # 90 days run into February: closed months and a closed year among them
