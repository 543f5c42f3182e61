-- One row per distinct word of the folded names: the ordinals of the products that have it, ascending.
-- Read by the layer catalogue.
create view words as
with spelled as (
    select distinct ordinal, unnest(string_split(name_words, ' ')) as word
    from rankings
)

select word, list(ordinal::uinteger order by ordinal) as products
from spelled
where word <> ''
group by word
order by word;
