-- One row per group and day of market_chain, with the index as it is shown: 2 decimals of its shortest decimal form, half away
-- from zero. From a quadrillion on a double has no second decimal.
-- Read by the layers market.
select
    * exclude ("index"),
    case when "index" < 1e15 then "index"::varchar::decimal(18, 2)::double else "index" end as "index"
from market_chain
order by game_folded nulls first, id_expansion nulls first, day;
