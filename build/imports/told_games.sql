-- The game with which the categories of most products of an expansion begin: `Digimon` of `Digimon Booster`. A game is one
-- of the marketplace's (`games`), or what stands before `Single` in the category of a single, or else before a word of
-- sealed products. Of equally many, the least.
with known as (
    select regexp_extract(category, '^(.+) Singles?$', 1) as told from products where kind = 'single'
    union select told from games
),

categories as (
    select category, coalesce(
        arg_max(told, length(told)),
        nullif(regexp_extract(category, '^(.+?) (?:Blisters?|Boosters?|Box|Boxes|Bundles?|Coins?|Decks?|Displays?|Elite'
            || '|Gift|Lots?|Packs?|Promo|Sets?|Special|Starter)\b', 1), '')
    ) as told
    from (select distinct category from products)
    left join known on told <> '' and starts_with(category, told || ' ')
    group by category
),

counted as (
    select id_expansion as id, told, count(*) as products
    from products join categories using (category) where id_expansion is not null and told is not null group by all
)

select id, first(told order by products desc, told) as told from counted group by id
