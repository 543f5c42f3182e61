-- One row per product: its ordinal in the catalogue's order (by expansion, number, id), the columns that filters
-- compare, its prices in cents, and for each sort its rank from 0 in the default order. Products with equal keys are ordered by id; products
-- without a key come last.
-- Read by the layer catalogue.
create or replace table rankings as
select
    row_number() over (order by id_expansion nulls last, number_sort_key nulls last, id_product) - 1 as ordinal,
    id_product,
    kind,
    id_expansion,
    cards.name_folded,
    coalesce(rarity_folded, '') as rarity,
    coalesce(number_filter_key, '') as number,
    coalesce(game_folded, '') as game,
    coalesce(trend * 100, 0)::bigint as cents_trend,
    coalesce(low * 100, 0)::bigint as cents_low,
    coalesce(avg * 100, 0)::bigint as cents_avg,
    coalesce(filtered * 100, 0)::bigint as cents_filtered,
    row_number() over (order by trend desc nulls last, id_product) - 1 as rank_trend,
    row_number() over (order by low desc nulls last, id_product) - 1 as rank_low,
    row_number() over (order by avg desc nulls last, id_product) - 1 as rank_avg,
    row_number() over (order by filtered desc nulls last, id_product) - 1 as rank_filtered,
    row_number() over (order by cards.name_folded, id_product) - 1 as rank_name,
    row_number() over (order by number_sort_key nulls last, id_product) - 1 as rank_number,
    row_number() over (order by date_added desc nulls last, id_product) - 1 as rank_newest,
    trend is not null as keyed_trend,
    low is not null as keyed_low,
    avg is not null as keyed_avg,
    filtered is not null as keyed_filtered,
    true as keyed_name,
    number_sort_key is not null as keyed_number,
    date_added is not null as keyed_newest
from cards
left join expansions on cards.id_expansion = expansions.id;
