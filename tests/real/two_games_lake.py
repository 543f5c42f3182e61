"""A lake with all tables and two real games (see `DATA`), for damages of nights: whole sets, fifteen days.

The prices of both games are real. Magic has guides of three days in a row and one of two months before: on the days
between, each product goes from the older one to the newer on a day of its own. What no source has (sealed prices,
listings, offers, pictures, hashes) follows the guide.
"""

import json
from datetime import date
from pathlib import Path

import duckdb

from tests.real import pokemon_lake

DAYS = 15
LAST = date(2026, 8, 22)
_PRODUCTS_OF_A_GAME = 4500

_POKEMON = """
create table sets as
select id_expansion, count(*) as products from products where kind = 'single' group by all having products >= 20;
create table chosen as
select id_expansion from (select *, sum(products) over (order by hash(id_expansion)) as total from sets)
where total <= {most};
create table all_products as
select p.*, coalesce(t.number, p.number) as real_number from products as p left join (
    select unnest(products, recursive := true)
    from read_json('{data}/pokemon-derived/pokemon_products_tcgdex.json.gz', maximum_object_size = 200000000)
) as t on p.id_product = t.idProduct
where id_expansion in (from chosen);
create table all_guide as
select day, id_product, low, null::double as avg, trend, avg1, avg7, avg30,
    low_holo, null::double as avg_holo, trend_holo, null::double as avg1_holo, null::double as avg7_holo,
    null::double as avg30_holo
from guide where id_product in (select id_product from all_products) and day > date '{last}' - {days};
create table all_expansions as from expansions where id in (from chosen);
"""

_SEALED = """
insert into all_guide
select day, id_product, p * 0.9, p, p, p, p, round(p * 1.02, 2), null, null, null, null, null, null
from (
    select day, id_product,
        round((10 + hash(id_product) % 20000 / 100) * (1 + hash(id_product, day) % 100 / 5000), 2) as p
    from all_products cross join (select distinct day from all_guide) where kind = 'sealed'
);
"""

_MAGIC = """
create table cards as
select c.pk + 10000000 as id_product, unnest(c.fields) from read_json('{data}/magic-cusco/fixture_02_mtgcard.json.gz',
    maximum_object_size = 200000000) as c;
create table magic_sets as
select expansion, count(*) as products from cards where expansion is not null group by all having products >= 20;
create table magic_chosen as
select expansion from (select *, sum(products) over (order by hash(expansion)) as total from magic_sets)
where total <= {most};
insert into all_products
select id_product, name, 'single', 'Magic Single', expansion + 100000,
    ['Common', 'Uncommon', 'Rare', 'Mythic'][(1 + hash(id_product) % 4)::bigint],
    printf('%03d', row_number() over (partition by expansion order by id_product)), null, null,
    'https://market.example/Magic/' || id_product, cm_date_added::timestamp, null
from cards where expansion in (from magic_chosen);
insert into all_expansions
select pk + 100000, fields.name, 'Magic', null from read_json('{data}/magic-cusco/fixture_01_mtgset.json.gz')
where pk in (from magic_chosen);
create table magic_guides as
select filename[-18:-9]::date as real_day, unnest(priceGuides, recursive := true)
from read_json('{data}/magic-cusco/price_guide_1_*.json.gz', filename = true, maximum_object_size = 200000000);
insert into all_guide
select d.day, g.idProduct + 10000000, low, avg, trend, avg1, avg7, avg30,
    "low-foil", "avg-foil", "trend-foil", "avg1-foil", "avg7-foil", "avg30-foil"
from (select distinct day from all_guide) as d
join magic_guides as g on g.real_day = case
    when d.day = date '{last}' then date '2024-12-03'
    when d.day = date '{last}' - 1 then date '2024-12-02'
    when hash(g.idProduct) % ({days} - 2) < d.day - date '{last}' + {days} - 1 then date '2024-12-01'
    else date '2024-10-03' end
where g.idProduct + 10000000 in (select id_product from all_products);
"""

_OTHERS = """
create table daily as
select g.*, p.kind, row_number() over (partition by day order by id_product) as place
from all_guide as g join all_products as p using (id_product);
create table listings as
select day, id_product, day + interval 3 hour as scraped_at, (1 + hash(id_product) % 40)::bigint as available,
    low as from_price, (hash(id_product) % 7)::bigint as available_foil, low_holo as from_price_foil
from daily where hash(id_product, 'l') % 4 = datediff('day', date '{last}', day + 100) % 4 and low is not null;
create table filtered_checks as
select day, id_product, day + interval 4 hour as checked_at, 3::bigint as offers, round(low * 1.1 + 0.05, 2) as lowest,
    'seller' || hash(id_product, day) % 300 as cheapest_seller, 'NM' as cheapest_condition,
    list_transform([1.0, 1.2, 1.7], lambda f: struct_pack(price := round((low * 1.1 + 0.05) * f, 2), condition := 'NM',
        quantity := 1, seller := 'seller' || hash(id_product, day, f) % 300)) as offer_list
from daily where hash(id_product, 'f') % 3 = datediff('day', date '{last}', day + 100) % 3 and low is not null;
create table watched as
select distinct on (id_product) id_product from daily where trend > 5 order by hash(id_product) limit 80;
create table watchlist as
select 'card-' || id_product as slug, p.name, game, 'https://market.example/' || id_product as url
from watched join all_products as p using (id_product) left join all_expansions as e on id_expansion = e.id;
create table watch_checks as
select day, 'card-' || id_product as slug, day + interval 5 hour as checked_at,
    (3 + hash(id_product, day) % 5)::bigint as num_offers, low as lowest_price
from daily semi join watched using (id_product);
create table fingerprints as
select 'img-' || id_product as key, h[1:16] as art_p, h[17:32] as art_d, md5(h)[1:16] as card_p,
    h || md5(h) || md5(h || '2') as colour, [id_product] as products
from (select id_product, md5('p' || id_product) as h from all_products where kind = 'single');
create table identifiers as
select id_product, 'tcgdex' as scheme, 'sv-' || id_product as value from all_products where id_product < 10000000
union all
select id_product, 'mtgjson', md5('m' || id_product) from all_products where id_product >= 10000000
union all
select id_product, 'shop', (id_product * 7)::varchar from all_products where id_product % 3 = 0;
create table listed as
select * exclude (real_number) replace (
    coalesce(real_number, number) as number, coalesce(url, 'https://market.example/p/' || id_product) as url,
    'https://img.example/' || id_product || '.jpg' as image)
from all_products;
"""

_FLAT = {"products": "listed", "expansions": "all_expansions", "watchlist": "watchlist", "fingerprints": "fingerprints"}
_FLAT |= {"identifiers": "identifiers"}
_DAILY = {"price_guide": "all_guide", "listings": "listings"}
_DAILY |= {"filtered_checks": "filtered_checks", "watch_checks": "watch_checks"}


def main(data: str, lake: Path) -> list[date]:
    scripts = (pokemon_lake.DAILY, pokemon_lake.PRODUCTS, _POKEMON, _SEALED, _MAGIC, _OTHERS)
    with duckdb.connect() as connection:
        for script in scripts:
            connection.execute(script.format(data=data, most=_PRODUCTS_OF_A_GAME, last=LAST, days=DAYS))
        lake.mkdir(parents=True)
        for table, source in _FLAT.items():
            connection.execute(f"copy (from {source} order by all) to '{lake}/{table}.parquet'")
        recipe = {"version": "recipe-1", "image_url": "https://img.example/{key}.jpg"}
        (lake / "fingerprints.json").write_text(json.dumps(recipe))
        days = [day for (day,) in connection.execute("select distinct day from all_guide order by 1").fetchall()]
        for table, source in _DAILY.items():
            for day in days:
                folder = lake / table / f"day={day}"
                folder.mkdir(parents=True)
                query = f"select * exclude (day) from {source} where day = '{day}' order by 1, 2"
                connection.execute(f"copy ({query}) to '{folder}/part.parquet'")
    return days
