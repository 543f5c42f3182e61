"""Turns the CSV files of one real game (see `DATA`) into a lake, for trying the product at full scale.

The guide's file of changes is carried forward day by day; sealed products come from the marketplace's own list; the
repeated checks of some products serve as a watchlist. Nothing of it is kept in git.
"""

from pathlib import Path

import duckdb

DAILY = """
create table changes as
select
    cast(left(createdAt, 10) as date) as day, idProduct as id_product,
    low, trend, avg1, avg7, avg30, low_holo, nullif(trend_holo, 0) as trend_holo
from read_csv('{data}/pokemon-cmprices/pokemon_guide_daily_changes.csv.gz', types = {{'createdAt': 'VARCHAR'}});
create table days as select distinct day from changes;
create table guide as
select d.day, c.* exclude (day)
from (select day, id_product from days cross join (select distinct id_product from changes)) as d
asof join changes as c on d.id_product = c.id_product and d.day >= c.day;
"""

PRODUCTS = """
create table catalogue as
from read_csv('{data}/pokemon-cmprices/pokemon_catalogue_2026-08-22.csv.gz', all_varchar = true);
create table sealed as
select unnest(products, recursive := true)
from read_json('{data}/pokemon-official/products_nonsingles_6_2026-05-06.json.gz');
create table products as
select
    idProduct::bigint as id_product, name, 'single' as kind, 'Pokémon Single' as category,
    idExpansion::bigint as id_expansion, rarity, number, null::varchar as image, null::varchar as image_large,
    cardmarket_url as url, first_seen::timestamp as date_added
from catalogue
union all
select
    idProduct, name, 'sealed', categoryName, idExpansion, null, null, null, null, null,
    try_cast(dateAdded as timestamp)
from sealed;
create table expansions as
select id, min(name) as name, 'Pokémon' as game, null::varchar as url
from (
    select idExpansion::bigint as id, expansion as name from catalogue where expansion is not null
    union all
    select e.idExpansion, e.name
    from (select unnest(expansions) as e from read_json('{data}/pokemon-derived/pokemon_expansions.json'))
    where e.idExpansion not in (select idExpansion::bigint from catalogue where expansion is not null)
)
group by id;
"""

WATCHLIST = """
create table checks as
from read_csv(
    '{data}/pokemon-derived/pokemon_price_checks.csv.gz', types = {{'set': 'VARCHAR', 'number': 'VARCHAR'}}
);
create table watched as
select idProduct, min(cardmarket_url) as url, min(name) as name
from checks join catalogue using (idProduct)
where cardmarket_url is not null
group by idProduct
order by count(*) desc, idProduct limit 200;
create table watchlist as
select lower(regexp_extract(url, '[^/]*$')) || '-' || idProduct as slug, name, 'Pokémon' as game, url from watched;
create table watch_checks as
select slug, checked_at::timestamp as checked_at, null::bigint as num_offers, price as lowest_price
from checks join watched using (idProduct) join watchlist using (url);
"""


def main(data: str, lake: str) -> None:
    connection = duckdb.connect()
    for script in (DAILY, PRODUCTS, WATCHLIST):
        connection.execute(script.format(data=data))
    root = Path(lake)
    for table in ("products", "expansions", "watchlist"):
        root.mkdir(parents=True, exist_ok=True)
        connection.execute(f"copy (from {table} order by all) to '{root}/{table}.parquet'")
    for table, rows in (
        ("price_guide", "guide"),
        ("watch_checks", "(select *, checked_at::date as day from watch_checks)"),
    ):
        for (day,) in connection.execute(f"select distinct day from {rows} order by day").fetchall():
            folder = root / table / f"day={day}"
            folder.mkdir(parents=True, exist_ok=True)
            query = f"select * exclude (day) from {rows} where day = '{day}' order by all"
            connection.execute(f"copy ({query}) to '{folder}/part.parquet'")
