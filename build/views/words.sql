-- One row per distinct word of a name, or run of signs of a product's name: the ordinals of the products that have it in their
-- names and the places of the sets that have it in theirs, both ascending.
-- Read by the layer catalogue.
create view words as
with spelled as (
    select word, ordinal::uinteger as ordinal, null as place
    from (
        select distinct name, unnest(string_split(whole, ' ') || string_split(signs, '0')) as word
        from spelled_names
    )
    inner join rankings using (name)
    union all
    select unnest(string_split(word_text(name), ' ')), null, place
    from (
        select name, (row_number() over (order by id) - 1)::uinteger as place
        from known_sets
    )
)

select
    word,
    coalesce(list(distinct ordinal order by ordinal) filter (ordinal is not null), []) as products,
    coalesce(list(distinct place order by place) filter (place is not null), []) as sets
from spelled
where word <> ''
group by word
order by word;
