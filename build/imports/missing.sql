-- How many products of a lake lack what.
with sets as (
    select expansions.*, expansions.name = 'Expansion ' || expansions.id as is_unnamed from expansions
)

select
    count(*) as products,
    count(*) filter (kind = 'single') as singles,
    count(*) filter (kind = 'sealed') as sealed,
    count(*) filter (sets.name is null or is_unnamed) as without_set,
    count(distinct id_expansion) filter (sets.name is null or is_unnamed) as sets_without_name,
    min(id_expansion) filter (sets.name is null or is_unnamed) as first_without_name,
    count(*) filter (coalesce(trim(sets.game), '') = '') as without_game,
    count(*) filter (kind = 'single' and number is null) as without_number,
    count(*) filter (kind = 'single' and rarity is null) as without_rarity,
    count(*) filter (products.url is null) as without_url,
    count(*) filter (image is null) as without_image
from products left join sets on products.id_expansion = sets.id
