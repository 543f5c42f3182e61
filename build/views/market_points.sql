-- One row per group of market_days: its history as JSON.
-- Read by the layers market.
select
    id_expansion,
    game_folded,
    string_agg(
        to_json({
            'day': day,
            'value': value,
            'priced': priced,
            'value_low': value_low,
            'priced_low': priced_low,
            'index': "index"
        })::varchar,
        e',\n'
        order by day
    ) as points
from market_days
group by id_expansion, game_folded
order by id_expansion nulls last, game_folded;
