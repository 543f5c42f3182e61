import sys

import duckdb

owned = duckdb.read_csv(sys.argv[1])
days = duckdb.sql(
    "select day, sum(trend * quantity) as worth, count(distinct id_product) filter (trend is not null) as priced "
    "from read_parquet('mirror/price_guide-*.parquet') join owned on id_product = idProduct "
    "group by day order by day"
)
for day, worth, priced in days.fetchall():
    print(day, f"{worth or 0:.2f} of {priced} cards")
