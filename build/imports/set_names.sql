-- How lists of sets call the expansions without a name: the names of the surest kind of reading, and which are sure. Cards are
-- sure if they are nine tenths of the expansion's singles, and those nine tenths of the set. A name is sure if sealed products of
-- one expansion alone begin with it, which has as many singles as the set has cards.
with unnamed as (from expansions where expansions.name = 'Expansion ' || expansions.id),

singles as (select id_expansion as id, count(*) as singles from products where kind = 'single' group by id_expansion),

by_cards as (
    select products.id_expansion as id, given.name, count(distinct id_product) as cards
    from given join products using (id_product) group by all
),

by_name as (
    select unnamed.id, given.name from (select distinct name, cards from given where rank = 3) as given
    join singles on singles.singles = given.cards
    join unnamed on unnamed.id = singles.id and coalesce(unnamed.game, $game) = $game
    where exists (
        from products where products.id_expansion = unnamed.id and kind = 'sealed'
            and regexp_matches(products.name, '^' || regexp_escape(given.name) || '[ :]', 'i')
    ) and lower(given.name) not in (select lower(expansions.name) from expansions)
),

readings as (
    select rank, id_expansion as id, name, true as is_sure from given where id_expansion is not null
    union all
    select 2, id, name, cards >= 0.9 * singles and cards >= 0.9 * sum(cards) over (partition by name)
    from by_cards join singles using (id) where cards >= 0.1 * singles
    union all
    select 3, id, name, count(*) over (partition by name) = 1 from by_name
)

select id, list(distinct name order by name) as names, coalesce(list(distinct name) filter (is_sure), []) as sure
from (from readings semi join unnamed using (id) qualify rank = min(rank) over (partition by id))
group by id order by id
