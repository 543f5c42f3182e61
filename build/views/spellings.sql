-- One row per folded text of a filter: the spelling that people see. Of a game its name; of a rarity the spelling that most
-- products have, among equals the smallest by code point.
-- Read by the layer catalogue.
create view spellings as
select 'game' as filter, game_folded as folded, game as spelling
from game_names
union all
select 'rarity', rarity_folded, rarity
from (
    select fold(rarity) as rarity_folded, rarity, count(*) as products
    from products
    where fold(rarity) <> ''
    group by rarity
)
qualify row_number() over (partition by rarity_folded order by products desc, rarity) = 1;
